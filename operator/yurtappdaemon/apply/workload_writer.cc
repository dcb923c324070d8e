#include "operator/yurtappdaemon/apply/workload_writer.h"

#include <memory>
#include <string>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/observe/live_daemon.h"
#include "operator/yurtappdaemon/observe/ownership.h"
#include "operator/yurtappdaemon/plan/merge_changes.h"

namespace yad {
namespace {

constexpr int kConflictAttempts = 4;

// Returns whether both objects were rendered from the same revision with the same inputs. Otherwise, a merge would keep
// values that only one of the rendered workloads has.
bool SameOrigin(const ObjectMeta& a, const ObjectMeta& b) {
  return a.Label(kRevisionLabel) == b.Label(kRevisionLabel) &&
         a.Annotation(kRenderedFromAnnotation) == b.Annotation(kRenderedFromAnnotation);
}

// Returns an error if the plan no longer applies to the workload. `was` is the workload's metadata in the plan, and
// `now` is its metadata on the server.
Status IsAsPlanned(const ObjectMeta& was, const ObjectMeta& now, const YurtAppDaemon& daemon) {
  const std::string name = was.key.ToString();
  if (now.uid != was.uid || now.deleting())
    return Fail(Reason::kConflict, name + " was deleted or replaced after it was read");
  if (now.controller() != nullptr && !ControlledBy(now, daemon.meta.uid))
    return NameConflictError(TypeOf(daemon.kind), was.key.name, "is controlled by " + ControllerOf(now));
  if (now.controller() == nullptr && was.controller() != nullptr)
    return Fail(Reason::kConflict, "the owner reference of " + name + " was removed after it was read");
  if (!SameOrigin(now, was))
    return Fail(Reason::kConflict, name + " was updated to another revision after it was read");
  return {};
}

// Returns whether the managedFields show that only `manager` has written the pod template, the revision label, and the
// annotation with the RenderInputs. If OpenYurt created the workload (`of_openyurt`), OpenYurt's controller may also
// have written them. The name of its program is yurt-manager; before OpenYurt 1.3, it was yurt-app-manager.
bool IsOnlyManagerOfTemplate(const std::string& manager, bool of_openyurt, const Json& workload) {
  static const std::string& label = *new std::string(std::string("f:") + kRevisionLabel);
  static const std::string& inputs = *new std::string(std::string("f:") + kRenderedFromAnnotation);
  bool has_written = false;
  for (const Json& entry : ListAt(workload, {"metadata", "managedFields"})) {
    const bool owns_template = Find(entry, {"fieldsV1", "f:spec", "f:template"}) != nullptr;
    const bool owns_origin = Find(entry, {"fieldsV1", "f:metadata", "f:labels", label}) != nullptr ||
                             Find(entry, {"fieldsV1", "f:metadata", "f:annotations", inputs}) != nullptr;
    const std::string name = StringAt(entry, {"manager"});
    const bool is_openyurt = of_openyurt && (name == "yurt-manager" || name == "yurt-app-manager");
    if ((owns_template || owns_origin) && name != manager && !is_openyurt) return false;
    has_written = has_written || owns_template;
  }
  return has_written;
}

// Returns whether the repair changes the pod template, and only replaces values there, without adding or removing
// values. Ignores changes outside of the template.
bool OnlyReplacesInTemplate(const Json& live, const Json& repaired) {
  Json outside = live;
  KeepPodTemplate(repaired, outside);
  const MergeChanges changes = ChangesOfMerge(live, outside);
  return !changes.at.empty() && changes.only_replaces_in_template;
}

// Returns the workload on the server if the repair must not write the pod template, and nullopt otherwise. `live` is
// the workload in the cache, and `repaired` is the object to write.
//
// The repair must not write the template if both of these are true:
// - In the pod template, the repair only replaces values.
// - managedFields show that no other client has changed this template.
//
// An admission webhook has then changed the last write of the operator, or of OpenYurt. The PlanMemo of a new process
// does not contain this difference. If the webhook no longer changes the write, the repair would restart the pods of
// all pools.
Result<std::optional<Json>> FindNotKept(Client& client, const YurtAppDaemon& daemon, const PoolPlan& plan,
                                        const Json& live, const Json& repaired, std::stop_token stop) {
  if (!OnlyReplacesInTemplate(live, repaired)) return std::nullopt;
  const ObjectMeta& meta = plan.workload->object->meta();
  YAD_TRY(const JsonDocument document, client.GetAsDocument(TypeOf(daemon.kind), meta.key, stop));
  Json now = document.TreeOfObject();
  YAD_TRY_VOID(IsAsPlanned(meta, ParseMeta(now), daemon));
  const bool of_openyurt = plan.from.inputs.rules == 0;
  if (!IsOnlyManagerOfTemplate(client.field_manager(), of_openyurt, document.Tree())) return std::nullopt;
  YAD_TRY(const Json again, MergedWorkload(daemon, plan, now));  // The object may be newer than `live`.
  if (again != now && !OnlyReplacesInTemplate(now, again)) return std::nullopt;
  return now;
}

// Returns the existing workload with this name, which the caches might not show because it lacks the label of its pool.
// Restores the label. Fails with kNotFound if no workload has the name, and with kAlreadyExists if the workload does
// not belong to the pool of this daemon.
Result<WrittenWorkload> Reclaim(Client& client, const YurtAppDaemon& daemon, const PoolPlan& plan,
                                const std::string& name, std::stop_token stop) {
  const ResourceType& type = TypeOf(daemon.kind);
  YAD_TRY(const auto existing, client.Get(type, {daemon.meta.key.ns, name}, stop));
  const ObjectMeta meta = ParseMeta(existing);
  if (!ControlledBy(meta, daemon.meta.uid))
    return NameConflictError(type, name, "is controlled by " + ControllerOf(meta));
  const std::string pool = StringAt(existing, {"spec", "selector", "matchLabels", kPoolNameLabel});
  if (pool != plan.pool) return NameConflictError(type, name, "selects the pods of pool \"" + pool + "\"");
  if (meta.deleting()) return Fail(Reason::kConflict, name + " is still being deleted");
  if (meta.Label(kPoolNameLabel) == plan.pool)
    return WrittenWorkload{StoredWorkload(daemon.kind, existing), WorkloadAction::kNone, /*reclaimed=*/true};
  const Json patch = {
      {"metadata",
       {{"uid", meta.uid}, {"resourceVersion", meta.resource_version}, {"labels", {{kPoolNameLabel, plan.pool}}}}}};
  YAD_TRY(const auto patched, client.Patch(type, meta.key, PatchType::kMerge, patch, {}, stop));
  return WrittenWorkload{StoredWorkload(daemon.kind, patched), WorkloadAction::kRepair, /*reclaimed=*/true};
}

}  // namespace

ObjectPtr StoredWorkload(WorkloadKind kind, const Json& object) {
  return std::make_shared<StoredObject>(object, ProjectorOf(kind));
}

ObjectPtr StoredWorkload(WorkloadKind kind, const JsonDocument& object) {
  const Json part = object.TreeOfObject(kProjectedOfWorkloads);
  return std::make_shared<StoredObject>(ParseMeta(object), part, object, ProjectorOf(kind), KeptParts{.status = false});
}

Result<WrittenWorkload> UpdateWorkload(Client& client, const YurtAppDaemon& daemon, const PoolPlan& plan,
                                       std::stop_token stop) {
  const ResourceType& type = TypeOf(daemon.kind);
  const ObjectMeta& meta = plan.workload->object->meta();
  if (plan.to.revision != nullptr && plan.workload->state().pool.empty()) {
    return Fail(Reason::kInvalid, meta.key.name + " has no label " + kPoolNameLabel +
                                      " in its selector, which is immutable: delete the workload. The operator then "
                                      "creates another one");
  }
  WriteOptions options;
  // If the inputs change, the caller has just read the pool. A wait would make this read outdated.
  options.skips_rate_limit = ChangesRenderInputs(plan);
  if (meta.controller() == nullptr) {
    // The daemon may be in deletion with --cascade=orphan. The operator must not adopt the workload again, because
    // Kubernetes would then delete it together with the daemon.
    YAD_TRY_VOID(ConfirmDaemon(client, daemon.meta, stop));
    options.skips_rate_limit = true;
  }
  const bool repairs = plan.action == WorkloadAction::kRepair;
  Json live = plan.workload->object->Parse();
  for (int attempt = 1;; ++attempt) {
    Json before = attempt > 1 || repairs ? live : Json();
    YAD_TRY(Json merged, MergedWorkload(daemon, plan, std::move(live)));
    if (repairs) {
      YAD_TRY(auto not_kept, FindNotKept(client, daemon, plan, before, merged, stop));
      if (not_kept) {
        before = *std::move(not_kept);
        YAD_TRY(merged, MergedWorkload(daemon, plan, before));
        KeepPodTemplate(before, merged);
      }
    }
    if (merged == before) return WrittenWorkload{StoredWorkload(daemon.kind, before)};
    const auto updated = client.UpdateAsDocument(type, merged, options, stop);
    if (updated) return WrittenWorkload{StoredWorkload(daemon.kind, *updated), plan.action};
    if (updated.error().reason != Reason::kConflict || attempt == kConflictAttempts) return Fail(updated.error());
    // Conflicts are common, because the workload's controller often writes its status. Merges again into the current
    // object.
    YAD_TRY(live, client.Get(type, meta.key, stop));
    YAD_TRY_VOID(IsAsPlanned(meta, ParseMeta(live), daemon));
  }
}

Result<WrittenWorkload> CreateWorkload(Client& client, const YurtAppDaemon& daemon, const PoolPlan& plan,
                                       const std::string& remembered, std::stop_token stop) {
  YAD_TRY(const auto wanted, NewWorkload(daemon, plan));
  const std::string name = StringAt(wanted, {"metadata", "name"});
  // The pool may already have a workload that the caches do not show. If the workload has the current name, the POST
  // below fails. Another name is known from status, but status lists at most 500 pools. So the name from older versions
  // of the operator is also tried.
  const std::string old_name = NameOfOlderVersion(daemon.meta.key.name, daemon.meta.uid, plan.pool, daemon.kind);
  for (const std::string& known : {remembered, remembered == old_name ? std::string() : old_name}) {
    if (known.empty() || known == name) continue;
    auto reclaimed = Reclaim(client, daemon, plan, known, stop);
    const bool is_missing = !reclaimed && (reclaimed.error().reason == Reason::kNotFound ||
                                           reclaimed.error().reason == Reason::kAlreadyExists);
    if (!is_missing) return reclaimed;
  }
  const auto created = client.CreateAsDocument(TypeOf(daemon.kind), wanted, {}, stop);
  if (created) return WrittenWorkload{StoredWorkload(daemon.kind, *created), WorkloadAction::kCreate};
  if (created.error().reason != Reason::kAlreadyExists) return Fail(created.error());
  auto reclaimed = Reclaim(client, daemon, plan, name, stop);
  if (!reclaimed && reclaimed.error().reason == Reason::kNotFound)
    return Fail(Reason::kConflict, name + " was created, and deleted before it could be read");
  return reclaimed;
}

}  // namespace yad
