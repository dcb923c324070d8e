// What Kubernetes says of a fault, made steady: the same fault has the same text at each attempt, on each node and for
// each pod, so that status is not written again because a number in it is another. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_FAULT_TEXT_H_
#define OPERATOR_YURTAPPDAEMON_FAULT_TEXT_H_

#include <string>
#include <string_view>

namespace yad {

// Without ids, ports of this attempt, line breaks, and what only says which pod it was. At most kMaxMessage bytes.
std::string Steady(std::string_view text);

// kube-scheduler's "0/7 nodes are available: 4 node(s) didn't match …, 3 Insufficient memory. preemption: …" without
// its counts, which change with every node of the cluster, and in alphabetical order. Nodes of other pools fail on
// affinity, taints and cordons only: these words are left out where there are others.
std::string SchedulersWords(std::string_view message);

// What a kubelet says of an image that it can't pull: the error of the registry alone, "" where it says none. It is the
// same while it tries (ErrImagePull) and while it waits (ImagePullBackOff).
std::string PullError(std::string_view message);

// What the apiserver says of a pod that it refuses: without the pod's name and what is used of a quota.
std::string RefusalOfPod(std::string_view message);

// Whether it says that a ConfigMap, a Secret, a key of one, a claim or a ServiceAccount is missing.
bool SaysMissing(std::string_view text);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_FAULT_TEXT_H_
