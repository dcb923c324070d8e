// What one reconcile looks at: the daemon, its history, the pools, the workloads, all as the caches had them at one
// moment. Plain data.
#ifndef OPERATOR_YURTAPPDAEMON_SNAPSHOT_H_
#define OPERATOR_YURTAPPDAEMON_SNAPSHOT_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "operator/api/yurtappdaemon.h"
#include "operator/base/clock.h"
#include "operator/nodepool/informers.h"
#include "operator/runtime/store.h"
#include "operator/workload/revision.h"
#include "operator/yurtappdaemon/pool_health.h"

namespace yad {

// The health of a Deployment or StatefulSet, parsed once when it arrives. Counts only for the generation that it
// belongs to.
struct WorkloadState : Projection {
  std::string pool;       // from the selector, which nobody can change; "" where it names none
  bool seen = false;      // by its controller, in whatever generation
  bool observed = false;  // status speaks of the generation that is there
  bool healthy = false;   // observed, all replicas updated, available, and no old ones left
  // A StatefulSet that replaces its pods one by one and has some of an older template. One of these that never becomes
  // ready would never be replaced.
  bool outdated_pods = false;
  bool rolling = false;  // its controller makes or replaces pods; false where it is healthy
  bool progress_deadline_exceeded = false;
  // With progress_deadline_exceeded: when the Deployment controller noticed it, by that controller's clock.
  WallTime deadline_exceeded_at;
  std::string failure_message;      // with progress_deadline_exceeded
  std::string refusal;              // of a Deployment's pods, in the apiserver's words (RefusalOfPod); "": none is
  std::string available_condition;  // "True", "False", "Unknown"
  std::int64_t wanted = 0;          // spec.replicas
  std::int64_t replicas = 0;        // status.replicas
  std::int64_t ready_replicas = 0;
  std::int64_t available_replicas = 0;
  // Replicas that are of the newest template and available, where there are no others; -1: there are pods of an older
  // template. A workload that only scales keeps as many as the smaller of both numbers of replicas.
  std::int64_t steady_replicas = -1;

  bool available() const { return observed && available_condition == "True"; }
  bool operator==(const WorkloadState& other) const;
};
// Neither reads spec.template.
std::unique_ptr<const Projection> ProjectDeployment(const Json& object);
std::unique_ptr<const Projection> ProjectStatefulSet(const Json& object);

// A ControllerRevision. The content is parsed only where it is needed.
struct RevisionProjection : Projection {
  std::int64_t number = 0;
  std::uint64_t digest_hash = 0;    // of RevisionContent::digest; 0: its data is no revision of ours
  std::uint64_t openyurt_hash = 0;  // of DigestWithoutPullPolicies, where OpenYurt wrote it; else 0
  bool has_service = false;         // it has a Service template
};
std::unique_ptr<const Projection> ProjectRevision(const Json& object);

struct Revision {
  std::string name;
  std::string hash;
  std::string label;  // what kRevisionLabel says on workloads
  std::int64_t number = 0;
  std::string failed_at;  // RFC 3339: its rollout failed; "": it did not
  std::uint64_t spelling =
      0;  // a digest of `content` where that is the spec's own text, and not the revision's; else 0
  RevisionContent content;
};
using RevisionPtr = std::shared_ptr<const Revision>;

struct PoolRef {
  std::shared_ptr<const StoredObject> object;
  const NodePool& pool() const { return static_cast<const PoolProjection*>(object->projection())->pool; }
  std::uint64_t fingerprint() const { return static_cast<const PoolProjection*>(object->projection())->fingerprint; }
};

// What ProjectDeployment and ProjectStatefulSet read.
inline const JsonParts kProjectedOfWorkloads = {
    {"metadata", {{"generation"}}},
    {"spec", {{"replicas"}, {"selector", {{"matchLabels"}}}, {"updateStrategy"}, {"podManagementPolicy"}}},
    {"status",
     {{"observedGeneration"},
      {"replicas"},
      {"readyReplicas"},
      {"availableReplicas"},
      {"updatedReplicas"},
      {"currentRevision"},
      {"updateRevision"},
      {"conditions", {{"type"}, {"status"}, {"reason"}, {"message"}, {"lastUpdateTime"}, {"lastTransitionTime"}}}}}};

struct WorkloadRef {
  ObjectPtr object;
  std::string pool;  // from the selector, else from the label
  const WorkloadState& state() const { return *static_cast<const WorkloadState*>(object->projection()); }
};
WorkloadRef MakeWorkloadRef(ObjectPtr object);

// A Service that the daemon controls.
struct ServiceRef {
  ObjectPtr object;
  std::string pool;  // from the label
};

struct Snapshot {
  YurtAppDaemon daemon;
  RevisionPtr update;                    // what the spec asks for
  RevisionPtr current;                   // the last one fully rolled out; may be null
  std::vector<RevisionPtr> revisions;    // those that workloads name, update and current included
  std::vector<PoolRef> pools;            // selected, sorted by name
  std::vector<WorkloadRef> workloads;    // controlled by the daemon, of its kind
  std::vector<WorkloadRef> orphans;      // controlled by nobody, in its namespace, labelled with a selected pool
  std::vector<ServiceRef> services;      // those that are being deleted too; empty where nobody asks for Services
  const HealthRecord* health = nullptr;  // what is known of the pools from before; null: nothing
  bool unlisted_have_soaked = false;     // `health` was restored from a truncated list, which leaves Ready pools out
  std::set<std::string> begun;  // groups that have begun on `update` with an approval, which is theirs for good
  WallTime now;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_SNAPSHOT_H_
