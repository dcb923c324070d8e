// The validating webhook for NodePoolAutoscalers.
#ifndef WEBHOOK_ADMISSION_CAPACITY_VALIDATING_H_
#define WEBHOOK_ADMISSION_CAPACITY_VALIDATING_H_

#include "operator/client/client.h"
#include "operator/runtime/store.h"
#include "webhook/admission/admission_review.h"
#include "webhook/admission/deadline.h"

namespace yad {

// Returns the response to a CREATE or an UPDATE. Waits for the apiserver until `deadline` at most. Thread-safe.
// - Admits an object that is being deleted, and an update that does not change the spec.
// - Reports all errors in the object itself together.
// - If there are no such errors, compares the object with the other NodePoolAutoscalers: a pool may have only one
//   autoscaler, and two inventories must not contain the same Node. If the other autoscalers can't be read from the
//   server, the response only has a warning. Until `pools` has synced, skips the checks of the NodePool.
// - An error is only a warning if the old spec also has it.
AdmissionResponse ValidateCapacity(const AdmissionRequest& request, Client& client, const Store& pools,
                                   Deadline& deadline);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_CAPACITY_VALIDATING_H_
