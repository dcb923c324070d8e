// Makes Kubernetes' messages about problems stable, because each change of a message causes a write of status. A
// problem has the same message at each attempt, on each node and for each pod. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_STABLE_MESSAGE_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_STABLE_MESSAGE_H_

#include <string>
#include <string_view>

namespace yad {

// Returns the message without the parts that change: ids, source ports, line breaks, and the name of the pod at the
// end. The result has at most kMaxMessage bytes.
std::string Steady(std::string_view text);

// Shortens a message of kube-scheduler, such as "0/7 nodes are available: 4 node(s) didn't match …, 3 Insufficient
// memory. preemption: …". Sorts the reasons, and omits:
// - the number of nodes for each reason, because it changes with every node of the cluster
// - affinity, taints and cordons, if there is also another reason. Nodes of other pools always have these reasons.
std::string SchedulerMessage(std::string_view message);

// Returns the registry's error from a kubelet's message about a failed pull, or "" if the message does not contain it.
// ErrImagePull and ImagePullBackOff have the same result.
std::string PullError(std::string_view message);

// Returns the apiserver's message about a rejected pod, without the pod's name and the used amount of a quota.
std::string RejectionOfPod(std::string_view message);

// Returns whether the message reports that an object is missing: a ConfigMap, a Secret, a key of either, a
// PersistentVolumeClaim or a ServiceAccount.
bool ReportsMissingObject(std::string_view text);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_STABLE_MESSAGE_H_
