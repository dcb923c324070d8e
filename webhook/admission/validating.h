// The validating webhook of YurtAppDaemon: its rejections and its warnings.
#ifndef WEBHOOK_ADMISSION_VALIDATING_H_
#define WEBHOOK_ADMISSION_VALIDATING_H_

#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "webhook/admission/admission_review.h"
#include "webhook/admission/admission_stores.h"
#include "webhook/admission/dry_run.h"

namespace yad {

// Returns whether an update leaves the meaning of the spec as it was: nulls, defaults and different spellings of the
// same value make no difference. Pure.
bool SameSpec(const Json& object, const Json& old_object);

// Thread-safe. The constructor's arguments must outlive it.
class Validator {
 public:
  Validator(Client& client, const AdmissionStores& stores, Clock& clock)
      : client_(client), stores_(stores), clock_(clock), dry_run_(client, stores, clock, text_) {}

  // Returns the answer to a CREATE or an UPDATE. It waits for the apiserver until `answer_until` at most.
  // - An object that is being deleted, and an update that does not change the spec, are admitted, so that finalizers,
  //   labels and status can always be written.
  // - All static faults are reported at once. A fault that the old spec had already is a warning.
  // - If the workload template can be parsed, the cluster judges it (DryRun), and the Service too (TryService). Causes
  //   in fields with a static fault are left out. If less than Deadline::kLeast is left, the static checks and the
  //   caches decide alone.
  // - Without static faults, there are also warnings about probable mistakes.
  AdmissionAnswer Validate(const AdmissionRequest& request, SteadyTime answer_until);

 private:
  Client& client_;
  const AdmissionStores stores_;
  Clock& clock_;
  ByteBudget text_{kDryRunText};
  DryRun dry_run_;
};

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_VALIDATING_H_
