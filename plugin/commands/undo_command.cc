// kubectl yad undo
#include <nlohmann/json.hpp>

#include "plugin/commands/changes.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/daemon.h"
#include "plugin/commands/revisions.h"

namespace yad {
namespace {

bool HasServiceTemplate(const Json& daemon) {
  const Json* service = Find(daemon, {"spec", "serviceTemplate"});
  return service != nullptr && !service->is_null();
}

}  // namespace

Result<int> RunUndo(Session& session) {
  YAD_TRY(const auto daemon, GetDaemon(session));
  YAD_TRY(const auto revisions, ReadRevisions(session.client, daemon));
  YAD_TRY(const auto wanted, UndoTarget(daemon, revisions, session.options.revision.value_or(0)));

  const DryRun dry_run = session.options.dry_run;
  const auto put_back = [&](Json& object) { return RestoreRevision(wanted.revision->content, object); };
  Json after;
  if (dry_run == DryRun::kClient) {
    after = daemon;
    YAD_TRY(const auto changed, put_back(after));
    if (!changed) after = nullptr;
  } else {
    YAD_TRY(after, EditDaemon(session, daemon, dry_run == DryRun::kServer, put_back));
  }
  const std::string number = std::to_string(wanted.revision->number);
  if (!after.is_null() && HasServiceTemplate(daemon) && !HasServiceTemplate(after)) {
    session.console.Warn("this undo removes spec.serviceTemplate, because revision " + number +
                         " has none: the operator then deletes the Services of the pools");
  }
  std::string what = after.is_null() ? "skipped rollback (current template already matches revision " + number + ")"
                                     : "rolled back to revision " + number + " (" + wanted.revision->name + ")";
  if (dry_run == DryRun::kClient) what += " (dry run)";
  if (dry_run == DryRun::kServer) what += " (server dry run)";
  PrintWritten(session, after.is_null() ? daemon : after, what);
  return kDone;
}

}  // namespace yad
