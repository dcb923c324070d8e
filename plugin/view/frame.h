// The frames that `kubectl yad status` and `pools -w` show on a terminal.
#ifndef PLUGIN_VIEW_FRAME_H_
#define PLUGIN_VIEW_FRAME_H_

#include <ostream>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "plugin/view/console.h"

namespace yad {

// Draws frames on a terminal, each over the previous frame. Between two frames, the cursor is below the last frame, so
// that the program can exit at any time. Not thread-safe.
class LiveView {
 public:
  explicit LiveView(std::ostream& out) : out_(out) {}

  // Overwrites the last frame. No line may be wider than the screen. If the window has become narrower, the terminal
  // wraps the lines of the last frame. Draw also overwrites these additional rows.
  void Draw(const std::vector<std::string>& lines, const Screen& screen);

 private:
  std::ostream& out_;
  std::vector<std::string> lines_;  // of the last frame
};

// Returns the frame of `status`: a headline, a progress bar, and as many pools as fit on the screen. No line is wider
// than the screen. `not_live` is the reason why the daemon may be out of date; "" if it is up to date.
std::vector<std::string> StatusFrame(const Json& daemon, const Screen& screen, Duration waited, WallTime now,
                                     const std::string& not_live = "");

}  // namespace yad

#endif  // PLUGIN_VIEW_FRAME_H_
