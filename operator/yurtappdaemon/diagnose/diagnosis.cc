#include "operator/yurtappdaemon/diagnose/diagnosis.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

namespace yad {
namespace {

// A summary of pods, which decides the state of their workload.
struct Counted {
  std::size_t pods = 0;
  std::size_t ready = 0;
  bool has_problem = false;
  bool failed = false;
  bool missing = false;

  void Add(const PodFacts& pod) {
    ++pods;
    ready += pod.ready ? 1 : 0;
    if (pod.problem) Add(*pod.problem);
  }
  void Add(const PodProblem& problem) {
    has_problem = true;
    failed = failed || problem.failed();
    missing = missing || problem.missing;
  }
  void Add(const Counted& other) {
    pods += other.pods;
    ready += other.ready;
    has_problem = has_problem || other.has_problem;
    failed = failed || other.failed;
    missing = missing || other.missing;
  }
};

// Returns the state if it does not depend on pods.
std::optional<std::string> StateWithoutPods(const DiagnosisInput& input) {
  if (input.deleting) return kDestroyState;
  if (!input.workload.seen) return kCreatedState;
  if (input.workload.wanted == 0) return kReadyState;
  return std::nullopt;
}

bool MakesProgress(const DiagnosisInput& input) { return !input.gave_up && !input.workload.progress_deadline_exceeded; }

}  // namespace

std::string StateOf(const DiagnosisInput& input) {
  if (auto state = StateWithoutPods(input)) return *std::move(state);
  const WorkloadState& workload = input.workload;
  if (workload.healthy || workload.ready_replicas >= std::max(workload.wanted, workload.replicas)) return kReadyState;
  return MakesProgress(input) ? kProvisionState : kDegradedState;
}

Diagnosis Diagnose(const DiagnosisInput& input, const std::vector<PodFacts>& pods,
                   const std::optional<PodProblem>& in_events) {
  const WorkloadState& workload = input.workload;
  std::optional<PodProblem> worst = in_events;
  const std::optional<PodProblem> rejection = ProblemOfRejection(workload.rejection);
  KeepWorse(worst, rejection);
  std::map<std::string_view, Counted> by_revision;
  const bool others = std::any_of(pods.begin(), pods.end(), [](const PodFacts& pod) { return !pod.leaving; });
  for (const PodFacts& pod : pods) {
    // Ignores the problem of a failed pod, such as an evicted pod, if another pod has replaced it. The failed pod may
    // remain for a long time.
    const bool past = pod.leaving && others && pod.problem && pod.problem->reason == kPodFailed;
    if (!past) KeepWorse(worst, pod.problem);
    if (!pod.leaving) by_revision[pod.revision].Add(pod);
  }

  // If pods of one revision are ready, the workload still serves. The state then does not depend on a revision that has
  // problems and no ready pods.
  const bool serves = std::any_of(by_revision.begin(), by_revision.end(),
                                  [](const auto& revision) { return revision.second.ready > 0; });
  Counted counted;
  bool ignores_revision = false;
  for (const auto& [revision, of_revision] : by_revision) {
    const bool bad = of_revision.has_problem && of_revision.ready == 0;
    if (serves && bad) {
      ignores_revision = true;
    } else {
      counted.Add(of_revision);
    }
  }
  if (!serves) {
    for (const auto* problem : {&in_events, &rejection}) {
      if (*problem) counted.Add(**problem);
    }
  }

  Diagnosis diagnosis;
  if (worst) {
    diagnosis.reason = worst->reason;
    diagnosis.message = worst->message;
  }
  const bool all_ready = counted.pods > 0 && counted.ready == counted.pods;
  const std::optional<std::string> state = StateWithoutPods(input);
  if (input.deleting) {
    diagnosis.state = kDestroyState;
  } else if (counted.missing) {
    diagnosis.state = kWaitingState;
  } else if (state) {
    diagnosis.state = *state;
  } else if (all_ready && (ignores_revision || workload.ready_replicas >= workload.wanted)) {
    diagnosis.state = kReadyState;
  } else if (counted.failed && counted.ready == 0) {
    diagnosis.state = kErrorState;
  } else if (MakesProgress(input) && ((workload.rolling && !ignores_revision) || !(counted.has_problem || rejection))) {
    diagnosis.state = kProvisionState;
  } else {
    diagnosis.state = kDegradedState;
  }
  return diagnosis;
}

}  // namespace yad
