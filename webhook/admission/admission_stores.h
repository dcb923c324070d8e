// The caches that the admission webhooks read.
#ifndef WEBHOOK_ADMISSION_ADMISSION_STORES_H_
#define WEBHOOK_ADMISSION_ADMISSION_STORES_H_

#include "operator/runtime/store.h"

namespace yad {

// The controller's caches, with their projections and Controller::kControllerUidIndex. While a cache has not synced,
// the webhooks skip the checks that need it; no admission call fails because of this.
struct AdmissionStores {
  const Store& daemons;
  const Store& pools;
  const Store& deployments;
  const Store& stateful_sets;
};

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_ADMISSION_STORES_H_
