#include "operator/yurtappdaemon/snapshot.h"

#include <algorithm>
#include <tuple>

#include "operator/api/well_known.h"

namespace yad {
namespace {

// Reads a Condition of the given type from status.conditions.
const Json* FindCondition(const Json& object, std::string_view type) {
  const Json* conditions = Find(object, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return nullptr;
  for (const Json& condition : *conditions) {
    if (StringAt(condition, {"type"}) == type) return &condition;
  }
  return nullptr;
}

void ReadCommon(const Json& object, WorkloadState& state) {
  state.pool = StringAt(object, {"spec", "selector", "matchLabels", kPoolNameLabel});
  state.observed = IntAt(object, {"status", "observedGeneration"}) >= IntAt(object, {"metadata", "generation"});
  state.replicas = IntAt(object, {"status", "replicas"});
  state.ready_replicas = IntAt(object, {"status", "readyReplicas"});
  state.available_replicas = IntAt(object, {"status", "availableReplicas"});
}

std::uint64_t FingerprintOf(const NodePool& pool) {
  std::uint64_t hash = Fnv1a64(pool.type);
  for (const auto& [key, value] : pool.labels) hash = Fnv1a64(value, Fnv1a64("=", Fnv1a64(key, Fnv1a64(",", hash))));
  for (const Taint& taint : pool.taints) {
    hash = Fnv1a64(taint.effect, Fnv1a64(":", Fnv1a64(taint.key, Fnv1a64(";", hash))));
  }
  return hash;
}

auto Members(const WorkloadState& state) {
  return std::tie(state.pool, state.observed, state.healthy, state.outdated_pods, state.progress_deadline_exceeded,
                  state.failure_message, state.available_condition, state.replicas, state.ready_replicas,
                  state.available_replicas);
}

}  // namespace

bool WorkloadState::operator==(const WorkloadState& other) const { return Members(*this) == Members(other); }

std::unique_ptr<const Projection> ProjectPool(const Json& object) {
  auto projection = std::make_unique<PoolProjection>();
  projection->pool = ParseNodePool(object);
  projection->fingerprint = FingerprintOf(projection->pool);
  return projection;
}

// As `kubectl rollout status` judges a Deployment.
std::unique_ptr<const Projection> ProjectDeployment(const Json& object) {
  auto state = std::make_unique<WorkloadState>();
  ReadCommon(object, *state);
  const std::int64_t want = IntAt(object, {"spec", "replicas"}, 1);
  const std::int64_t updated = IntAt(object, {"status", "updatedReplicas"});
  state->healthy =
      state->observed && updated >= want && state->replicas <= updated && state->available_replicas >= want;
  if (const Json* available = FindCondition(object, "Available")) {
    state->available_condition = StringAt(*available, {"status"});
  }
  if (const Json* progressing = FindCondition(object, "Progressing");
      progressing != nullptr && StringAt(*progressing, {"reason"}) == "ProgressDeadlineExceeded") {
    state->progress_deadline_exceeded = state->observed && !state->healthy;
    state->failure_message = StringAt(*progressing, {"message"});
  }
  return state;
}

// As `kubectl rollout status` judges a StatefulSet; its own partition holds pods back on purpose, and OnDelete all of
// them.
std::unique_ptr<const Projection> ProjectStatefulSet(const Json& object) {
  auto state = std::make_unique<WorkloadState>();
  ReadCommon(object, *state);
  const std::int64_t want = IntAt(object, {"spec", "replicas"}, 1);
  bool updated = true;
  if (StringAt(object, {"spec", "updateStrategy", "type"}, "RollingUpdate") == "RollingUpdate") {
    const std::int64_t partition = IntAt(object, {"spec", "updateStrategy", "rollingUpdate", "partition"});
    const bool all_on_update =
        StringAt(object, {"status", "currentRevision"}) == StringAt(object, {"status", "updateRevision"});
    updated = all_on_update || IntAt(object, {"status", "updatedReplicas"}) >= want - std::min(partition, want);
    // Without a partition, equality of the two revisions is what ends an update.
    if (partition == 0) updated = all_on_update;
    const bool in_order = StringAt(object, {"spec", "podManagementPolicy"}) != "Parallel";
    state->outdated_pods =
        state->observed && in_order && IntAt(object, {"status", "updatedReplicas"}) < state->replicas;
  }
  state->healthy = state->observed && updated && state->replicas == want && state->ready_replicas >= want &&
                   state->available_replicas >= want;
  if (state->observed) state->available_condition = state->available_replicas >= want ? "True" : "False";
  return state;
}

std::unique_ptr<const Projection> ProjectRevision(const Json& object) {
  auto projection = std::make_unique<RevisionProjection>();
  projection->number = IntAt(object, {"revision"});
  if (const auto content = ContentOf(object)) {
    projection->digest_hash = Fnv1a64(content->digest);
    projection->has_service = content->service_template.is_object();
  }
  return projection;
}

WorkloadRef MakeWorkloadRef(ObjectPtr object) {
  std::string pool = static_cast<const WorkloadState*>(object->projection())->pool;
  if (pool.empty()) pool = object->meta().Label(kPoolNameLabel);
  return {std::move(object), std::move(pool)};
}

}  // namespace yad
