// The validating webhook for NodePoolAutoscalers.
#ifndef WEBHOOK_ADMISSION_CAPACITY_VALIDATING_H_
#define WEBHOOK_ADMISSION_CAPACITY_VALIDATING_H_

#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/runtime/store.h"
#include "webhook/admission/admission_review.h"

namespace yad {

// Thread-safe. The constructor's arguments must outlive this object.
class CapacityValidator {
 public:
  // Until `pools` has synced, Validate skips the checks of the NodePool.
  CapacityValidator(Client& client, const Store& pools, Clock& clock) : client_(client), pools_(pools), clock_(clock) {}

  // Returns the response to a CREATE or an UPDATE. Waits for the apiserver until `respond_until` at most.
  // - Admits an object that is being deleted, and an update that does not change the spec.
  // - Reports all errors in the object itself together.
  // - If there are no such errors, compares the object with the other NodePoolAutoscalers: a pool may have only one
  //   autoscaler, and two inventories must not contain the same Node. If the other autoscalers can't be read from the
  //   server, the response only has a warning.
  // - An error is only a warning if the old spec also has it.
  AdmissionResponse Validate(const AdmissionRequest& request, SteadyTime respond_until);

 private:
  Client& client_;
  const Store& pools_;
  Clock& clock_;
};

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_CAPACITY_VALIDATING_H_
