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
  // Until `pools` has synced, Validate skips the checks of the NodePool.
  CapacityValidator(Client& client, const Store& pools, Clock& clock) : client_(client), pools_(pools), clock_(clock) {}

  // Returns the answer to a CREATE or an UPDATE. Waits for the apiserver until `answer_until` at most.
  // - Admits an object that is being deleted, and an update that does not change the spec.
  // - Reports all faults in the object itself together.
  // - If there are none, compares the object with the other NodePoolAutoscalers: a pool may have only one, and two
  //   inventories must not contain the same Node. If they can't be read from the server, the answer only has a warning.
  // - A fault is only a warning if the old spec has it too.
  AdmissionAnswer Validate(const AdmissionRequest& request, SteadyTime answer_until);

 private:
  Client& client_;
  const Store& pools_;
  Clock& clock_;
};

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_CAPACITY_VALIDATING_H_
