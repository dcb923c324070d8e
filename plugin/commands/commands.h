// The commands. Each returns the exit code of the program. The caller prints an Error, and exits with kFailed.
#ifndef PLUGIN_COMMANDS_COMMANDS_H_
#define PLUGIN_COMMANDS_COMMANDS_H_

#include "operator/base/error.h"
#include "plugin/commands/session.h"

namespace yad {

Result<int> RunStatus(Session& session);
Result<int> RunPools(Session& session);
Result<int> RunHistory(Session& session);
Result<int> RunUndo(Session& session);
Result<int> RunPause(Session& session);  // and resume
Result<int> RunRestart(Session& session);
Result<int> RunApprove(Session& session);
Result<int> RunHold(Session& session);  // and release
Result<int> RunFreeze(Session& session);
Result<int> RunUnfreeze(Session& session);
Result<int> RunWindows(Session& session);
Result<int> RunExplain(Session& session);
Result<int> RunSimulate(Session& session);
Result<int> RunDiff(Session& session);
Result<int> RunCapacity(Session& session);

// Runs the command of the options, which must be one of those above.
Result<int> RunOnSession(Session& session);

// These four functions do not need a cluster.
Result<int> RunRender(const PluginOptions& options, Console& console);
Result<int> RunSimulateFrom(const PluginOptions& options, Console& console);  // simulate --from
Result<int> RunCapacityPlan(const PluginOptions& options, Console& console);
int RunCompletion(const PluginOptions& options, Console& console);

// Completes a command line for kubectl and the completion scripts. The last of `arguments` is the beginning of a word.
// Prints the candidates, one per line, as programs with cobra do. Never fails; without a cluster, there are fewer
// candidates.
int RunComplete(const std::vector<std::string>& arguments, Console& console);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_COMMANDS_H_
