#include "plugin/commands/undo.h"

#include <nlohmann/json.hpp>

#include "operator/api/yurtappdaemon.h"
#include "plugin/commands/daemon.h"

namespace yad {

Result<RevisionEntry> UndoTarget(const Json& daemon, const std::vector<RevisionEntry>& revisions, std::int64_t number) {
  if (number > 0) return FindRevision(revisions, number);
  const auto parsed = ParseYurtAppDaemon(daemon);
  const bool is_last =
      !revisions.empty() && parsed && SameContent(ContentOf(*parsed), revisions.back().revision->content);
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
