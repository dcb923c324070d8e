// kubectl yad freeze, kubectl yad unfreeze
#include <nlohmann/json.hpp>

#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/observe/freeze.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/daemon.h"
#include "plugin/commands/operator_namespace.h"

namespace yad {
namespace {

const std::string kSubject = "configmap/" + std::string(kFreezeName);

// Updates the ConfigMap if `exists`; otherwise creates it. If another client has just deleted or created the ConfigMap,
// retries with the other kind of write.
Result<Json> Write(Client& client, const ObjectKey& key, const Json& data, bool exists) {
  const auto write = [&](bool update) {
    if (update) return client.Patch(kConfigMapType, key, PatchType::kMerge, {{"data", data}});
    Json object = {{"apiVersion", kConfigMapType.ApiVersion()},
                   {"kind", kConfigMapType.kind},
                   {"metadata", {{"name", key.name}, {"namespace", key.ns}}},
                   {"data", data}};
    if (data["until"].is_null()) object["data"].erase("until");
    return client.Create(kConfigMapType, object);
  };
  auto written = write(exists);
  const Reason raced = exists ? Reason::kNotFound : Reason::kAlreadyExists;
  if (!written && written.error().reason == raced) written = write(!exists);
  return written;
}

}  // namespace

Result<int> RunFreeze(Session& session) {
  const PluginOptions& options = session.options;
  const WallTime now = session.clock.WallNow();
  Json data = {{"reason", options.reason}, {"until", nullptr}};
  std::string end = "until `kubectl yad unfreeze" +
                    (options.operator_ns.empty() ? "" : " --operator-namespace=" + options.operator_ns) + "`";
  if (options.until) {
    data["until"] = FormatTime(*options.until);
    end = "until " + FormatTime(*options.until);
  }
  YAD_TRY(const auto ns, OperatorNamespace(session));
  const bool absent = WarnOfAbsentOperator(session);
  const ObjectKey key{ns, kFreezeName};
  const auto before = session.client.Get(kConfigMapType, key);
  if (!before && before.error().reason != Reason::kNotFound) return Fail(before.error());
  if (before && ParseMeta(*before).deleting()) {
    return Fail(Reason::kConflict,
                kSubject + " in namespace " + ns +
                    " is being deleted: try again when it is gone (its finalizers block the deletion)");
  }
  YAD_TRY(const auto written, Write(session.client, key, data, before.has_value()));
  const bool again = before && FreezeAmong({std::make_shared<StoredObject>(*before, ProjectFreeze)}, now);
  std::string what = (again ? "updated in namespace " : "frozen in namespace ") + ns +
                     ": updates of all YurtAppDaemons " + (again ? "stay frozen " : "are frozen ") + end;
  if (absent) {
    what = "written in namespace " + ns + ", where no operator was found: updates are frozen " + end +
           " only if an operator runs in this namespace";
  }
  PrintWritten(session, kSubject, written, what);
  return kDone;
}

Result<int> RunUnfreeze(Session& session) {
  YAD_TRY(const auto ns, OperatorNamespace(session));
  const bool absent = WarnOfAbsentOperator(session);
  const auto deleted = session.client.Delete(kConfigMapType, {ns, kFreezeName});
  if (!deleted && deleted.error().reason == Reason::kNotFound) {
    session.console.err << (absent ? "nothing is deleted: namespace " : "updates are not frozen: namespace ") << ns
                        << " has no " << kSubject << "\n";
    return kDone;
  }
  if (!deleted) return Fail(deleted.error());
  PrintWritten(session, kSubject, Json(),
               "deleted in namespace " + ns + (absent ? "" : ": updates of all YurtAppDaemons may start"));
  return kDone;
}

}  // namespace yad
