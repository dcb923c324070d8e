#include "operator/yurtappdaemon/observe/pod_facts.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/yurtappdaemon/observe/pods.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "operator/yurtappdaemon/observe/stable_message.h"

namespace yad {
namespace {

constexpr std::array<std::string_view, 13> kWorstFirst{kOomKilled,
                                                       kCrashLoopBackOff,
                                                       kCreateContainerConfigError,
                                                       kCreateContainerError,
                                                       kImagePullBackOff,
                                                       kFailedMount,
                                                       kFailedCreatePodSandBox,
                                                       kNodeNotReady,
                                                       kUnschedulable,
                                                       kQuotaExceeded,
                                                       kFailedCreate,
                                                       kPodFailed,
                                                       kContainersNotReady};
constexpr std::size_t kFailedBefore = 7;  // the number of reasons in kWorstFirst up to FailedCreatePodSandBox

// If a container has run for this time, its last crash no longer matters. After the same time, the kubelet resets the
// back-off of the container.
constexpr std::chrono::minutes kCrashIsRecent{10};
// A pod that is not ready for a shorter time has no problem, because a readiness probe may need this time to succeed.
constexpr std::chrono::seconds kStartTakes{30};
// A kubelet may need this time to prepare the volumes and the network of a pod. The operator reads the pod's Events
// only if its containers are not created after this time.
constexpr std::chrono::seconds kCreationTakes{3};
// An Event is outdated if the newest Warning is later by more than this time. A kubelet retries a volume every two
// minutes, so the Event of a persistent problem is newer.
constexpr std::chrono::minutes kEventLasts{3};
// An Event that is older than this time is also outdated. A kubelet emits a frequent Event only once in five minutes.
constexpr std::chrono::minutes kEventIsOver{6};

std::size_t Rank(std::string_view reason) {
  return static_cast<std::size_t>(std::find(kWorstFirst.begin(), kWorstFirst.end(), reason) - kWorstFirst.begin());
}

PodProblem MakeProblem(const char* reason, std::string message) {
  const bool missing = ReportsMissingObject(message);
  return {reason, std::move(message), missing};
}

// Returns the container's entry in the pod's spec.
const Json& SpecOf(const Json& pod, const char* list, const std::string& name) {
  static const Json kNone = Json::object();
  for (const Json& container : ListAt(pod, {"spec", list})) {
    if (StringAt(container, {"name"}) == name) return container;
  }
  return kNone;
}

std::optional<PodProblem> ProblemOfPull(const std::string& who, const std::string& image, const std::string& reason,
                                        const std::string& message) {
  const std::string subject = who + ": image \"" + Steady(image) + "\" ";
  if (reason == "ErrImageNeverPull")
    return PodProblem{kImagePullBackOff, subject + "is not on the node, and imagePullPolicy is Never"};
  if (reason == "InvalidImageName") return PodProblem{kImagePullBackOff, subject + "is not a valid name"};
  const bool pulls = reason == "ErrImagePull" || reason == "ImagePullBackOff" || reason == "ImageInspectError" ||
                     reason == "RegistryUnavailable" || reason == "SignatureValidationFailed";
  if (!pulls) return std::nullopt;
  const std::string error = PullError(message);
  return PodProblem{kImagePullBackOff, subject + "can't be pulled" + (error.empty() ? "" : ": " + error)};
}

// Returns the problem of a container that has terminated. `terminated` is the container's terminated state.
PodProblem ProblemOfEnd(const std::string& who, const Json& spec, const Json& terminated) {
  const std::string reason = StringAt(terminated, {"reason"});
  if (reason == kOomKilled) {
    const std::string limit = StringAt(spec, {"resources", "limits", "memory"});
    return {kOomKilled,
            who + " was killed because it ran out of memory" + (limit.empty() ? "" : "; its limit is " + limit)};
  }
  if (reason == "StartError" || reason == "ContainerCannotRun")
    return {kCrashLoopBackOff, who + " can't be started: " + Steady(StringAt(terminated, {"message"}))};
  std::string message = who + " ended with exit code " + std::to_string(IntAt(terminated, {"exitCode"}));
  if (!reason.empty() && reason != "Error" && reason != "Completed") message += " (" + Steady(reason) + ")";
  return {kCrashLoopBackOff, std::move(message)};
}

std::optional<PodProblem> ProblemOfContainer(const Json& pod, const Json& status, bool init, WallTime now) {
  const std::string name = StringAt(status, {"name"});
  const Json& spec = SpecOf(pod, init ? "initContainers" : "containers", name);
  const std::string who = (init ? "init container \"" : "container \"") + name + "\"";
  // An init container must terminate. An init container with restartPolicy Always is a sidecar and keeps running.
  const bool ends = init && StringAt(spec, {"restartPolicy"}) != "Always";
  if (BoolAt(status, {"ready"})) return std::nullopt;

  const Json* last = Find(status, {"lastState", "terminated"});
  if (const Json* ended = Find(status, {"state", "terminated"})) {
    if (ends && IntAt(*ended, {"exitCode"}) == 0) return std::nullopt;
    return ProblemOfEnd(who, spec, *ended);
  }
  if (const Json* running = Find(status, {"state", "running"})) {
    // The container runs again after it crashed, or after the kubelet killed it. If the reason is Unknown or
    // ContainerStatusUnknown, the container terminated together with its node. The cause is then unknown, so the
    // termination does not count.
    const bool recent = now - ParseTime(StringAt(*running, {"startedAt"})) < kCrashIsRecent;
    if (last == nullptr || !recent) return std::nullopt;
    const std::string why = StringAt(*last, {"reason"});
    if (why == "Unknown" || why == "ContainerStatusUnknown") return std::nullopt;
    return ProblemOfEnd(who, spec, *last);
  }
  const std::string reason = StringAt(status, {"state", "waiting", "reason"});
  const std::string message = StringAt(status, {"state", "waiting", "message"});
  if (reason.empty() || reason == "ContainerCreating" || reason == "PodInitializing") return std::nullopt;
  if (reason == kCrashLoopBackOff)
    return last != nullptr ? ProblemOfEnd(who, spec, *last) : PodProblem{kCrashLoopBackOff, who + " ends repeatedly"};
  // The kubelet reports this reason only after the first failed start. After later failed starts, it reports
  // CrashLoopBackOff, and the last state has reason StartError.
  if (reason == "RunContainerError")
    return PodProblem{kCrashLoopBackOff, who + " can't be started: " + Steady(message)};
  if (reason == kCreateContainerConfigError)
    return MakeProblem(kCreateContainerConfigError, who + ": " + Steady(message));
  if (auto problem = ProblemOfPull(who, StringAt(spec, {"image"}), reason, message)) return problem;
  return MakeProblem(kCreateContainerError, who + ": " + Steady(reason) + ": " + Steady(message));
}

// Returns whether all containers of the pod have waited for their creation for longer than kCreationTakes.
bool WaitsForItsContainers(const Json& pod, WallTime now) {
  const Json* scheduled = FindCondition(pod, "PodScheduled");
  if (!IsTrue(scheduled)) return false;
  if (now - ParseTime(StringAt(*scheduled, {"lastTransitionTime"})) < kCreationTakes) return false;
  bool waits = false;
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const Json& status : ListAt(pod, {"status", list})) {
      const std::string reason = StringAt(status, {"state", "waiting", "reason"});
      if (reason != "ContainerCreating" && reason != "PodInitializing") return false;
      waits = true;
    }
  }
  return waits;
}

