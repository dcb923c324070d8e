// The commands of kubectl-yad. Each function returns the exit code of the program. If it returns an Error, the caller
// prints the error and exits with kFailed.
#ifndef PLUGIN_COMMANDS_COMMANDS_H_
#define PLUGIN_COMMANDS_COMMANDS_H_

#include <string>

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/client/client.h"
#include "plugin/commands/options.h"
#include "plugin/view/console.h"

namespace yad {

// The state of one command. Used by one thread.
struct Session {
  const PluginOptions& options;
  Console& console;
  Client& client;
  std::string ns;  // --namespace, or the namespace of the context
  Clock& clock = Clock::Real();
  std::string cluster = {};  // for messages: the name of the context, or the source of the credentials
};

Result<int> RunStatus(Session& session);
Result<int> RunPools(Session& session);
Result<int> RunHistory(Session& session);
Result<int> RunUndo(Session& session);
Result<int> RunPause(Session& session);  // pause and resume
Result<int> RunRestart(Session& session);
Result<int> RunApprove(Session& session);
Result<int> RunHold(Session& session);  // hold and release
Result<int> RunFreeze(Session& session);
Result<int> RunUnfreeze(Session& session);
Result<int> RunWindows(Session& session);
Result<int> RunExplain(Session& session);
Result<int> RunSimulate(Session& session);
Result<int> RunDiff(Session& session);
Result<int> RunCapacity(Session& session);

// Runs the command that the options select, which must be one of the commands above.
Result<int> RunOnSession(Session& session);

// These four functions do not need a cluster.
Result<int> RunRender(const PluginOptions& options, Console& console);
Result<int> RunSimulateFrom(const PluginOptions& options, Console& console);  // simulate --from
Result<int> RunCapacityPlan(const PluginOptions& options, Console& console);
int RunCompletion(const PluginOptions& options, Console& console);

// Prints the completions of the last argument, which is the beginning of a word. As in programs that use cobra, each
// line has one completion. kubectl and the completion scripts call this command. If the cluster does not respond, the
// completions do not include names of objects.
int RunComplete(const std::vector<std::string>& arguments, Console& console);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_COMMANDS_H_
