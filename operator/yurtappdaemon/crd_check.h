// Checks that the cluster's CustomResourceDefinition has the fields that this operator reads and writes.
#ifndef OPERATOR_YURTAPPDAEMON_CRD_CHECK_H_
#define OPERATOR_YURTAPPDAEMON_CRD_CHECK_H_

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/base/synchronized.h"
#include "operator/client/client.h"
#include "operator/runtime/event_recorder.h"

namespace yad {

// Returns the fields that an apiserver with this CRD drops from a YurtAppDaemon, such as "spec.overrides" or
// "status.pools.phase" (a field of each pool). A missing field stands for all fields in it. Pure.
std::vector<std::string> FieldsMissingFrom(const Json& crd);

// The missing fields as one text; "" if the CRD has all fields. nullopt: not known.
using MissingFields = Synchronized<std::optional<std::string>>;

// Reports missing fields of the CRD (OpenYurt's own, or an older one of this operator) once, in an event about the CRD
// and in the log. Not thread-safe.
class CrdCheck {
 public:
  // `found` is called with the missing fields after the first successful check, and again whenever they change.
  CrdCheck(Client& client, EventSink& events, Clock& clock = Clock::Real(),
           std::function<void(const std::string& missing)> found = nullptr);
  // Checks immediately, and then every 10 minutes, until `stop` fires. Logs once that checks fail.
  Status Run(std::stop_token stop);
  // Checks once. A CRD that is absent, or that the operator may not read, counts as complete.
  Status Check(std::stop_token stop);

 private:
  Client& client_;
  EventSink& events_;
  Clock& clock_;
  const std::function<void(const std::string&)> found_;
  std::optional<std::string> told_;  // the missing fields in the last report
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_CRD_CHECK_H_
