// Why a pool's workload is not healthy, and the one word for how its pods stand. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_DIAGNOSIS_H_
#define OPERATOR_YURTAPPDAEMON_DIAGNOSIS_H_

#include <string>
#include <unordered_map>
#include <vector>

#include "operator/yurtappdaemon/pod_facts.h"
#include "operator/yurtappdaemon/snapshot.h"

namespace yad {

// `status.pools[].state`.
inline constexpr char kDestroyState[] = "Destroy";      // it is being deleted
inline constexpr char kWaitingState[] = "Waiting";      // for an object that somebody has to make
inline constexpr char kCreatedState[] = "Created";      // its controller has not seen it yet
inline constexpr char kReadyState[] = "Ready";          // all its pods are ready, or none is wanted
inline constexpr char kErrorState[] = "Error";          // a pod failed, and none is ready
inline constexpr char kProvisionState[] = "Provision";  // it gets on
inline constexpr char kDegradedState[] = "Degraded";    // anything else

struct Diagnosis {
  std::string state;
  std::string reason;  // one of IsFaultOfPods; "": nothing is known to be wrong
  std::string message;
  bool told = false;  // by an earlier status: the message may end with why the pool has failed
};
using Diagnoses = std::unordered_map<std::string, Diagnosis>;  // by pool

// What is asked of it, beside the pods.
struct Patient {
  const WorkloadState& workload;
  bool deleting = false;
  bool gave_up = false;  // not healthy within its deadline
};

// The state where no pod was looked at.
std::string StateOf(const Patient& patient);

// `seen`: what Events say of the workload, or of a pod that waits for its containers.
Diagnosis Diagnose(const Patient& patient, const std::vector<PodFacts>& pods, const std::optional<PodFault>& seen);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_DIAGNOSIS_H_
