// Makes Kubernetes' messages about faults stable. The same fault then has the same text at each attempt, on each node
// and for each pod. Otherwise, every change of a number in a message would cause a write of status. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_FAULT_TEXT_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_FAULT_TEXT_H_

#include <string>
#include <string_view>

namespace yad {

// Returns the text without the parts that change: ids, source ports, line breaks, and the name of the pod at the end.
// The result has at most kMaxMessage bytes.
std::string Steady(std::string_view text);

// Shortens a message of kube-scheduler, such as "0/7 nodes are available: 4 node(s) didn't match …, 3 Insufficient
// memory. preemption: …". Leaves out the counts, because they change with every node of the cluster. Sorts the reasons.
// Nodes of other pools fail only on affinity, taints and cordons, so these reasons are left out if the message has
// other reasons.
std::string SchedulerMessage(std::string_view message);

// Returns the registry's error from a kubelet's message about an image that it can't pull, or "" if there is none. The
// result is the same during an attempt (ErrImagePull) and during the back-off (ImagePullBackOff).
std::string PullError(std::string_view message);

// Returns the apiserver's message about a rejected pod, without the pod's name and the used amount of a quota.
std::string RejectionOfPod(std::string_view message);

// Returns whether the text reports that a ConfigMap, a Secret, a key in one of these, a PersistentVolumeClaim or a
// ServiceAccount is missing.
bool SaysMissing(std::string_view text);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_FAULT_TEXT_H_