std::optional<PodProblem> ProblemOfReadiness(const Json& pod, WallTime now) {
  // Init containers may take any time. Condition Ready is False during this time, so condition Initialized is examined
  // until the pod runs.
  const bool runs = StringAt(pod, {"status", "phase"}) == "Running";
  const Json* condition = FindCondition(pod, runs ? "Ready" : "Initialized");
  if (condition == nullptr || StringAt(*condition, {"status"}) != "False") return std::nullopt;
  const std::string reason = StringAt(*condition, {"reason"});
  if (reason != kContainersNotReady && reason != "ReadinessGatesNotReady" && reason != "ContainersNotInitialized")
    return std::nullopt;
  if (now - ParseTime(StringAt(*condition, {"lastTransitionTime"})) < kStartTakes) return std::nullopt;
  return PodProblem{kContainersNotReady, Steady(StringAt(*condition, {"message"}))};
}

}  // namespace

WallTime TimeOfEvent(const Json& event) {
  WallTime latest = ParseTime(StringAt(event, {"metadata", "creationTimestamp"}));
  for (const std::string& time :
       {StringAt(event, {"eventTime"}), StringAt(event, {"lastTimestamp"}),
        StringAt(event, {"deprecatedLastTimestamp"}), StringAt(event, {"series", "lastObservedTime"})}) {
    if (!time.empty()) latest = std::max(latest, ParseTime(time));
  }
  return latest;
}

bool LostItsNode(const Json& pod) {
  if (StringAt(pod, {"status", "reason"}) == "NodeLost") return true;
  const Json* ready = FindCondition(pod, "Ready");
  if (ready == nullptr || StringAt(*ready, {"status"}) != "False" || !StringAt(*ready, {"reason"}).empty())
    return false;
  const Json& statuses = ListAt(pod, {"status", "containerStatuses"});
  return !statuses.empty() &&
         std::all_of(statuses.begin(), statuses.end(), [](const Json& s) { return BoolAt(s, {"ready"}); });
}

bool IsPodProblem(std::string_view reason) { return Rank(reason) < kWorstFirst.size(); }

