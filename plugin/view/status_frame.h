// The terminal output of `kubectl yad status`. Pure.
#ifndef PLUGIN_VIEW_STATUS_FRAME_H_
#define PLUGIN_VIEW_STATUS_FRAME_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "plugin/view/console.h"

namespace yad {

// Returns a headline, a progress bar, and as many pools as fit on the screen. No line is wider than the screen.
// `not_live` is the reason why the daemon may be out of date; "" if it is up to date.
std::vector<std::string> StatusFrame(const Json& daemon, const Screen& screen, Duration waited, WallTime now,
                                     const std::string& not_live = "");

}  // namespace yad

#endif  // PLUGIN_VIEW_STATUS_FRAME_H_
