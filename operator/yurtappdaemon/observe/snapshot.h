// The input of one reconcile: the daemon, its history, the pools and the workloads, as the caches had them at one point
// in time. Plain data.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_SNAPSHOT_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_SNAPSHOT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/yurtappdaemon.h"
#include "operator/base/clock.h"
#include "operator/cluster/informers.h"
#include "operator/runtime/store.h"
#include "operator/workload/revision.h"
#include "operator/yurtappdaemon/observe/pool_health.h"

namespace yad {

// A condition of a workload that is not one of Kubernetes' own (Available, Progressing, ReplicaFailure).
struct CustomCondition {
  std::string type;
  std::string status;
  WallTime at;  // the time at which a client last set the condition; WallTime(): unknown

  bool operator==(const CustomCondition&) const = default;
};
inline constexpr std::size_t kMaxCustomConditions = 16;

// The health of a Deployment or StatefulSet.
struct WorkloadHealth {
  // The name of the pool in the workload's selector, which is immutable. "" if the selector does not contain a pool.
  std::string pool;
  bool seen = false;      // its controller has observed at least one of its generations
  bool observed = false;  // status describes the current generation
  bool healthy = false;   // observed, all replicas updated and available, and no old replicas remain
  // True if a StatefulSet with podManagementPolicy OrderedReady still has pods of an older template. If one of these
  // pods never becomes ready, the StatefulSet controller does not replace it.
  bool outdated_pods = false;
  bool rolling = false;  // its controller creates or replaces pods; false if it is healthy
  bool progress_deadline_exceeded = false;
  // The time at which the Deployment controller reported that the deadline was exceeded, by the clock of that
  // controller. Set only if progress_deadline_exceeded is true.
  WallTime deadline_exceeded_at;
  std::string failure_message;      // only with progress_deadline_exceeded
  bool paused = false;              // spec.paused of the Deployment
  std::string rejection;            // the apiserver's error about a Deployment's pods (RejectionOfPod); "": none
  std::string available_condition;  // "True", "False", "Unknown"
  std::vector<CustomCondition> conditions;  // at most kMaxCustomConditions
  std::int64_t wanted = 0;                  // spec.replicas
  std::int64_t replicas = 0;                // status.replicas
  std::int64_t ready_replicas = 0;
  std::int64_t available_replicas = 0;
  // The number of available replicas, or -1 if some pods have an older template.
  std::int64_t steady_replicas = -1;

  bool available() const { return observed && available_condition == "True"; }
  bool operator==(const WorkloadHealth&) const = default;
};
// The health of a workload in a cache. It is parsed once, when the object arrives.
struct WorkloadState : Projection, WorkloadHealth {};
// These functions do not read spec.template.
std::unique_ptr<const Projection> ProjectDeployment(const Json& object);
std::unique_ptr<const Projection> ProjectStatefulSet(const Json& object);
Projector ProjectorOf(WorkloadKind kind);

// A ControllerRevision. The content is parsed only on demand.
struct RevisionProjection : Projection {
  std::int64_t number = 0;
  std::uint64_t digest_hash = 0;    // hash of RevisionContent::digest; 0 if the data is not a revision of this operator
  std::uint64_t openyurt_hash = 0;  // hash of DigestWithoutPullPolicies if OpenYurt wrote the revision; otherwise 0
  bool has_service = false;         // the revision has a Service template
};
std::unique_ptr<const Projection> ProjectRevision(const Json& object);
// Returns the number that OpenYurt set in the ControllerRevision (kOpenYurtNumberAnnotation). Returns nullopt if
// OpenYurt did not write the revision, or if this operator has not raised its number.
std::optional<std::int64_t> OpenYurtNumberOf(const ObjectMeta& revision);

struct Revision {
  std::string name;
  std::string hash;
  std::string label;  // the value of kRevisionLabel on workloads
  std::int64_t number = 0;
  std::optional<std::int64_t> openyurt_number;  // OpenYurtNumberOf
  std::string failed_at;  // RFC 3339, the time at which its rollout failed; "" if the rollout has not failed
  std::string failure;    // the first pool that failed, with its reason (DescribeFailure); "": not known
  // The value of kPercentGroupsAnnotation; "" if the rollout has not begun, or has no groups with `percent`.
  std::string percent_groups;
  // A digest of `content` if RevisionHistory::UseSpecContent has replaced the stored content with the content of the
  // spec. Otherwise 0.
  std::uint64_t spec_content_digest = 0;
  RevisionContent content;

