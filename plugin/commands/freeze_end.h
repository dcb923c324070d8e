// Parses the end of a freeze, the value of flag --until. Pure.
#ifndef PLUGIN_COMMANDS_FREEZE_END_H_
#define PLUGIN_COMMANDS_FREEZE_END_H_

#include <string>

#include "operator/base/clock.h"
#include "operator/base/error.h"

namespace yad {

// Parses a time in RFC 3339, or a duration from `now` such as "12h". Returns the time in whole seconds. Fails with
// kBadRequest if `text` is neither, or if the time is not after `now`. The error message has examples of valid values,
// but does not contain the name of the flag.
Result<WallTime> FreezeEnd(const std::string& text, WallTime now);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_FREEZE_END_H_
