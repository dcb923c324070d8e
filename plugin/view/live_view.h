// Lines on a terminal that are overwritten in place.
#ifndef PLUGIN_VIEW_LIVE_VIEW_H_
#define PLUGIN_VIEW_LIVE_VIEW_H_

#include <ostream>
#include <string>
#include <vector>

#include "plugin/view/console.h"

namespace yad {

// Not thread-safe. The cursor is always below the last frame, so that the program may end, or be interrupted, at any
// time.
class LiveView {
 public:
  explicit LiveView(std::ostream& out) : out_(out) {}

  // Overwrites the last frame. No line may be wider than the screen. If the window has become narrower, the lines of
  // the last frame take more rows than before.
  void Draw(const std::vector<std::string>& lines, const Screen& screen);

 private:
  std::ostream& out_;
  std::vector<std::string> lines_;  // of the last frame
};

// Returns "████████░░░░░░░░" or "########........", `width` columns wide, for `done` of `all`. The bar is red if `bad`,
// else green if all is done, else cyan.
std::string ProgressBar(std::int64_t done, std::int64_t all, int width, bool bad, const Screen& screen);

}  // namespace yad

#endif  // PLUGIN_VIEW_LIVE_VIEW_H_
