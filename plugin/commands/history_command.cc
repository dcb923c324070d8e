// kubectl yad history
#include <nlohmann/json.hpp>

#include "operator/api/well_known.h"
#include "operator/workload/revision.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/daemon.h"
#include "plugin/commands/revisions.h"
#include "plugin/manifest/yaml.h"
#include "plugin/view/table.h"
#include "plugin/view/text.h"

namespace yad {
namespace {

// Shortens the value of annotation apps.openyurt.io/failure, such as "pool a: ImagePullBackOff: Back-off pulling …", to
// the pool and its reason.
std::string WithoutMessage(const std::string& failure) {
  return failure.substr(0, failure.find(": ", failure.find(": ") + 1));
}

std::string DescribeFailed(const Revision& revision, WallTime now) {
  if (revision.failed_at.empty()) return "";
  const std::string why = revision.failure.empty() ? "" : " (" + WithoutMessage(revision.failure) + ")";
  return Age(revision.failed_at, now) + " ago" + why;
}

// Returns a line of YAML with the time and the reason of the revision's failure; "" if it has not failed.
std::string FailureComment(const Revision& revision) {
  if (revision.failed_at.empty()) return "";
  const std::string why = revision.failure.empty() ? "" : " (" + revision.failure + ")";
  return "# " + Printable("failed at " + revision.failed_at + why) + "\n";
}

Table HistoryTable(const Json& daemon, const std::vector<RevisionEntry>& revisions, WallTime now) {
  Table table({"REVISION", "NAME", "AGE", "STATE", "FAILED", "CHANGE-CAUSE", "IMAGES"});
  const std::string current = StringAt(daemon, {"status", "currentRevision"});
  const std::string update = StringAt(daemon, {"status", "updateRevision"});
  for (const auto& [revision, object] : revisions) {
    std::string state = revision->name == current ? "current" : "";
    if (revision->name == update) state += state.empty() ? "update" : ",update";
    table.Add({std::to_string(revision->number), revision->name,
               Age(StringAt(object, {"metadata", "creationTimestamp"}), now), state, DescribeFailed(*revision, now),
               StringAt(object, {"metadata", "annotations", kChangeCauseAnnotation}, "<none>"),
               ImagesOf(revision->content)});
  }
  return table;
}

}  // namespace

Result<int> RunHistory(Session& session) {
  YAD_TRY(const auto daemon, GetDaemon(session));
  YAD_TRY(const auto revisions, ReadRevisions(session.client, daemon));
  std::ostream& out = session.console.out;

  // As in kubectl, the number 0 means all revisions.
  if (const std::int64_t number = session.options.revision.value_or(0); number != 0) {
    YAD_TRY(const auto found, FindRevision(revisions, number));
    if (session.options.output == OutputFormat::kName) {
      out << "controllerrevision.apps/" << found.revision->name << "\n";
    } else if (const Json content = SpecOf(*found.revision); !PrintObject(session.options, session.console, content)) {
      out << "# " << Subject(session.options.daemon) << " with revision #" << found.revision->number << "\n"
          << FailureComment(*found.revision) << ToYaml(content);
    }
    return kDone;
  }
  if (session.options.output == OutputFormat::kName) {
    for (const RevisionEntry& entry : revisions) out << "controllerrevision.apps/" << entry.revision->name << "\n";
    return kDone;
  }
  std::vector<Json> objects;
  for (const RevisionEntry& entry : revisions) objects.push_back(entry.object);
  if (PrintObject(session.options, session.console, ListOf(std::move(objects)))) return kDone;
  if (revisions.empty()) {
    session.console.err << "No rollout history found.\n";
    return kDone;
  }
  HistoryTable(daemon, revisions, session.clock.WallNow()).PrintTo(out);
  return kDone;
}

}  // namespace yad