bool PodProblem::failed() const { return Rank(reason) < kFailedBefore; }

bool IsWorse(const PodProblem& a, const PodProblem& b) {
  return std::tuple(Rank(a.reason), std::string_view(a.message)) <
         std::tuple(Rank(b.reason), std::string_view(b.message));
}

void KeepWorse(std::optional<PodProblem>& worst, std::optional<PodProblem> problem) {
  if (problem && (!worst || IsWorse(*problem, *worst))) worst = std::move(problem);
}

PodFacts ExaminePod(const Json& pod, WallTime now) {
  PodFacts facts;
  const ObjectMeta meta = ParseMeta(pod);
  facts.revision = meta.Label(kPodTemplateHashLabel);
  if (facts.revision.empty()) facts.revision = meta.Label(kPodRevisionLabel);
  const std::string phase = StringAt(pod, {"status", "phase"});
  facts.leaving = meta.deleting() || phase == "Failed" || phase == "Succeeded";
  facts.ready = !facts.leaving && IsPodReady(pod);
  if (facts.ready) return facts;

  if (LostItsNode(pod)) {
    facts.problem = PodProblem{kNodeNotReady, "node " + StringAt(pod, {"spec", "nodeName"}) + " is not ready"};
    return facts;
  }
  if (phase == "Failed" && !meta.deleting()) {
    // The pod was evicted, for instance. Only the first sentence of the message is used, because the other sentences
    // contain numbers.
    const std::string message = StringAt(pod, {"status", "message"});
    facts.problem = PodProblem{kPodFailed, Steady(StringAt(pod, {"status", "reason"}, "Failed") + ": " +
                                                  message.substr(0, message.find(". ")))};
  }
  if (facts.leaving) return facts;

  if (const Json* scheduled = FindCondition(pod, "PodScheduled");
      scheduled != nullptr && StringAt(*scheduled, {"status"}) == "False") {
    facts.problem = MakeProblem(kUnschedulable, SchedulerMessage(StringAt(*scheduled, {"message"})));
    return facts;
  }
  for (const bool init : {true, false}) {
    for (const Json& status : ListAt(pod, {"status", init ? "initContainerStatuses" : "containerStatuses"})) {
      KeepWorse(facts.problem, ProblemOfContainer(pod, status, init, now));
    }
  }
  if (facts.problem) return facts;
  if (WaitsForItsContainers(pod, now)) {
    facts.waiting_uid = meta.uid;
  } else {
    facts.problem = ProblemOfReadiness(pod, now);
  }
  return facts;
}

std::optional<PodProblem> ProblemOfEvents(const std::vector<Json>& events, WallTime now) {
  constexpr std::string_view kAttach = "FailedAttachVolume";
  WallTime newest{};
  // The last time at which the kubelet pulled an image or started a container. The pod's volumes and sandbox existed at
  // that time, so older Events about them are outdated.
  WallTime prepared{};
  for (const Json& event : events) {
    if (StringAt(event, {"type"}) == "Warning") newest = std::max(newest, TimeOfEvent(event));
    const std::string reason = StringAt(event, {"reason"});
    if (reason == "Pulling" || reason == "Pulled" || reason == "Created" || reason == "Started")
      prepared = std::max(prepared, TimeOfEvent(event));
  }
  std::optional<PodProblem> worst, summary;
  for (const Json& event : events) {
    const WallTime seen = TimeOfEvent(event);
    if (seen < newest - kEventLasts || seen < now - kEventIsOver) continue;
    const std::string reason = StringAt(event, {"reason"});
    const std::string note = StringAt(event, {"note"});
    const bool prepares = reason == kFailedMount || reason == kAttach || reason == kFailedCreatePodSandBox;
    if (prepares && seen <= prepared) continue;
    if (reason == kFailedMount || reason == kAttach) {
      // Older kubelets alternate between two Events: one about the problem of a single volume, and a summary of all
      // volumes. The summary is used only if there is no Event about a single volume.
      const bool sums_up = note.starts_with("Unable to attach or mount volumes");
      KeepWorse(sums_up ? summary : worst, MakeProblem(kFailedMount, Steady(note)));
    } else if (reason == kFailedCreatePodSandBox) {
      KeepWorse(worst, MakeProblem(kFailedCreatePodSandBox, Steady(note)));
    } else if (reason == kFailedCreate) {
      KeepWorse(worst, ProblemOfRejection(RejectionOfPod(note)));
    }
  }
  return worst && worst->reason == kFailedMount ? worst : summary ? summary : worst;
}

std::optional<PodProblem> ProblemOfRejection(const std::string& message) {
  if (message.empty()) return std::nullopt;
  return MakeProblem(message.find("exceeded quota") != std::string::npos ? kQuotaExceeded : kFailedCreate, message);
}

}  // namespace yad
