#include "operator/yurtappdaemon/observe/snapshot.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "operator/api/check.h"
#include "operator/api/conditions.h"
#include "operator/api/well_known.h"
#include "operator/base/number.h"
#include "operator/yurtappdaemon/observe/stable_message.h"

namespace yad {
namespace {

void ReadCustomConditions(const Json& object, WorkloadState& state) {
  constexpr std::size_t kLongestType = 316;  // the maximum length of a condition's type in Kubernetes
  for (const Json& item : ListAt(object, {"status", "conditions"})) {
    if (state.conditions.size() == kMaxCustomConditions) return;
    CustomCondition condition{StringAt(item, {"type"}), StringAt(item, {"status"}), {}};
    if (condition.type.empty() || condition.type.size() > kLongestType || condition.status.size() > kLongestType ||
        IsConditionOfControllers(condition.type))
      continue;
    condition.at = ParseTime(StringAt(item, {"lastUpdateTime"}, StringAt(item, {"lastTransitionTime"})));
    state.conditions.push_back(std::move(condition));
  }
}

void ReadCommon(const Json& object, WorkloadState& state) {
  state.pool = StringAt(object, {"spec", "selector", "matchLabels", kPoolNameLabel});
  state.seen = IntAt(object, {"status", "observedGeneration"}) > 0;
  state.observed = IntAt(object, {"status", "observedGeneration"}) >= IntAt(object, {"metadata", "generation"});
  state.wanted = IntAt(object, {"spec", "replicas"}, 1);
  state.replicas = IntAt(object, {"status", "replicas"});
  state.ready_replicas = IntAt(object, {"status", "readyReplicas"});
  state.available_replicas = IntAt(object, {"status", "availableReplicas"});
  ReadCustomConditions(object, state);
}

}  // namespace

// Evaluates a Deployment as `kubectl rollout status` does.
std::unique_ptr<const Projection> ProjectDeployment(const Json& object) {
  auto state = std::make_unique<WorkloadState>();
  ReadCommon(object, *state);
  const std::int64_t want = state->wanted;
  const std::int64_t updated = IntAt(object, {"status", "updatedReplicas"});
  state->healthy =
      state->observed && updated >= want && state->replicas <= updated && state->available_replicas >= want;
  if (state->replicas <= updated) state->steady_replicas = std::min(updated, state->available_replicas);
  if (const Json* available = FindCondition(object, "Available"))
    state->available_condition = StringAt(*available, {"status"});
  state->rolling = !state->healthy && (!state->observed || updated < want || state->replicas > updated);
  state->paused = BoolAt(object, {"spec", "paused"});
  if (const Json* progressing = FindCondition(object, "Progressing")) {
    const std::string reason = StringAt(*progressing, {"reason"});
    if (reason == "ProgressDeadlineExceeded") {
      state->progress_deadline_exceeded = state->observed && !state->healthy;
      state->deadline_exceeded_at =
          ParseTime(StringAt(*progressing, {"lastUpdateTime"}, StringAt(*progressing, {"lastTransitionTime"})));
      state->failure_message = StringAt(*progressing, {"message"});
    } else if (IsTrue(progressing) && reason != "NewReplicaSetAvailable") {
      state->rolling = !state->healthy;
    }
  }
  const Json* failure = FindCondition(object, "ReplicaFailure");
  if (IsTrue(failure) && !state->healthy) state->rejection = RejectionOfPod(StringAt(*failure, {"message"}));
  return state;
}

// Evaluates a StatefulSet as `kubectl rollout status` does. A partition or updateStrategy OnDelete keeps pods on an
// older template. These pods do not make the StatefulSet unhealthy.
std::unique_ptr<const Projection> ProjectStatefulSet(const Json& object) {
  auto state = std::make_unique<WorkloadState>();
  ReadCommon(object, *state);
  const std::int64_t want = state->wanted;
  bool updated = true;
  if (StringAt(object, {"spec", "updateStrategy", "type"}, "RollingUpdate") == "RollingUpdate") {
    const std::int64_t partition = IntAt(object, {"spec", "updateStrategy", "rollingUpdate", "partition"});
    const bool all_on_update =
        StringAt(object, {"status", "currentRevision"}) == StringAt(object, {"status", "updateRevision"});
    // If an update is undone before it has finished, currentRevision equals updateRevision although old pods remain, so
    // the pods are also counted. Pods that a scale-up still has to create are not old pods.
    const bool old_left =
        IntAt(object, {"status", "updatedReplicas"}) < std::min(want, state->replicas) - std::min(partition, want);
    // Without a partition, the update has finished only when status.currentRevision equals status.updateRevision.
    updated = (all_on_update || partition > 0) && !old_left;
    const bool in_order = StringAt(object, {"spec", "podManagementPolicy"}) != "Parallel";
    state->outdated_pods =
        state->observed && in_order && IntAt(object, {"status", "updatedReplicas"}) < state->replicas;
  }
  if (updated) state->steady_replicas = std::min(state->ready_replicas, state->available_replicas);
  state->healthy = state->observed && updated && state->replicas == want && state->ready_replicas >= want &&
                   state->available_replicas >= want;
  state->rolling = !state->healthy && (!state->observed || !updated || state->replicas != want);
  if (state->observed) state->available_condition = state->available_replicas >= want ? "True" : "False";
  return state;
}

Projector ProjectorOf(WorkloadKind kind) {
  return kind == WorkloadKind::kDeployment ? ProjectDeployment : ProjectStatefulSet;
}

std::unique_ptr<const Projection> ProjectCheckJob(const Json& object) {
  auto job = std::make_unique<CheckJobState>();
  job->pool = StringAt(object, {"metadata", "labels", kPoolNameLabel});
  job->check = StringAt(object, {"metadata", "labels", kCheckLabel});
  if (IsTrue(FindCondition(object, "Complete"))) {
    job->state = CheckJobState::State::kComplete;
  } else if (const Json* failed = FindCondition(object, "Failed"); IsTrue(failed)) {
    job->state = CheckJobState::State::kFailed;
    job->message = Cut(StringAt(*failed, {"message"}), kMaxMessage);
    const WallTime start = ParseTime(StringAt(object, {"status", "startTime"}));
    const WallTime end = ParseTime(StringAt(*failed, {"lastTransitionTime"}));
    if (start != WallTime() && end > start) job->ran_for = end - start;
  }
  return job;
}

std::unique_ptr<const Projection> ProjectPrefetch(const Json& object) {
  auto prefetch = std::make_unique<PrefetchState>();
  prefetch->observed = IntAt(object, {"status", "observedGeneration"}) >= IntAt(object, {"metadata", "generation"}, 1);
  prefetch->desired = IntAt(object, {"status", "desiredNumberScheduled"});
  prefetch->ready = IntAt(object, {"status", "numberReady"});
  prefetch->digest = StringAt(object, {"metadata", "annotations", kPrefetchDigestAnnotation});
  return prefetch;
}

std::unique_ptr<const Projection> ProjectRevision(const Json& object) {
  auto projection = std::make_unique<RevisionProjection>();
  projection->number = IntAt(object, {"revision"});
  if (const auto content = ContentOf(object)) {
    projection->digest_hash = Fnv1a64(content->digest);
    if (content->of_openyurt) projection->openyurt_hash = Fnv1a64(DigestWithoutPullPolicies(*content));
    projection->has_service = content->service_template.is_object();
  }
  return projection;
}

std::optional<std::int64_t> OpenYurtNumberOf(const ObjectMeta& revision) {
  return ParseNumber<std::int64_t>(revision.Annotation(kOpenYurtNumberAnnotation));
}

bool AnyWithoutRecord(const std::vector<WorkloadRef>& workloads) {
  return std::any_of(workloads.begin(), workloads.end(), [](const WorkloadRef& workload) {
    return workload.object->meta().Annotation(kRenderedFromAnnotation).empty();
  });
}

const PoolRef* FindPool(const Snapshot& snapshot, std::string_view name) {
  const auto at =
      std::lower_bound(snapshot.pools.begin(), snapshot.pools.end(), name,
                       [](const PoolRef& pool, std::string_view wanted) { return pool.pool().name < wanted; });
  return at != snapshot.pools.end() && at->pool().name == name ? &*at : nullptr;
}

WorkloadRef MakeWorkloadRef(ObjectPtr object) {
  std::string pool = ProjectionOf<WorkloadState>(object).pool;
  if (pool.empty()) pool = object->meta().Label(kPoolNameLabel);
  return {std::move(object), std::move(pool)};
}

}  // namespace yad
