// Which version of NodePool to read: clusters have v1alpha1, v1beta1 or v1beta2, and one day others.
#ifndef OPERATOR_YURTAPPDAEMON_NODEPOOL_TYPE_H_
#define OPERATOR_YURTAPPDAEMON_NODEPOOL_TYPE_H_

#include <stop_token>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/reflector.h"

namespace yad {

// The versions of the group that serve nodepools, the highest first (GA before beta before alpha, as Kubernetes orders
// versions). kNotFound: none does.
Result<std::vector<ResourceType>> DiscoverNodePoolTypes(Client& client, std::stop_token stop);

// The version to read now: the highest, and after each failed list the next lower one in turn, because objects that are
// stored in another version need a conversion webhook of OpenYurt that may be gone, while reading them as they are
// stored does not. That it is gone is told once, in an event about the CRD. Not thread-safe.
class NodePoolTypeChoice {
 public:
  NodePoolTypeChoice(Client& client, EventSink& events) : client_(client), events_(events) {}
  Result<ResourceType> Next(const FailedLists& failed, std::stop_token stop);

 private:
  Client& client_;
  EventSink& events_;
  bool told_ = false;
};

// Kubernetes' version priority: "v2" > "v1" > "v1beta2" > "v1beta1" > "v1alpha1" > "other".
bool HigherVersion(const std::string& a, const std::string& b);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_NODEPOOL_TYPE_H_
