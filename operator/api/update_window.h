// Typed view of the windows in which the update of a pool may start. The windows are in
// spec.updateStrategy.rollingUpdate.windows. Annotations of a NodePool can replace them.
#ifndef OPERATOR_API_UPDATE_WINDOW_H_
#define OPERATOR_API_UPDATE_WINDOW_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/fields.h"

namespace yad {

inline constexpr std::size_t kMaxUpdateWindows = 20;
// The maximum length of the annotation update-windows, in bytes.
inline constexpr std::size_t kMaxWindowsText = 16 * 1024;

// One window. It begins on each of `days` at the local time `start`. It lasts for `duration`, even across a change to
// or from daylight saving time.
struct UpdateWindow {
  unsigned days = kEveryDay;  // bit 0 is Sunday, bit 6 is Saturday
  std::chrono::minutes start{0};
  std::chrono::seconds duration{0};
  std::string time_zone;  // "": the pool's time zone

  static constexpr unsigned kEveryDay = 0x7f;
  bool operator==(const UpdateWindow&) const = default;
};

// The annotations of a NodePool that set its time zone and its windows.
struct PoolWindows {
  std::string time_zone;                             // "": UTC
  std::optional<std::vector<UpdateWindow>> windows;  // used instead of the YurtAppDaemon's windows; nullopt: not set
  std::string fault;                                 // describes an invalid annotation; "" if the annotations are valid

  bool operator==(const PoolWindows&) const = default;
};

// Reads a list of windows, and adds an error for each invalid value. The result is usable only if no error was added.
// Does not check time zones if the system has no valid time zone database.
std::vector<UpdateWindow> ReadUpdateWindows(const JsonField& windows, FieldErrors& errors);
// Reads the time zone and the windows from the annotations of a NodePool. Never fails. If an annotation is invalid,
// sets PoolWindows::fault.
PoolWindows ParsePoolWindows(const StringMap& annotations);

}  // namespace yad

#endif  // OPERATOR_API_UPDATE_WINDOW_H_
