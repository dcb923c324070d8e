#include "plugin/commands/commands.h"
#include "plugin/commands/options.h"

namespace yad {

Result<int> RunOnSession(Session& session) {
  switch (session.options.command) {
    case Command::kStatus:
      return RunStatus(session);
    case Command::kPools:
      return RunPools(session);
    case Command::kHistory:
      return RunHistory(session);
    case Command::kUndo:
      return RunUndo(session);
    case Command::kPause:
    case Command::kResume:
      return RunPause(session);
    case Command::kRestart:
      return RunRestart(session);
    case Command::kApprove:
      return RunApprove(session);
    case Command::kHold:
    case Command::kRelease:
      return RunHold(session);
    case Command::kFreeze:
      return RunFreeze(session);
    case Command::kUnfreeze:
      return RunUnfreeze(session);
    case Command::kWindows:
      return RunWindows(session);
    case Command::kExplain:
      return RunExplain(session);
    case Command::kSimulate:
      return RunSimulate(session);
    case Command::kDiff:
      return RunDiff(session);
    case Command::kCapacity:
      return RunCapacity(session);
    case Command::kDashboard:
    case Command::kRender:
    case Command::kCapacityPlan:
    case Command::kCompletion:
    case Command::kVersion:
      break;
  }
  return Fail(Reason::kInternalError, "this command runs without a session");
}

}  // namespace yad