  // Returns the number that OpenYurt set in the revision, or `number` if this operator has not raised it.
  std::int64_t first_number() const { return openyurt_number.value_or(number); }
};
using RevisionPtr = std::shared_ptr<const Revision>;

struct PoolRef {
  std::shared_ptr<const StoredObject> object;
  const NodePool& pool() const { return ProjectionOf<PoolProjection>(object).pool; }
  std::uint64_t fingerprint() const { return ProjectionOf<PoolProjection>(object).fingerprint; }
};

// The fields of a workload's JSON that ProjectDeployment and ProjectStatefulSet read.
inline const JsonParts kProjectedOfWorkloads = {
    {"metadata", {{"generation"}}},
    {"spec", {{"replicas"}, {"paused"}, {"selector", {{"matchLabels"}}}, {"updateStrategy"}, {"podManagementPolicy"}}},
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
  std::string pool;  // from the selector; if the selector does not contain a pool, from the label
  const WorkloadState& state() const { return ProjectionOf<WorkloadState>(object); }
};
WorkloadRef MakeWorkloadRef(ObjectPtr object);
// Returns whether one of the workloads lacks kRenderedFromAnnotation, in which the operator records the RenderInputs.
// OpenYurt may have written this workload, so its label may refer to an outdated revision.
bool AnyWithoutRecord(const std::vector<WorkloadRef>& workloads);

// A Service that the daemon controls.
struct ServiceRef {
  ObjectPtr object;
  std::string pool;  // from the label
};

// The state of a check's Job. The cache does not keep the content of the Job.
struct CheckJobState : Projection {
  enum class State { kRunning, kComplete, kFailed };
  State state = State::kRunning;
  std::string pool;
  std::string check;
  std::string message;                  // only if the Job has failed
  Duration ran_for = Duration::zero();  // the time from the start of a failed Job to its failure; 0: unknown
};
std::unique_ptr<const Projection> ProjectCheckJob(const Json& object);

struct CheckJobRef {
  ObjectPtr object;
  const CheckJobState& state() const { return ProjectionOf<CheckJobState>(object); }
};

// A check's Job that the server did not accept.
struct RejectedJob {
  std::string message;
  bool final = false;  // true: the Job is invalid; false: the write is retried
};

// The state of a DaemonSet that pulls the images of an update. The cache does not keep the content of the DaemonSet.
struct PrefetchState : Projection {
  bool observed = false;     // status describes the current generation
  std::int64_t desired = 0;  // the number of nodes that need the images
  std::int64_t ready = 0;    // the number of nodes that have the images
  std::string digest;        // the value of kPrefetchDigestAnnotation
};
std::unique_ptr<const Projection> ProjectPrefetch(const Json& object);

struct PrefetchRef {
  ObjectPtr object;
  WallTime since{};  // the time at which the timeout begins
  const PrefetchState& state() const { return ProjectionOf<PrefetchState>(object); }
};

// A DaemonSet that would pull images, but can't be created.
struct RejectedPrefetch {
  std::string message;  // the error
  std::string digest;   // PrefetchDigest of its pods
  WallTime since{};     // the time of the first attempt, at which the timeout begins
};

// The server's support of image volumes, as far as this process knows it.
struct ImageVolumeSupport {
  enum class State { kUnknown, kKept, kDropped };
  State state = State::kUnknown;
  std::string reason;  // only for kDropped
};

// The samples of a Prometheus check in one pool.
struct CheckSamples {
  std::string check;            // the check's name
  WallTime since;               // the time at which the check began
  std::int64_t failures = 0;    // samples outside the limits
  std::int64_t conclusive = 0;  // samples with a value since the last sample without a value
  std::string message;          // describes the last sample
  // The time of the first response of Prometheus, or of the first response after an outage. WallTime() if Prometheus
  // has not responded yet.
  WallTime began{};
  int unanswered = 0;  // queries since the last response of Prometheus
  // The total time in which Prometheus did not respond. The time of an outage is added when Prometheus responds again.
  Duration outage{0};

