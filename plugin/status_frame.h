// The terminal output of `kubectl yad status`. Pure.
#ifndef PLUGIN_STATUS_FRAME_H_
#define PLUGIN_STATUS_FRAME_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "plugin/console.h"

namespace yad {

// Returns a headline, a progress bar, and as many pools as fit on the screen. No line is wider than the screen.
std::vector<std::string> StatusFrame(const Json& daemon, const Screen& screen, Duration waited, WallTime now);

}  // namespace yad

#endif  // PLUGIN_STATUS_FRAME_H_
