// A workload's pods, read when they are asked for: no cache holds them.
#ifndef OPERATOR_YURTAPPDAEMON_PODS_H_
#define OPERATOR_YURTAPPDAEMON_PODS_H_

#include <functional>
#include <stop_token>
#include <string>

#include "operator/api/well_known.h"
#include "operator/client/client.h"

namespace yad {

inline constexpr char kPodTemplateHashLabel[] = "pod-template-hash";     // of a Deployment's pod
inline constexpr char kPodRevisionLabel[] = "controller-revision-hash";  // of a StatefulSet's pod

bool IsPodReady(const Json& pod);

// Whether the Deployment or StatefulSet controls the pod: a Deployment does so through a ReplicaSet, whose name is the
// Deployment's and the hash of the pod's template.
bool ControlsPod(const ObjectMeta& workload, const ObjectMeta& pod);

// Calls `each` for every pod of the pages (see ForEachListed), until it or a read fails, or `pages` have been read.
// `options` needs ns, label_selector and limit. Returns how many pages were read.
Result<int> ForEachPod(Client& client, ListOptions options, int pages, std::stop_token stop,
                       const std::function<Status(const Json& pod)>& each);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PODS_H_
