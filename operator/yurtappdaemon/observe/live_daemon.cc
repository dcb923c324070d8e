#include "operator/yurtappdaemon/observe/live_daemon.h"

#include "operator/api/well_known.h"

namespace yad {

Result<ObjectMeta> ConfirmDaemon(Client& client, const ObjectMeta& daemon, std::stop_token stop) {
  YAD_TRY(auto now, client.GetMeta(kYurtAppDaemonType, daemon.key, stop));
  if (now.uid != daemon.uid || now.deleting()) {
    return Fail(Reason::kConflict, "YurtAppDaemon " + daemon.key.ToString() + " is being deleted, or was replaced");
  }
  if (now.generation != daemon.generation) {
    return Fail(Reason::kConflict,
                "YurtAppDaemon " + daemon.key.ToString() + " has a newer spec than the one that was read");
  }
  return now;
}

}  // namespace yad
