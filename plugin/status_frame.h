// What `kubectl yad status` shows on a terminal. Pure.
#ifndef PLUGIN_STATUS_FRAME_H_
#define PLUGIN_STATUS_FRAME_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "plugin/console.h"

namespace yad {

// A headline, a progress bar, and as many pools as the screen has room for; no line wider than the screen.
std::vector<std::string> StatusFrame(const Json& daemon, const Screen& screen, Duration waited, WallTime now);

}  // namespace yad

#endif  // PLUGIN_STATUS_FRAME_H_
