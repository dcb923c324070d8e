// Parses and checks values of the command line. Each function fails with kBadRequest and a message for the user.
#ifndef PLUGIN_COMMANDS_OPTION_VALUES_H_
#define PLUGIN_COMMANDS_OPTION_VALUES_H_

#include <chrono>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "plugin/commands/plugin_options.h"

namespace yad {

// Returns "web" for "web", "yad/web", "yurtappdaemon/web" and similar forms. Fails with kBadRequest for the name of
// another type.
Result<std::string> DaemonNameOf(const std::string& argument);
// Returns the name of a NodePoolAutoscaler from an argument such as "hangzhou" or "npa/hangzhou". Fails like
// DaemonNameOf.
Result<std::string> AutoscalerNameOf(const std::string& argument);

Result<std::chrono::milliseconds> DurationValue(const std::string& text);
Result<WallTime> TimeValue(const std::string& text);  // RFC 3339
Result<std::string> PoolNameValue(const std::string& pool);
Result<std::string> NamespaceValue(const std::string& ns);
Result<std::string> RevisionNameValue(const std::string& revision);
Result<std::string> HoldReasonValue(const std::string& reason);
Result<std::string> FreezeReasonValue(const std::string& reason);
Result<std::string> FreezeEndValue(const std::string& end);  // returns `end`
Result<double> RateValue(const std::string& text);           // from 0 to 1, or from 0% to 100%
Result<DryRun> DryRunValue(const std::string& kind);

// Checks rules about several flags and arguments, such as flags that exclude each other. Returns an error message; ""
// if the options are valid.
std::string CheckCombination(const PluginOptions& options);

// Parses the end of a freeze (--until): a time in RFC 3339, or a duration from `now` such as "12h". Returns the time in
// whole seconds. Fails if `text` is neither, or if the time is not after `now`. The error message has
// examples of valid values, but does not contain the name of the flag.
Result<WallTime> FreezeEnd(const std::string& text, WallTime now);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_OPTION_VALUES_H_
