// Checks that the cluster's CustomResourceDefinition has the fields that this operator reads and writes.
#ifndef OPERATOR_YURTAPPDAEMON_CRD_CHECK_H_
#define OPERATOR_YURTAPPDAEMON_CRD_CHECK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/clock.h"
#include "operator/base/synchronized.h"
#include "operator/client/client.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/store.h"

namespace yad {

// Returns the fields of a YurtAppDaemon that this CRD lacks, such as "spec.overrides", or "status.pools.phase" for a
// field of the list entries. Omits fields inside a missing field. Pure.
std::vector<std::string> FieldsMissingFrom(const Json& crd);

// The spec of a daemon when it was last observed.
struct KnownSpec {
  std::int64_t generation = 0;
  std::uint64_t object_digest = 0;
  std::uint64_t spec_digest = 0;
  // The fields that the CRD lacked when the apiserver dropped a part of this spec. "" if the spec is complete.
  std::string dropped;
};

// Fails if the apiserver has dropped fields of the daemon's spec. The apiserver drops fields when a client writes the
// daemon while an older CRD is installed, and it does not change the generation. Overrides, `paused` or the names of
// pools may then be missing, so the operator must not treat this spec as an edit by a user.
//
// The function fails until a user edits the spec, or until the spec has the dropped fields again. It even fails if the
// CRD is complete again. The first failure also emits an Event about the daemon.
//
// If no fields were dropped, stores the spec in `known`. Reads the CRD only if the spec differs from `known` although
// the generation is the same.
Status ConfirmSpecIsComplete(Client& client, EventSink& events, const StoredObject& stored, const Json& daemon,
                             KnownSpec& known, std::stop_token stop);

// The missing fields, joined into one string: "" if the CRD has all fields, nullopt before the first successful check.
using MissingFields = Synchronized<std::optional<std::string>>;

// Reports the fields that an older CRD, or OpenYurt's CRD, lacks, in the log and in an Event about the CRD. Reports
// them again only if they have changed. Not thread-safe.
class CrdCheck {
 public:
  // Each check stores its result in `missing`. `changed` is called if the result differs from the last result, or if
  // the first check finds missing fields.
  CrdCheck(Client& client, EventSink& events, Clock& clock = Clock::Real(),
           std::shared_ptr<MissingFields> missing = std::make_shared<MissingFields>(),
           std::function<void()> changed = nullptr)
      : client_(client), events_(events), clock_(clock), missing_(std::move(missing)), changed_(std::move(changed)) {}
  // Checks immediately, and then every 10 minutes, until `stop` fires. Logs only the first of several failures in a
  // row.
  Status Run(std::stop_token stop);
  // Checks once. Reports nothing if the CRD does not exist, or if the operator lacks the permission to read it.
  Status Check(std::stop_token stop);

 private:
  Client& client_;
  EventSink& events_;
  Clock& clock_;
  const std::shared_ptr<MissingFields> missing_;
  const std::function<void()> changed_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_CRD_CHECK_H_
