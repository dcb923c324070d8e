// Whether the cluster's CustomResourceDefinition knows the fields that this operator reads and writes.
#ifndef OPERATOR_YURTAPPDAEMON_CRD_CHECK_H_
#define OPERATOR_YURTAPPDAEMON_CRD_CHECK_H_

#include <stop_token>
#include <string>
#include <vector>

#include "operator/client/client.h"
#include "operator/runtime/event_recorder.h"

namespace yad {

// The fields that an apiserver with this CRD would drop from a YurtAppDaemon: "spec.overrides", "status.pools.phase"
// (of each pool). A missing field stands for all that are in it. Empty: none. Pure.
std::vector<std::string> FieldsMissingFrom(const Json& crd);

// While the CRD lacks fields (it is OpenYurt's own, or an older one of ours), says so once, in an event about the CRD
// and in the log. Not thread-safe.
class CrdCheck {
 public:
  CrdCheck(Client& client, EventSink& events);
  // Looks once. A CRD that may not be read is taken for a good one.
  Status Run(std::stop_token stop);

 private:
  Client& client_;
  EventSink& events_;
  std::string told_;  // what is missing, as it was told last
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_CRD_CHECK_H_
