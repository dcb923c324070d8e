// What is wrong with a pod, as its status and its Events say. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_POD_FACTS_H_
#define OPERATOR_YURTAPPDAEMON_POD_FACTS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/clock.h"

namespace yad {

// The reasons, the worst first: the further a pod has come, the worse it is that it fails there.
inline constexpr char kOomKilled[] = "OOMKilled";
inline constexpr char kCrashLoopBackOff[] = "CrashLoopBackOff";
inline constexpr char kCreateContainerConfigError[] = "CreateContainerConfigError";
inline constexpr char kCreateContainerError[] = "CreateContainerError";
inline constexpr char kImagePullBackOff[] = "ImagePullBackOff";
inline constexpr char kFailedMount[] = "FailedMount";
inline constexpr char kFailedCreatePodSandBox[] = "FailedCreatePodSandBox";
inline constexpr char kNodeNotReady[] = "NodeNotReady";
inline constexpr char kUnschedulable[] = "Unschedulable";
// And QuotaExceeded (phase.h): the pod can't be made.
inline constexpr char kFailedCreate[] = "FailedCreate";
inline constexpr char kPodFailed[] = "PodFailed";
inline constexpr char kContainersNotReady[] = "ContainersNotReady";

// Whether it is one of these.
bool IsFaultOfPods(std::string_view reason);

struct PodFault {
  std::string reason;
  std::string message;   // steady (fault_text.h): it names no pod
  bool missing = false;  // what it lacks is an object that somebody has to make

  // Whether the pod itself has failed: not one that waits for a node, or has lost its own.
  bool failed() const;
  bool operator==(const PodFault&) const = default;
};
// By reason, then by message: the same pods in any order have the same worst fault.
bool IsWorse(const PodFault& a, const PodFault& b);
// Keeps the worse of the two in `worst`.
void Worsen(std::optional<PodFault>& worst, std::optional<PodFault> fault);

struct PodFacts {
  std::string revision;  // which pod template it is of
  bool ready = false;
  bool leaving = false;  // ended, or being deleted: another pod is there for it
  std::optional<PodFault> fault;
  // Its containers have not been made for a while, and its status does not say why: its Events may. Else empty.
  std::string waiting_uid;
};
PodFacts ExaminePod(const Json& pod, WallTime now);

// From the events.k8s.io Events about one pod, or one workload: what keeps the pod from being started, or made.
// nullopt: none of them says.
std::optional<PodFault> FaultOfEvents(const std::vector<Json>& events, WallTime now);

// From the words with which the apiserver refused a pod (RefusalOfPod). "": nullopt.
std::optional<PodFault> FaultOfRefusal(const std::string& words);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_POD_FACTS_H_
