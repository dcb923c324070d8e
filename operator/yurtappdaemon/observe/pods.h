// A workload's pods, which are read on demand, because no cache holds them.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_PODS_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_PODS_H_

#include <stop_token>
#include <string>
#include <vector>

#include "operator/api/well_known.h"
#include "operator/client/client.h"

namespace yad {

inline constexpr char kPodTemplateHashLabel[] = "pod-template-hash";     // a label of a Deployment's pods
inline constexpr char kPodRevisionLabel[] = "controller-revision-hash";  // a label of a StatefulSet's pods

bool IsPodReady(const Json& pod);

// Returns the selector of a Deployment or StatefulSet as a string for a list of its pods. Fails if the selector is
// invalid.
Result<std::string> SelectorOf(const Json& workload);

// Returns whether the Deployment or StatefulSet controls the pod. A Deployment controls pods through a ReplicaSet,
// whose name is <Deployment>-<pod-template-hash>.
bool ControlsPod(const ObjectMeta& workload, const ObjectMeta& pod);

// Reads the Events (events.k8s.io) about the object with this uid. Fails with kTooLarge if they have more than 1 MiB.
Result<std::vector<Json>> ReadEventsAbout(Client& client, const std::string& ns, const std::string& uid,
                                          std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_PODS_H_
