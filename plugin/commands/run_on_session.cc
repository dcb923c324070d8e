#include <map>

#include "plugin/commands/commands.h"

namespace yad {

Result<int> RunOnSession(Session& session) {
  static const std::map<Command, Result<int> (*)(Session&)> kFunctions{
      {Command::kStatus, RunStatus},   {Command::kPools, RunPools},       {Command::kHistory, RunHistory},
      {Command::kUndo, RunUndo},       {Command::kPause, RunPause},       {Command::kResume, RunPause},
      {Command::kRestart, RunRestart}, {Command::kApprove, RunApprove},   {Command::kHold, RunHold},
      {Command::kRelease, RunHold},    {Command::kFreeze, RunFreeze},     {Command::kUnfreeze, RunUnfreeze},
      {Command::kWindows, RunWindows}, {Command::kExplain, RunExplain},   {Command::kSimulate, RunSimulate},
      {Command::kDiff, RunDiff},       {Command::kCapacity, RunCapacity},
  };
  const auto found = kFunctions.find(session.options.command);
  if (found != kFunctions.end()) return found->second(session);
  return Fail(Reason::kInternalError, "this command runs without a session");
}

}  // namespace yad
