#include "operator/nodepool/pool_reconciler.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"
#include "operator/base/log.h"
#include "operator/base/retry_pace.h"
#include "operator/cluster/attributes.h"
#include "operator/cluster/informers.h"

namespace yad {
namespace {

constexpr Duration kStatusInterval = std::chrono::seconds(1);
constexpr Duration kTryPrunedFields = std::chrono::minutes(10);
// The shortest wait for another write of a status after the server has responded with 404.
constexpr Duration kNotFoundWait = std::chrono::seconds(10);

// Sets `pods` to 0 if the Node does not report it. ParseNode represents a missing number as the maximum of the type.
Resources OnlyReported(Resources resources) {
  if (resources.pods == std::numeric_limits<std::int64_t>::max()) resources.pods = 0;
  return resources;
}

// Returns the names of at most kMaxOtherResources resources of the lists. Chooses the first name of each list, then the
// second name of each list, and so on, so that a Node with many names does not displace the names of other Nodes.
std::set<std::string> ChooseResources(const std::vector<const Resources*>& lists) {
  std::set<std::string> names;
  bool more = true;
  for (std::size_t i = 0; more; ++i) {
    more = false;
    for (const Resources* list : lists) {
      if (i >= list->others.size()) continue;
      if (names.size() == kMaxOtherResources) return names;
      names.insert(list->others.nth(i)->first);
      more = true;
    }
  }
  return names;
}

// Returns the amounts in `all`, but of Resources::others only those in `names`.
Resources OnlyNamed(const Resources& all, const std::set<std::string>& names) {
  Resources some{all.milli_cpu, all.memory, all.ephemeral_storage, all.pods, {}};
  for (const std::string& name : names) {
    if (const std::int64_t amount = all.Get(name); amount != 0) some.others.emplace(name, amount);
  }
  return some;
}

// Returns the status `live` with the conditions Ready and Degraded from `full_status`, because the server may have
// dropped these conditions. Other conditions of `live` stay.
Json WithOwnConditions(Json live, const Json& full_status) {
  for (const char* type : {"Ready", "Degraded"}) {
    const Json* own = FindConditionIn(full_status, type);
    if (own == nullptr) continue;
    Json& list = live["conditions"];
    if (!list.is_array()) list = Json::array();
    const auto same = [&](const Json& condition) { return StringAt(condition, {"type"}) == type; };
    if (const auto kept = std::find_if(list.begin(), list.end(), same); kept != list.end()) {
      *kept = *own;
    } else {
      list.push_back(*own);
    }
  }
  return live;
}

// Returns the conditions without their observedGeneration.
Json WithoutGenerations(Json conditions) {
  for (Json& condition : conditions) {
    if (condition.is_object()) condition.erase("observedGeneration");
  }
  return conditions;
}

}  // namespace

// The state of one pool between two reconciles. If it is lost, a reconcile only does more work.
struct PoolReconciler::PoolState {
  explicit PoolState(const ObjectMeta& meta) : uid(meta.uid), metrics(meta.key.name) {}

  const std::string uid;
  PoolMetrics metrics;
  std::optional<SteadyTime> last_write;
  Json written;  // the last written status
  // OpenYurt's CRD may lack some fields of the status, and the server then drops them. In this case, `full_status` is
  // the status that was sent last, and `dropped_fields` is a patch with the fields that the server dropped. Otherwise,
  // both are null.
  Json full_status, dropped_fields;
  // The names of the fields that the server has dropped. Patches omit them until `try_pruned_at`.
  std::vector<std::string> pruned;
  // The server has dropped the field observedGeneration of the conditions. Until `try_pruned_at`, patches omit
  // conditions that differ only in this field.
  bool drops_generations = false;
  SteadyTime try_pruned_at;
  RetryPace repairs;
  std::vector<std::string> skipped;  // the attributes that were reported last

  // Returns the patch from `live` to `status`, or null if a write would change nothing on the server.
  Json PatchTo(const Json& live, const Json& status, SteadyTime now) const {
    Json patch = PoolStatusPatch(live, status);
    if (patch.is_null() || patch == dropped_fields) return nullptr;
    if (now >= try_pruned_at) return patch;
    for (const std::string& field : pruned) patch["status"].erase(field);
    if (drops_generations && WithoutGenerations(status.at("conditions")) == live.value("conditions", Json()))
      patch["status"].erase("conditions");
    return patch["status"].empty() ? Json() : patch;
  }

