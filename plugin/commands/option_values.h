// Checks values of the command line. Each function returns an error message; "" if the value is valid. Pure.
#ifndef PLUGIN_COMMANDS_OPTION_VALUES_H_
#define PLUGIN_COMMANDS_OPTION_VALUES_H_

#include <optional>
#include <string>

#include "plugin/commands/plugin_options.h"

namespace yad {

std::string CheckDuration(const std::string& text);
std::string CheckTime(const std::string& text);  // RFC 3339
std::string CheckDaemonName(const std::string& argument);
std::string CheckAutoscalerName(const std::string& argument);
std::string CheckPoolName(const std::string& pool);
std::string CheckNamespace(const std::string& ns);
std::string CheckRevisionName(const std::string& revision);
std::string CheckFreezeReason(const std::string& reason);
std::string CheckFreezeEnd(const std::string& end);
std::string CheckRate(const std::string& text);
std::string CheckDryRun(const std::string& kind);
// Checks rules about several flags and arguments, such as flags that exclude each other.
std::string CheckCombination(const PluginOptions& options);

// Parses a value of --dry-run. Returns nullopt for other strings.
std::optional<DryRun> ParseDryRun(const std::string& kind);
// Parses a probability from 0 to 1 or from 0% to 100%. Returns nullopt for other strings.
std::optional<double> ParseRate(const std::string& text);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_OPTION_VALUES_H_
