// The end of a freeze, as flag --until gives it. Pure.
#ifndef PLUGIN_COMMANDS_FREEZE_END_H_
#define PLUGIN_COMMANDS_FREEZE_END_H_

#include <string>

#include "operator/base/clock.h"
#include "operator/base/error.h"

namespace yad {

// Returns the time that `text` names, in whole seconds. The text is a time in RFC 3339 or a duration from `now`, such
// as "12h". Fails with kBadRequest if it is neither, or if the time is not after `now`. The message has the fix, but
// not the name of the flag.
Result<WallTime> FreezeEnd(const std::string& text, WallTime now);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_FREEZE_END_H_
