// The diagnosis of a pool: the state of its workload, and the reason why its pods are not ready. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_DIAGNOSE_DIAGNOSIS_H_
#define OPERATOR_YURTAPPDAEMON_DIAGNOSE_DIAGNOSIS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "operator/yurtappdaemon/observe/pod_facts.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// The values of `status.pools[].state`.
inline constexpr char kDestroyState[] = "Destroy";      // the workload is being deleted
inline constexpr char kWaitingState[] = "Waiting";      // a pod waits for an object that a user has to create
inline constexpr char kCreatedState[] = "Created";      // the workload's controller has not observed the workload yet
inline constexpr char kReadyState[] = "Ready";          // all pods are ready, or no pod is required
inline constexpr char kErrorState[] = "Error";          // a pod failed, and no pod is ready
inline constexpr char kProvisionState[] = "Provision";  // the workload makes progress
inline constexpr char kDegradedState[] = "Degraded";    // any other state

struct Diagnosis {
  std::string state;
  std::string reason;  // one of the reasons of pods (IsPodProblem); "" if no problem is known
  std::string message;
  // True if the diagnosis was restored from status. Its message may then already explain why the pool counts as failed,
  // so this explanation is not appended again.
  bool restored = false;
};
using Diagnoses = std::unordered_map<std::string, Diagnosis>;  // by pool

// The number of misplaced pods for each pool that has any.
using MisplacedCounts = std::map<std::string, std::int64_t, std::less<>>;

// The facts about a workload, apart from its pods.
struct DiagnosisInput {
  const WorkloadState& workload;
  bool deleting = false;
  bool gave_up = false;  // the workload did not become healthy within its deadline
};

// Returns the state of a workload whose pods were not read.
std::string StateOf(const DiagnosisInput& input);

// Diagnoses a workload from the facts about its pods. `in_events` is a problem that was found in Events and is not in
// `pods`.
Diagnosis Diagnose(const DiagnosisInput& input, const std::vector<PodFacts>& pods,
                   const std::optional<PodProblem>& in_events);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_DIAGNOSE_DIAGNOSIS_H_
