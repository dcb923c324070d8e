// Lines on a terminal that are written over in place.
#ifndef PLUGIN_LIVE_VIEW_H_
#define PLUGIN_LIVE_VIEW_H_

#include <ostream>
#include <string>
#include <vector>

#include "plugin/console.h"

namespace yad {

// Not thread-safe. The cursor always stands below the last frame, so that the program may end, or be interrupted, at
// any time.
class LiveView {
 public:
  explicit LiveView(std::ostream& out) : out_(out) {}

  // Writes the frame over the one before. No line may be wider than the screen. Where the window has become narrower,
  // the lines of the frame before take more rows than they did.
  void Draw(const std::vector<std::string>& lines, const Screen& screen);

 private:
  std::ostream& out_;
  std::vector<std::string> lines_;  // of the last frame
};

// "████████░░░░░░░░", or "########........"; `width` columns, `done` of `all`. Green where all is done, red where
// `bad`.
std::string ProgressBar(std::int64_t done, std::int64_t all, int width, bool bad, const Screen& screen);

}  // namespace yad

#endif  // PLUGIN_LIVE_VIEW_H_
