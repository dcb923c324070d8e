// The caches that the admission webhooks read.
#ifndef WEBHOOK_ADMISSION_ADMISSION_STORES_H_
#define WEBHOOK_ADMISSION_ADMISSION_STORES_H_

#include "operator/runtime/store.h"

namespace yad {

// The caches of the controller, with their projections and Controller::kControllerUidIndex. The webhooks skip a cache
// that has not synced yet; an admission call never fails because of it.
struct AdmissionStores {
  const Store& daemons;
  const Store& pools;
  const Store& deployments;
  const Store& stateful_sets;
};

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_ADMISSION_STORES_H_
