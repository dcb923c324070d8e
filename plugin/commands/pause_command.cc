// kubectl yad pause, kubectl yad resume
#include <nlohmann/json.hpp>

#include "plugin/commands/commands.h"
#include "plugin/commands/daemon.h"

namespace yad {

Result<int> RunPause(Session& session) {
  const bool pause = session.options.command == "pause";
  const auto written = EditDaemon(session, [&](Json& daemon) -> Result<bool> {
    if (BoolAt(daemon, {"spec", "paused"}) == pause) {
      return Fail(Reason::kBadRequest,
                  Quoted(session.options.daemon) + (pause ? " is already paused" : " is not paused"));
    }
    if (pause) {
      daemon["spec"]["paused"] = true;
    } else {
      daemon["spec"].erase("paused");
    }
    return true;
  });
  if (!written) return Fail(written.error());
  if (pause && !BoolAt(*written, {"spec", "paused"})) {
    return Fail(Reason::kInvalid, Quoted(session.options.daemon) +
                                      " is not paused: the apiserver has dropped spec.paused, because the CRD lacks "
                                      "this field; apply the CRD that belongs to this version of kubectl yad");
  }
  PrintWritten(session, *written, pause ? "paused" : "resumed");
  return kDone;
}

}  // namespace yad
