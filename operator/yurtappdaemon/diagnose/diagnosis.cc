#include "operator/yurtappdaemon/diagnose/diagnosis.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

namespace yad {
namespace {

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
  std::set<std::string_view> with_problem, with_ready;  // revisions of pods
  const bool others = std::any_of(pods.begin(), pods.end(), [](const PodFacts& pod) { return !pod.leaving; });
  for (const PodFacts& pod : pods) {
    // Ignores the problem of a failed pod, such as an evicted pod, if another pod has replaced it. The failed pod may
    // remain for a long time.
    const bool past = pod.leaving && others && pod.problem && pod.problem->reason == kPodFailed;
    if (!past) KeepWorse(worst, pod.problem);
    if (pod.ready) with_ready.insert(pod.revision);
    if (pod.problem && !pod.leaving) with_problem.insert(pod.revision);
  }

  // If pods of one revision are ready, the workload still serves. The state then does not depend on a revision that has
  // problems and no ready pods.
  const bool serves = !with_ready.empty();
  bool ignores_revision = false, all_ready = serves, has_problem = false, failed = false, missing = false;
  const auto add = [&](const std::optional<PodProblem>& problem) {
    if (!problem) return;
    has_problem = true;
    failed = failed || problem->failed();
    missing = missing || problem->missing;
  };
  for (const PodFacts& pod : pods) {
    if (pod.leaving) continue;
    if (serves && with_problem.contains(pod.revision) && !with_ready.contains(pod.revision)) {
      ignores_revision = true;
    } else {
      all_ready = all_ready && pod.ready;
      add(pod.problem);
    }
  }
  if (!serves) {
    add(in_events);
    add(rejection);
  }

  Diagnosis diagnosis;
  if (worst) {
    diagnosis.reason = worst->reason;
    diagnosis.message = worst->message;
  }
  const std::optional<std::string> state = StateWithoutPods(input);
  if (missing && !input.deleting) {
    diagnosis.state = kWaitingState;
  } else if (state) {
    diagnosis.state = *state;
  } else if (all_ready && (ignores_revision || workload.ready_replicas >= workload.wanted)) {
    diagnosis.state = kReadyState;
  } else if (failed && !serves) {
    diagnosis.state = kErrorState;
  } else if (MakesProgress(input) && ((workload.rolling && !ignores_revision) || !(has_problem || rejection))) {
    diagnosis.state = kProvisionState;
  } else {
    diagnosis.state = kDegradedState;
  }
  return diagnosis;
}

}  // namespace yad