  // Stores the write of `status`. `answer` is the status in the server's response.
  void Remember(const Json& status, const Json& answer, SteadyTime now) {
    last_write = now;
    written = status;
    dropped_fields = PoolStatusPatch(answer, status);
    full_status = dropped_fields.is_null() ? Json() : status;
    if (now < try_pruned_at) return;
    pruned.clear();
    for (const auto& [field, value] : status.items()) {
      if (!answer.contains(field)) pruned.push_back(field);
    }
    const Json* ready = FindConditionIn(answer, "Ready");
    drops_generations = ready != nullptr && !ready->contains("observedGeneration");
    if (!pruned.empty() || drops_generations) try_pruned_at = now + kTryPrunedFields;
  }
};

PoolReconciler::PoolReconciler(Client& client, Stores stores, NodeLoads& loads, EventSink& events,
                               std::function<ResourceType()> pool_type, std::vector<std::string> csi_drivers,
                               Clock& clock)
    : client_(client),
      stores_(stores),
      loads_(loads),
      events_(events),
      pool_type_(std::move(pool_type)),
      csi_drivers_(std::move(csi_drivers)),
      clock_(clock) {}

std::shared_ptr<PoolReconciler::PoolState> PoolReconciler::StateOf(const ObjectMeta& meta) {
  return states_.With([&](auto& states) {
    auto& state = states[meta.key];
    if (state != nullptr && state->uid == meta.uid) return state;
    state.reset();  // removes the old metrics before the new pool adds its own
    state = std::make_shared<PoolState>(meta);
    return state;
  });
}

Result<std::vector<std::string>> PoolReconciler::MissingDrivers(const std::string& node) const {
  if (stores_.csi_nodes == nullptr) return std::vector<std::string>{};
  YAD_TRY(const auto csi_node, IfFound(stores_.csi_nodes->Get({"", node})));
  if (!csi_node) return csi_drivers_;
  const std::vector<std::string>& there = CsiNodeOf(*csi_node).drivers;
  std::vector<std::string> missing;
  for (const std::string& driver : csi_drivers_) {
    if (!std::binary_search(there.begin(), there.end(), driver)) missing.push_back(driver);
  }
  return missing;
}

Result<PoolSummary> PoolReconciler::Summarize(const std::string& pool) const {
  YAD_TRY(auto nodes, stores_.nodes.ByIndex(kNodesByPool, pool));
  std::sort(nodes.begin(), nodes.end(),
            [](const ObjectPtr& a, const ObjectPtr& b) { return a->meta().key.name < b->meta().key.name; });
  PoolSummary summary;
  std::vector<NodeLoad> loads(nodes.size());
  std::vector<const Resources*> lists;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = NodeOf(nodes[i]);
    const std::string& name = node.meta.key.name;
    YAD_TRY(loads[i], loads_.Of(name));
    YAD_TRY(auto drivers, MissingDrivers(name));
    summary.nodes.push_back({name, HealthOf(node, loads[i].agents_not_ready, drivers), node.ready()});
    lists.insert(lists.end(), {&node.capacity, &node.allocatable, &loads[i].requested});
  }
  const std::set<std::string> names = ChooseResources(lists);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = NodeOf(nodes[i]);
    summary.capacity.Add(OnlyNamed(node.capacity, names));
    summary.allocatable.Add(OnlyReported(OnlyNamed(node.allocatable, names)));
    summary.requested.Add(OnlyNamed(loads[i].requested, names));
  }
  return summary;
}

void PoolReconciler::ReportSkipped(const ObjectMeta& meta, const Json& pool, PoolState& state) {
  std::vector<std::string> skipped;
  AttributesOf(pool, &skipped);
  if (std::exchange(state.skipped, skipped) == skipped || skipped.empty()) return;
  log::Warn("some attributes of a NodePool are not written to its nodes",
            {{"nodepool", meta.key.name}, {"without", skipped.front()}});
  events_.Record({StringAt(pool, {"apiVersion"}), kNodePoolType.kind, meta.key, meta.uid, meta.resource_version},
                 EventType::kWarning, "AttributesLeftOut", "Sync",
                 "these attributes are not written to the nodes, because they are malformed, or reserved for "
                 "Kubernetes, the kubelet or this operator: " +
                     NameSome(skipped));
}

Result<ReconcileResult> PoolReconciler::Reconcile(const Request& request, std::stop_token stop) {
  YAD_TRY(const auto stored, IfFound(stores_.pools.Get(request)));
  if (!stored) {
    states_.With([&](auto& states) { states.erase(request); });
    written_.Forget(request);
    return ReconcileResult::Done();
  }
  const ObjectMeta& meta = (*stored)->meta();
  const std::shared_ptr<PoolState> state = StateOf(meta);
  const SteadyTime now = clock_.Now();
  // Limits how often the status is written. The requeued reconcile writes all changes of the interval.
  if (state->last_write && now < *state->last_write + kStatusInterval)
    return ReconcileResult::RequeueAfter(*state->last_write + kStatusInterval - now);

  YAD_TRY(const auto summary, Summarize(request.name));
  state->metrics.Show(summary);
  const Json object = (*stored)->Parse();
  ReportSkipped(meta, object, *state);
  const Json live = object.value("status", Json::object());
  const Json status =
      BuildPoolStatus(summary, WithOwnConditions(live, state->full_status), meta.generation, clock_.WallNow());
  Json patch = state->PatchTo(live, status, now);
  if (patch.is_null()) return ReconcileResult::Done();

  // If this process has already written the same status, another client has overwritten it.
  const bool repair = PoolStatusPatch(state->written, status).is_null();
  if (repair) {
    if (const Duration wait = state->repairs.Wait("", now); wait > Duration::zero())
      return ReconcileResult::RequeueAfter(wait);
  }
  patch["metadata"] = {{"uid", meta.uid}, {"resourceVersion", meta.resource_version}};
  std::vector<std::string> warnings;  // not logged, because OpenYurt's CRD lacks some of the fields
  const WriteOptions options{.subresource = "status", .warnings = &warnings};
  const auto written = client_.Patch(pool_type_(), meta.key, PatchType::kMerge, patch, options, stop);
  if (!written) {
    // The pool was deleted, or the server no longer serves this version. The informer notices both, and then the retry
    // does nothing or uses another version.
    if (written.error().reason == Reason::kNotFound)
      return ReconcileResult::RequeueWithBackoff(Duration::max(), kNotFoundWait);
    return Fail(written.error());
  }
  state->Remember(status, written->value("status", Json::object()), now);
  if (repair && state->repairs.Tried("", now)) {
    log::Warn(
        "another client keeps changing the status of a NodePool; the operator backs off and restores it less often",
        {{"nodepool", request.name}});
  }
  written_.Set(meta.key, ParseMeta(*written).resource_version);
  stores_.pools.Observe(std::make_shared<StoredObject>(*written, ProjectPool));
  return ReconcileResult::Done();
}

}  // namespace yad
