// The state of update windows at one point in time. Pure, except for the system's time zone database.
#ifndef OPERATOR_YURTAPPDAEMON_ROLLOUT_WINDOWS_H_
#define OPERATOR_YURTAPPDAEMON_ROLLOUT_WINDOWS_H_

#include <optional>
#include <string>
#include <vector>

#include "operator/api/update_window.h"
#include "operator/base/clock.h"

namespace yad {

struct WindowState {
  bool open = true;
  // The end of the open window; nullopt if no window is open, or if no windows are configured.
  std::optional<WallTime> closes;
  std::optional<WallTime> opens;  // the next opening; nullopt if a window is open, or if no windows are configured
  std::string opens_locally;      // `opens` in the window's time zone, such as "Wed 22:00 Europe/Oslo"
  std::string fault;              // set if a time zone can't be read; the window then counts as closed
};

// Returns the state of `windows` at `now`. If `windows` is empty, the state is open. `time_zone` applies to windows
// that do not set their own time zone; "" means UTC.
WindowState WindowsAt(const std::vector<UpdateWindow>& windows, const std::string& time_zone, WallTime now);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_ROLLOUT_WINDOWS_H_
