#include "operator/yurtappdaemon/confirm.h"

#include "operator/api/well_known.h"

namespace yad {

Result<Json> ConfirmDaemon(Client& client, const ObjectMeta& daemon, std::stop_token stop) {
  auto now = client.Get(kYurtAppDaemonType, daemon.key, stop);
  if (!now) return Fail(now.error());
  const ObjectMeta meta = ParseMeta(*now);
  if (meta.uid != daemon.uid || meta.deleting()) {
    return Fail(Reason::kConflict, "YurtAppDaemon " + daemon.key.ToString() + " is being deleted, or was replaced");
  }
  if (meta.generation != daemon.generation) {
    return Fail(Reason::kConflict,
                "YurtAppDaemon " + daemon.key.ToString() + " has a newer spec than the one that was read");
  }
  return now;
}

}  // namespace yad
