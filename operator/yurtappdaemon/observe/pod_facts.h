// The problems of a pod, from its status and its Events. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_POD_FACTS_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_POD_FACTS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/clock.h"

namespace yad {

// The reasons of problems, from the worst to the least severe. A crash is worse than a failed start, and a failed start
// is worse than a missing node.
inline constexpr char kOomKilled[] = "OOMKilled";
inline constexpr char kCrashLoopBackOff[] = "CrashLoopBackOff";
inline constexpr char kCreateContainerConfigError[] = "CreateContainerConfigError";
inline constexpr char kCreateContainerError[] = "CreateContainerError";
inline constexpr char kImagePullBackOff[] = "ImagePullBackOff";
inline constexpr char kFailedMount[] = "FailedMount";
inline constexpr char kFailedCreatePodSandBox[] = "FailedCreatePodSandBox";
inline constexpr char kNodeNotReady[] = "NodeNotReady";
inline constexpr char kUnschedulable[] = "Unschedulable";
// The pod can't be created. QuotaExceeded (pool_phase.h) has the same meaning, but counts as worse.
inline constexpr char kFailedCreate[] = "FailedCreate";
inline constexpr char kPodFailed[] = "PodFailed";
inline constexpr char kContainersNotReady[] = "ContainersNotReady";

// Returns whether the pod has lost its node: its containers are ready, but condition Ready is False without a reason. A
// kubelet always sets a reason. So the control plane has set the condition, because the node no longer reports.
bool LostItsNode(const Json& pod);

// Returns whether `reason` is one of the constants above, or QuotaExceeded.
bool IsPodProblem(std::string_view reason);

struct PodProblem {
  std::string reason;
  std::string message;   // stable (stable_message.h): without the name of a pod
  bool missing = false;  // the pod lacks an object that a user has to create

  // Returns whether the pod itself has failed. A pod that waits for a node, or has lost its node, has not failed.
  bool failed() const;
  bool operator==(const PodProblem&) const = default;
};
// Compares by reason, and then by message, so that the same pods in any order have the same worst problem.
bool IsWorse(const PodProblem& a, const PodProblem& b);
// Sets `worst` to `problem` if `problem` is worse, or if `worst` is nullopt.
void KeepWorse(std::optional<PodProblem>& worst, std::optional<PodProblem> problem);

struct PodFacts {
  // The pod's label pod-template-hash (of a Deployment) or controller-revision-hash (of a StatefulSet).
  std::string revision;
  bool ready = false;
  bool leaving = false;  // the pod has terminated or is being deleted; another pod replaces it
  std::optional<PodProblem> problem;
  // The pod's uid if its containers are not created in time and its status does not show why. The caller then looks for
  // the reason in the pod's Events. Otherwise "".
  std::string waiting_uid;
};
PodFacts ExaminePod(const Json& pod, WallTime now);

// Returns the time of the last occurrence of the Event (of v1 or events.k8s.io).
WallTime TimeOfEvent(const Json& event);

// Returns the problem that `events` (events.k8s.io) report about one pod or one workload: why the pod does not start,
// or why the workload's pods are not created. Returns nullopt if they do not report a problem.
std::optional<PodProblem> ProblemOfEvents(const std::vector<Json>& events, WallTime now);

// Returns the problem of a workload whose pods the apiserver rejects, or nullopt if `message` is "". `message` is the
// result of RejectionOfPod.
std::optional<PodProblem> ProblemOfRejection(const std::string& message);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_POD_FACTS_H_
