// The validating webhook for NodePoolAutoscalers.
#ifndef WEBHOOK_ADMISSION_CAPACITY_VALIDATING_H_
#define WEBHOOK_ADMISSION_CAPACITY_VALIDATING_H_

#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/runtime/store.h"
#include "webhook/admission/admission_review.h"

namespace yad {

// Thread-safe. The constructor's arguments must outlive it.
class CapacityValidator {
 public:
  // While `pools` has not synced, the pool is not checked.
  CapacityValidator(Client& client, const Store& pools, Clock& clock) : client_(client), pools_(pools), clock_(clock) {}

  // Returns the answer to a CREATE or an UPDATE. Waits for the apiserver until `answer_until` at most.
  // - Admits an object that is being deleted, and an update that does not change the spec.
  // - Reports all static faults together. If there is none, reads the other NodePoolAutoscalers from the server: a pool
  //   may have only one, and two inventories must not share a Node. A failed read is not a reason to reject the object.
  // - A fault that the old spec has too is only a warning.
  AdmissionAnswer Validate(const AdmissionRequest& request, SteadyTime answer_until);

 private:
  Client& client_;
  const Store& pools_;
  Clock& clock_;
};

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_CAPACITY_VALIDATING_H_
