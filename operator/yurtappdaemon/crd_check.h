// Checks that the cluster's CustomResourceDefinition has the fields that this operator reads and writes.
#ifndef OPERATOR_YURTAPPDAEMON_CRD_CHECK_H_
#define OPERATOR_YURTAPPDAEMON_CRD_CHECK_H_

#include <stop_token>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/runtime/event_recorder.h"

namespace yad {

// Returns the fields that an apiserver with this CRD drops from a YurtAppDaemon, such as "spec.overrides" or
// "status.pools.phase" (a field of each pool). A missing field stands for all fields in it. Pure.
std::vector<std::string> FieldsMissingFrom(const Json& crd);

// Reports missing fields of the CRD (OpenYurt's own, or an older one of this operator) once, in an event about the CRD
// and in the log. Not thread-safe.
class CrdCheck {
 public:
  CrdCheck(Client& client, EventSink& events, Clock& clock = Clock::Real());
  // Checks immediately, and then every 10 minutes, until `stop` fires. Logs only the first of several failures in a
  // row.
  Status Run(std::stop_token stop);
  // Checks once. A CRD that is absent, or that the operator may not read, counts as complete.
  Status Check(std::stop_token stop);

 private:
  Client& client_;
  EventSink& events_;
  Clock& clock_;
  std::string told_;  // the missing fields in the last report
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_CRD_CHECK_H_
