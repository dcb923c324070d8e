// The caches that the admission webhooks read.
#ifndef WEBHOOK_ADMISSION_ADMISSION_STORES_H_
#define WEBHOOK_ADMISSION_ADMISSION_STORES_H_

#include "operator/api/yurtappdaemon.h"
#include "operator/runtime/store.h"

namespace yad {

// The controller's caches, with the controller's projections and the index Controller::kControllerUidIndex. Until a
// cache has synced, the webhooks skip the checks that need it; the admission calls do not fail.
struct AdmissionStores {
  const Store& daemons;
  const Store& pools;
  const Store& deployments;
  const Store& stateful_sets;
  const Store& revisions;

  const Store& WorkloadsOf(WorkloadKind kind) const {
    return kind == WorkloadKind::kDeployment ? deployments : stateful_sets;
  }
};

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_ADMISSION_STORES_H_
