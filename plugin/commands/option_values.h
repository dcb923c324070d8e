// Parses and checks values of the command line. Each function fails with kBadRequest and a message for the user.
#ifndef PLUGIN_COMMANDS_OPTION_VALUES_H_
#define PLUGIN_COMMANDS_OPTION_VALUES_H_

#include <chrono>
#include <limits>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/base/number.h"
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
// Returns the name of a NodePool from an argument such as "hangzhou" or "nodepool/hangzhou". Fails like DaemonNameOf.
Result<std::string> PoolNameValue(const std::string& argument);
Result<std::string> NamespaceValue(const std::string& ns);
Result<std::string> RevisionNameValue(const std::string& revision);
Result<std::string> HoldReasonValue(const std::string& reason);
Result<std::string> FreezeReasonValue(const std::string& reason);
Result<double> RateValue(const std::string& text);  // from 0 to 1, or from 0% to 100%
Result<DryRun> DryRunValue(const std::string& kind);
Result<std::string> ShellValue(const std::string& shell);

// Returns a function that parses a number from `low` to `high`.
template <typename Number>
auto NumberFrom(Number low, Number high = std::numeric_limits<Number>::max()) {
  return [low, high](const std::string& text) -> Result<Number> {
    const auto number = ParseNumber<Number>(text);
    if (number && *number >= low && *number <= high) return *number;
    const std::string range = high == std::numeric_limits<Number>::max()
                                  ? "of at least " + std::to_string(low)
                                  : "from " + std::to_string(low) + " to " + std::to_string(high);
    return Fail(Reason::kBadRequest, "\"" + text + "\" is not a number " + range);
  };
}

// Checks rules about several flags and arguments, such as flags that exclude each other. Returns an error message; ""
// if the options are valid.
std::string CheckCombination(const PluginOptions& options);

// Parses the end of a freeze (--until): a time in RFC 3339, or a duration from `now` such as "12h". Returns the time in
// whole seconds. Fails if `text` is neither, or if the time is not after `now`. The error message has
// examples of valid values, but does not contain the name of the flag.
Result<WallTime> FreezeEnd(const std::string& text, WallTime now);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_OPTION_VALUES_H_