  bool operator==(const CheckSamples&) const = default;
};

// A freeze, during which no update of a YurtAppDaemon starts.
struct Freeze {
  // The reason of the freeze, or "". If `known` is false, a message about the failed read or write, with its error.
  std::string reason;
  std::optional<WallTime> until;  // nullopt: until a user removes the freeze
  // False if the operator does not know whether updates may start, because it can't read the freeze or the Nodes, or
  // can't store the groups of the rollout. Updates then wait as in a freeze.
  bool known = true;
  // True if the groups of the rollout can't be stored. A change of replicas then waits for the update of its pool, as
  // in a pool that waits only for the updates of other pools.
  bool delays_replicas = false;
};

// Pools in maintenance, by name. A pool is in maintenance if one of its Nodes has a condition that blocks updates. The
// value describes it: "node n1: DrainInProgress".
using PoolMaintenance = std::map<std::string, std::string, std::less<>>;

struct Snapshot {
  YurtAppDaemon daemon;
  RevisionPtr update;   // the revision of the spec
  RevisionPtr current;  // the last revision that was fully rolled out; may be null
  // `update`, `current`, and the revisions that the labels of workloads refer to. If a label may be outdated, all
  // revisions of the daemon.
  std::vector<RevisionPtr> revisions;
  std::vector<PoolRef> pools;          // selected, sorted by name
  std::vector<WorkloadRef> workloads;  // the workloads of the daemon's kind that the daemon controls
  std::vector<WorkloadRef> orphans;    // workloads in the daemon's namespace that have no controller
  // The daemon's Services, including those that are being deleted. Empty if no revision of the daemon has a Service
  // template and status does not list a Service.
  std::vector<ServiceRef> services;
  std::map<std::string, CheckJobRef> check_jobs;     // by name; only if a check is a Job
  std::map<std::string, RejectedJob> rejected_jobs;  // by name
  std::map<std::string, CheckSamples> samples;       // of the checks that run, by pool
  std::string jobs_error;                            // the reason why checks of type Job can't run; "": they can run
  std::string queries_error;                         // the reason why Prometheus checks can't run; "": they can run
  bool jobs_outdated = false;  // the watch of Jobs fails, so `check_jobs` might not show that a Job has finished
  std::map<std::string, PrefetchRef> prefetches;                // by name
  std::map<std::string, RejectedPrefetch> rejected_prefetches;  // by name of the DaemonSet
  ImageVolumeSupport image_volumes;
  std::string prefetch_error;  // the reason why DaemonSets can't be read, so no update starts; "": they can be read
  const HealthRecord* health = nullptr;  // the health before this reconcile; null: unknown
  // True if `health` was restored from a truncated list in status, and the list contains all pools whose update was in
  // progress. The omitted pools then count as soaked.
  bool unlisted_have_soaked = false;
  std::optional<Freeze> freeze;  // nullopt: no freeze is in force
  PoolMaintenance maintenance;   // filled only for RollingUpdate
  std::set<std::string> begun;   // groups whose update to revision `update` has begun; their approval stays valid
  WallTime now;
};

// Returns the selected pool with this name, or nullptr.
const PoolRef* FindPool(const Snapshot& snapshot, std::string_view name);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_SNAPSHOT_H_
