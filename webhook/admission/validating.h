// The validating webhook of YurtAppDaemon: its rejections and its warnings.
#ifndef WEBHOOK_ADMISSION_VALIDATING_H_
#define WEBHOOK_ADMISSION_VALIDATING_H_

#include <utility>

#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "webhook/admission/admission_review.h"
#include "webhook/admission/admission_stores.h"
#include "webhook/admission/deadline.h"
#include "webhook/admission/dry_run.h"
#include "webhook/admission/trials.h"

namespace yad {

// Returns whether two objects have specs with the same meaning. Ignores nulls, defaults and different spellings of the
// same value. Pure.
bool SameSpec(const Json& object, const Json& old_object);

// Thread-safe. The constructor's arguments must outlive this object.
class Validator {
 public:
  Validator(Client& client, const AdmissionStores& stores, Clock& clock, QueryCheck check_query = nullptr)
      : client_(client),
        stores_(stores),
        check_query_(std::move(check_query)),
        dry_run_(client, stores, clock, text_) {}

  // Returns the response to a CREATE or an UPDATE. Waits for the apiserver until `deadline` at most.
  // - Admits an object that is being deleted, and an update that does not change the spec, so that finalizers, labels
  //   and status can always be written.
  // - Reports all static errors together. Static errors are found without the apiserver. An error that the old spec
  //   also has is only a warning.
  // - If the workload template can be parsed, tries the workloads (DryRun) and the Service (TryService) in the cluster.
  //   Ignores the cluster's errors for a field that has a static error.
  // - If there are no new static errors, and the spec can be parsed, also tries the checks (TryChecks).
  // - If there are no static errors at all, warns about probable mistakes.
  // - If `deadline` has passed, does not send requests and uses only the caches.
  AdmissionResponse Validate(const AdmissionRequest& request, Deadline& deadline);

 private:
  Client& client_;
  const AdmissionStores stores_;
  const QueryCheck check_query_;
  ByteBudget text_{kDryRunText};
  DryRun dry_run_;
};

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_VALIDATING_H_
