// The commands. Each returns what the program ends with; an Error is printed by who called it, and ends it with
// kFailed.
#ifndef PLUGIN_COMMANDS_H_
#define PLUGIN_COMMANDS_H_

#include "operator/base/error.h"
#include "plugin/session.h"

namespace yad {

Result<int> RunStatus(Session& session);
Result<int> RunPools(Session& session);
Result<int> RunHistory(Session& session);
Result<int> RunUndo(Session& session);
Result<int> RunPause(Session& session);  // and resume
Result<int> RunRestart(Session& session);
Result<int> RunApprove(Session& session);
Result<int> RunDiff(Session& session);
Result<int> RunCapacity(Session& session);

// These need no cluster.
Result<int> RunRender(const PluginOptions& options, Console& console);
Result<int> RunCapacityPlan(const PluginOptions& options, Console& console);
int RunCompletion(const PluginOptions& options, Console& console);

// What kubectl and the completion scripts ask: `arguments` of which the last is the beginning of a word. Prints the
// candidates, one a line, as cobra's programs do. Never fails: without a cluster there are fewer.
int RunComplete(const std::vector<std::string>& arguments, Console& console);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_H_
