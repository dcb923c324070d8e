// The validating webhook: what is refused, what is warned of.
#ifndef WEBHOOK_VALIDATING_H_
#define WEBHOOK_VALIDATING_H_

#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "webhook/admission_handler.h"
#include "webhook/admission_review.h"
#include "webhook/dry_run.h"

namespace yad {

// Whether an update asks for what was asked for before: nulls, defaults and other spellings of the same make no
// difference. Pure.
bool SameSpec(const Json& object, const Json& old_object);

// Thread-safe. What it is given must outlive it.
class Validator {
 public:
  Validator(Client& client, const AdmissionStores& stores, Clock& clock)
      : client_(client), stores_(stores), clock_(clock), dry_run_(client, stores, clock, text_) {}

  // The answer to a CREATE or an UPDATE, at `answer_until` at the latest where it is the apiserver that is waited for.
  // - An object that is being deleted, and an update that leaves the spec as it is, are admitted: finalizers, labels
  // and
  //   status can always be written.
  // - Static faults come all at once. One that the old spec had already is a warning; then the operator leaves the
  // object
  //   alone anyhow, and nothing is rendered.
  // - Without faults, the cluster is asked (DryRun), and what looks wrong is warned of. Where less than
  //   Deadline::kLeast is left, the static checks and the caches decide alone.
  AdmissionAnswer Validate(const AdmissionRequest& request, SteadyTime answer_until);

 private:
  Client& client_;
  const AdmissionStores stores_;
  Clock& clock_;
  ByteBudget text_{kDryRunText};
  DryRun dry_run_;
};

}  // namespace yad

#endif  // WEBHOOK_VALIDATING_H_
