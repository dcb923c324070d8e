// Makes Kubernetes' messages about faults stable: the same fault has the same text at each attempt, on each node and
// for each pod. Otherwise, every change of a number in a message would cause a write of status. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_FAULT_TEXT_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_FAULT_TEXT_H_

#include <string>
#include <string_view>

namespace yad {

// Returns the text without ids, ports of one attempt, line breaks, and the part that only names the pod. The result has
// at most kMaxMessage bytes.
std::string Steady(std::string_view text);

// Shortens kube-scheduler's "0/7 nodes are available: 4 node(s) didn't match …, 3 Insufficient memory. preemption: …".
// The counts are left out, because they change with every node of the cluster, and the reasons are sorted. Nodes of
// other pools fail only on affinity, taints and cordons. These reasons are left out if the message has other reasons.
std::string SchedulersWords(std::string_view message);

// Returns the registry's error in a kubelet's message about an image that it can't pull; "" if there is none. The
// result is the same during an attempt (ErrImagePull) and during the back-off (ImagePullBackOff).
std::string PullError(std::string_view message);

// Returns the apiserver's message about a pod that it rejects, without the pod's name and a quota's used amount.
std::string RefusalOfPod(std::string_view message);

// Returns whether the text reports a missing ConfigMap, Secret, key of one of them, claim or ServiceAccount.
bool SaysMissing(std::string_view text);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_FAULT_TEXT_H_
