#include "operator/workload/owner.h"

#include "operator/api/well_known.h"

namespace yad {

Json ControllerReference(const YurtAppDaemon& daemon) {
  return {{"apiVersion", kYurtAppDaemonType.ApiVersion()},
          {"kind", kYurtAppDaemonType.kind},
          {"name", daemon.meta.key.name},
          {"uid", daemon.meta.uid},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

}  // namespace yad
