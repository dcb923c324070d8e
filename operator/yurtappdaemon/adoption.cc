#include "operator/yurtappdaemon/adoption.h"

#include "operator/api/well_known.h"

namespace yad {

Status ConfirmAdopter(Client& client, const ObjectMeta& daemon, std::stop_token stop) {
  const auto now = client.Get(kYurtAppDaemonType, daemon.key, stop);
  if (!now) return Fail(now.error());
  const ObjectMeta meta = ParseMeta(*now);
  if (meta.uid != daemon.uid || meta.deleting()) {
    return Fail(Reason::kConflict, "YurtAppDaemon " + daemon.key.ToString() + " is being deleted, and adopts nothing");
  }
  return {};
}

}  // namespace yad
