// Typed view of the windows in which a pool may be updated: spec.updateStrategy.rollingUpdate.windows, and the
// annotations with which a NodePool replaces them.
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
// The maximum length of annotation update-windows in bytes.
inline constexpr std::size_t kMaxWindowsText = 16 * 1024;

// One window: it begins on each of `days` when a clock in the zone shows `start`, and lasts for `duration` of elapsed
// time.
struct UpdateWindow {
  unsigned days = kEveryDay;  // bit i: the i-th day of the week, from Sunday
  std::chrono::minutes start{0};
  std::chrono::seconds duration{0};
  std::string time_zone;  // "": that of the pool

  static constexpr unsigned kEveryDay = 0x7f;
  bool operator==(const UpdateWindow&) const = default;
};

// The annotations of a NodePool about windows.
struct PoolWindows {
  std::string time_zone;                             // "": UTC
  std::optional<std::vector<UpdateWindow>> windows;  // replace those of the YurtAppDaemon; nullopt: no annotation
  std::string fault;                                 // set if an annotation is invalid; names the annotation

  bool operator==(const PoolWindows&) const = default;
};

// Adds a fault for each invalid value. A time zone is not checked if the system has no time zone database, or a damaged
// one.
void ValidateUpdateWindows(const JsonField& windows, FieldErrors& errors);
// Reads a list that ValidateUpdateWindows accepts.
std::vector<UpdateWindow> ParseUpdateWindows(const Json& windows);
// Never fails: see PoolWindows::fault.
PoolWindows ParsePoolWindows(const StringMap& annotations);

}  // namespace yad

#endif  // OPERATOR_API_UPDATE_WINDOW_H_
