#include "plugin/commands/changes.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "operator/api/conditions.h"
#include "operator/api/update_strategy.h"
#include "operator/api/well_known.h"
#include "operator/api/yurtappdaemon.h"
#include "operator/base/join.h"
#include "plugin/commands/daemon.h"

namespace yad {

std::vector<std::string> ManualGroups(const Json& daemon) {
  std::vector<std::string> names;
  for (const Json& group : ListAt(daemon, {"spec", "updateStrategy", "rollingUpdate", "groups"})) {
    if (StringAt(group, {"approval"}) == "Manual") names.push_back(StringAt(group, {"name"}));
  }
  return names;
}

Result<bool> Approve(const std::vector<std::string>& groups, const std::string& wanted, Json& daemon,
                     std::vector<std::string>& approved_before) {
  const std::string name = Quoted(StringAt(daemon, {"metadata", "name"}));
  const std::vector<std::string> manual = ManualGroups(daemon);
  for (const std::string& group : groups) {
    if (std::find(manual.begin(), manual.end(), group) != manual.end()) continue;
    return Fail(Reason::kBadRequest,
                name + " has no group \"" + group + "\" with approval Manual; " +
                    (manual.empty() ? "no group in spec.updateStrategy.rollingUpdate.groups has approval Manual"
                                    : "valid: " + Join(manual)));
  }
  const std::string revision = StringAt(daemon, {"status", "updateRevision"});
  if (revision.empty() || IntAt(daemon, {"status", "observedGeneration"}) < IntAt(daemon, {"metadata", "generation"})) {
    return Fail(Reason::kBadRequest, "the operator has not observed the newest spec of " + name +
                                         " yet, so the revision to approve is not known: try again in a few seconds");
  }
  if (!wanted.empty() && wanted != revision) {
    return Fail(Reason::kConflict, "the update revision of " + name + " is " + revision + ", and no longer " + wanted +
                                       ": check it (kubectl yad diff, kubectl yad history), and approve it with "
                                       "--revision=" +
                                       revision);
  }

  std::vector<std::string> kept;
  const std::string before = StringAt(daemon, {"metadata", "annotations", kApproveAnnotation});
  for (std::string& entry : ApprovalEntries(before)) {
    if (entry.starts_with(revision + "/")) kept.push_back(std::move(entry));
  }
  bool added = false;
  for (const std::string& group : groups) {
    const std::string entry = revision + "/" + group;
    if (std::find(kept.begin(), kept.end(), entry) != kept.end()) {
      approved_before.push_back(group);
    } else {
      kept.push_back(entry);
      added = true;
    }
  }
  if (!added) return false;
  Json& annotations = daemon["metadata"]["annotations"];
  if (!annotations.is_object()) annotations = Json::object();
  annotations[kApproveAnnotation] = Join(kept, ",");
  return true;
}

namespace {

bool HasStopped(const Json& daemon) {
  const Json* progressing = FindCondition(daemon, kProgressingCondition);
  return progressing != nullptr && StringAt(*progressing, {"status"}) == "False" &&
         !StringAt(daemon, {"status", "updateRevision"}).empty();  // The status of OpenYurt has no updateRevision.
}

// Returns the number of Ready pools of each revision.
std::map<std::string, int> ReadyPools(const Json& daemon) {
  std::map<std::string, int> ready;
  for (const Json& pool : ListAt(daemon, {"status", "pools"})) {
    if (StringAt(pool, {"phase"}) == "Ready") ++ready[StringAt(pool, {"revision"})];
  }
  return ready;
}

// Returns the revision to restore after failures have stopped the rollout: the revision on which most pools are Ready,
// except `spec`. If no pool is Ready, returns currentRevision. Returns nullptr if the history lacks this revision.
const RevisionEntry* TargetOfStoppedRollout(const Json& daemon, const std::vector<RevisionEntry>& revisions,
                                            const RevisionEntry* spec) {
  std::map<std::string, int> ready = ReadyPools(daemon);
  if (ready.empty()) ready[StringAt(daemon, {"status", "currentRevision"})] = 1;
  const RevisionEntry* best = nullptr;
  for (const RevisionEntry& entry : revisions) {
    const auto pools = ready.find(entry.revision->name);
    if (&entry == spec || pools == ready.end() || !entry.revision->failed_at.empty()) continue;
    if (best == nullptr || pools->second >= ready[best->revision->name]) best = &entry;
  }
  return best;
}

}  // namespace

Result<RevisionEntry> UndoTarget(const Json& daemon, const std::vector<RevisionEntry>& revisions, std::int64_t number) {
  if (number > 0) return FindRevision(revisions, number);
  const auto parsed = ParseYurtAppDaemon(daemon);
  const bool is_last =
      parsed && !revisions.empty() && SameContent(ContentOf(*parsed), revisions.back().revision->content);
  if (HasStopped(daemon)) {
    const RevisionEntry* spec = is_last ? &revisions.back() : nullptr;
    if (const RevisionEntry* target = TargetOfStoppedRollout(daemon, revisions, spec)) return *target;
  }
  const std::size_t newer = is_last ? 1 : 0;
  if (revisions.size() <= newer) {
    return Fail(Reason::kBadRequest,
                "no rollout history found for " + Quoted(StringAt(daemon, {"metadata", "name"})) +
                    ": there is no revision before " +
                    (revisions.empty() ? "this one" : "revision " + std::to_string(revisions.back().revision->number)));
  }
  const std::size_t previous = revisions.size() - 1 - newer;
  for (std::size_t i = previous + 1; i-- > 0;) {
    if (revisions[i].revision->failed_at.empty()) return revisions[i];
  }
  return revisions[previous];
}

Result<bool> RestoreRevision(const RevisionContent& revision, Json& daemon) {
  // Returns false if the spec already equals the revision. An invalid spec never equals the revision, so an undo can
  // replace it.
  if (const auto parsed = ParseYurtAppDaemon(daemon); parsed && SameContent(ContentOf(*parsed), revision)) return false;
  const char* field = TemplateField(revision.kind);
  const Json* now = Find(daemon, {"spec", "workloadTemplate", field});
  if (now == nullptr || now->is_null()) {
    return Fail(Reason::kInvalid, std::string("the revision has a ") + field +
                                      ", and the spec has none: the kind of the workloads can't be changed");
  }
  Json restored = revision.workload_template;
  const Json* selector = Find(*now, {"spec", "selector"});
  if ((selector == nullptr || selector->is_null()) && restored["spec"].is_object()) restored["spec"].erase("selector");
  if (const Json* metadata = Find(restored, {"metadata"}); metadata != nullptr && metadata->empty())
    restored.erase("metadata");
  Json& spec = daemon["spec"];
  spec["workloadTemplate"] = {{field, std::move(restored)}};
  if (revision.service_template.is_null()) {
    spec.erase("serviceTemplate");
  } else {
    spec["serviceTemplate"] = revision.service_template;
  }
  if (revision.overrides.empty()) {
    spec.erase("overrides");
  } else {
    spec["overrides"] = revision.overrides;
  }
  return true;
}

}  // namespace yad
