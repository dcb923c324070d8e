#include "plugin/commands/revisions.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/api/well_known.h"
#include "operator/workload/render.h"
#include "operator/yurtappdaemon/observe/history.h"
#include "operator/yurtappdaemon/observe/ownership.h"

namespace yad {

Result<std::vector<RevisionEntry>> ReadRevisions(ObjectReader& reader, const ObjectMeta& daemon) {
  YAD_TRY(auto objects, reader.List(kControllerRevisionType, daemon.key.ns, std::string(kOurRevisionLabel) + "=true"));
  return RevisionsAmong(std::move(objects), daemon.uid);
}

Result<std::vector<RevisionEntry>> ReadRevisions(Client& client, const Json& daemon) {
  ClusterReader objects(client);
  return ReadRevisions(objects, ParseMeta(daemon));
}

std::vector<RevisionEntry> RevisionsAmong(std::vector<Json> objects, const std::string& uid) {
  std::vector<RevisionEntry> revisions;
  for (Json& object : objects) {
    const ObjectMeta meta = ParseMeta(object);
    if (!ControlledBy(meta, uid) || meta.deleting()) continue;
    if (auto revision = ParseRevision(object)) revisions.push_back({*std::move(revision), std::move(object)});
  }
  std::sort(revisions.begin(), revisions.end(), [](const RevisionEntry& a, const RevisionEntry& b) {
    return std::pair(a.revision->number, a.revision->name) < std::pair(b.revision->number, b.revision->name);
  });
  return revisions;
}

Result<RevisionEntry> FindRevision(const std::vector<RevisionEntry>& revisions, std::int64_t number) {
  std::string known;
  for (const RevisionEntry& entry : revisions) {
    if (entry.revision->number == number) return entry;
    known += (known.empty() ? "" : ", ") + std::to_string(entry.revision->number);
  }
  return Fail(Reason::kBadRequest, "unable to find specified revision " + std::to_string(number) + " in history: " +
                                       (known.empty() ? "the history has no revisions yet" : "it has " + known));
}

RevisionPtr RevisionOf(const YurtAppDaemon& daemon, const std::vector<RevisionPtr>& known) {
  auto made = std::make_shared<Revision>();
  made->content = ContentOf(daemon);
  // SameContent ignores an imagePullPolicy that OpenYurt has added to a stored revision. So several revisions may
  // match. As in the operator, the newest revision with exactly the same content is used. Otherwise, the newest other
  // match is used.
  RevisionPtr newest;
  bool newest_is_exact = false;
  for (const RevisionPtr& revision : known) {
    made->number = std::max(made->number, revision->number);
    if (!SameContent(made->content, revision->content)) continue;
    const bool exact = revision->content.digest == made->content.digest;
    const bool better = exact == newest_is_exact ? newest == nullptr || revision->number >= newest->number : exact;
    if (!better) continue;
    newest = revision;
    newest_is_exact = exact;
  }
  if (newest != nullptr) return newest;
  ++made->number;
  const auto taken = [&] {
    return std::any_of(known.begin(), known.end(), [&](const RevisionPtr& r) { return r->name == made->name; });
  };
  std::int64_t collisions = IntAt(daemon.status, {"collisionCount"});
  do {
    made->hash = RevisionHash(made->content, collisions++);
    made->name = RevisionName(daemon.meta.key.name, made->hash);
  } while (taken());
  made->label = RevisionLabelValue(made->name, made->hash);
  return made;
}

Json SpecOf(const Revision& revision) {
  Json content = {{"workloadTemplate", {{TemplateField(revision.content.kind), revision.content.workload_template}}}};
  if (!revision.content.service_template.is_null()) content["serviceTemplate"] = revision.content.service_template;
  if (!revision.content.overrides.empty()) content["overrides"] = revision.content.overrides;
  return content;
}

}  // namespace yad
