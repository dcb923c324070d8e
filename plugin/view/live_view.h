// Lines on a terminal that each frame overwrites.
#ifndef PLUGIN_VIEW_LIVE_VIEW_H_
#define PLUGIN_VIEW_LIVE_VIEW_H_

#include <ostream>
#include <string>
#include <vector>

#include "plugin/view/console.h"

namespace yad {

// Not thread-safe. Between two frames, the cursor is below the last frame, so the program may exit or be interrupted at
// any time.
class LiveView {
 public:
  explicit LiveView(std::ostream& out) : out_(out) {}

  // Overwrites the last frame. No line may be wider than the screen. Also works after the window has become narrower,
  // so that the old lines take more rows.
  void Draw(const std::vector<std::string>& lines, const Screen& screen);

 private:
  std::ostream& out_;
  std::vector<std::string> lines_;  // of the last frame
};

// Returns "████████░░░░░░░░" or "########........", `width` columns wide, for `done` of `all`. The bar is red if `bad`;
// otherwise it is green if all is done, and cyan if not.
std::string ProgressBar(std::int64_t done, std::int64_t all, int width, bool bad, const Screen& screen);

}  // namespace yad

#endif  // PLUGIN_VIEW_LIVE_VIEW_H_
