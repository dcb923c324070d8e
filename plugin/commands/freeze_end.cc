#include "plugin/commands/freeze_end.h"

#include <chrono>

#include "plugin/view/text.h"

namespace yad {

Result<WallTime> FreezeEnd(const std::string& text, WallTime now) {
  const std::string quoted = "\"" + text + "\"";
  WallTime end = ParseTime(text);
  if (end == WallTime()) {
    // Rejects a number without a unit. ParseDuration would read it as seconds, but here it is more likely an incomplete
    // date.
    const bool bare = text.find_first_not_of("0123456789") == std::string::npos;
    const auto duration = bare ? std::nullopt : ParseDuration(text);
    if (!duration) {
      return Fail(Reason::kBadRequest, quoted +
                                           " is not a valid time: give an RFC 3339 time such as "
                                           "2026-12-24T18:00:00Z, or a duration from now such as 12h");
    }
    end = now + *duration;
  }
  if (end <= now) {
    return Fail(Reason::kBadRequest, quoted + " is not in the future (the time is " + FormatTime(now) +
                                         "): give a later time, or a duration from now such as 12h");
  }
  return std::chrono::ceil<std::chrono::seconds>(end);
}

}  // namespace yad
