#include <map>
#include <string_view>

#include "plugin/commands/commands.h"

namespace yad {

Result<int> RunOnSession(Session& session) {
  static const std::map<std::string_view, Result<int> (*)(Session&)> kFunctions{
      {"status", RunStatus},     {"pools", RunPools},     {"history", RunHistory},   {"undo", RunUndo},
      {"pause", RunPause},       {"resume", RunPause},    {"restart", RunRestart},   {"approve", RunApprove},
      {"hold", RunHold},         {"release", RunHold},    {"freeze", RunFreeze},     {"unfreeze", RunUnfreeze},
      {"windows", RunWindows},   {"explain", RunExplain}, {"simulate", RunSimulate}, {"diff", RunDiff},
      {"capacity", RunCapacity},
  };
  const auto found = kFunctions.find(session.options.command);
  if (found != kFunctions.end()) return found->second(session);
  return Fail(Reason::kInternalError, "this command runs without a session");
}

}  // namespace yad
