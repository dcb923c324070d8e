// What the validating webhook says of NodePoolAutoscalers.
#ifndef WEBHOOK_CAPACITY_VALIDATING_H_
#define WEBHOOK_CAPACITY_VALIDATING_H_

#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/runtime/store.h"
#include "webhook/admission_review.h"

namespace yad {

// Thread-safe. What it is given must outlive it.
class CapacityValidator {
 public:
  // `pools`: as long as it has not synced, nothing is said of the pool.
  CapacityValidator(Client& client, const Store& pools, Clock& clock) : client_(client), pools_(pools), clock_(clock) {}

  // The answer to a CREATE or an UPDATE, at `answer_until` at the latest where it is the apiserver that is waited for.
  // - An object that is being deleted, and an update that leaves the spec as it is, are admitted.
  // - Static faults come all at once. Without any, the others are read from the server: a pool has one, and two
  //   inventories share no Node. A server that does not say is no reason to refuse.
  // - A fault that the old spec had already is a warning.
  AdmissionAnswer Validate(const AdmissionRequest& request, SteadyTime answer_until);

 private:
  Client& client_;
  const Store& pools_;
  Clock& clock_;
};

}  // namespace yad

#endif  // WEBHOOK_CAPACITY_VALIDATING_H_
