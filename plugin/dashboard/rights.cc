#include "plugin/dashboard/rights.h"

#include <nlohmann/json.hpp>

#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/observe/freeze.h"

namespace yad {
namespace {

Result<bool> MayI(Client& client, const char* verb, const ResourceType& type, const ObjectKey& key) {
  const Json review = {{"apiVersion", kReviewType.ApiVersion()},
                       {"kind", kReviewType.kind},
                       {"spec",
                        {{"resourceAttributes",
                          {{"verb", verb},
                           {"group", type.group},
                           {"resource", type.resource},
                           {"namespace", key.ns},
                           {"name", key.name}}}}}};
  YAD_TRY(const auto answer, client.Create(kReviewType, review));
  return BoolAt(answer, {"status", "allowed"});
}

}  // namespace

Result<Json> ReadRights(Client& client, const ObjectKey& daemon, const std::string& operator_ns) {
  bool update = false, history = false, freeze = false, unfreeze = false;
  if (!daemon.name.empty()) {
    YAD_TRY(update, MayI(client, "update", kYurtAppDaemonType, daemon));
    YAD_TRY(history, MayI(client, "list", kControllerRevisionType, {daemon.ns, ""}));
  }
  if (!operator_ns.empty()) {
    YAD_TRY(const auto read, MayI(client, "get", kConfigMapType, {operator_ns, kFreezeName}));
    YAD_TRY(const auto create, MayI(client, "create", kConfigMapType, {operator_ns, ""}));
    YAD_TRY(unfreeze, MayI(client, "delete", kConfigMapType, {operator_ns, kFreezeName}));
    freeze = read && create;
  }
  return Json{{"approve", update}, {"pause", update},  {"undo", update && history},
              {"restart", update}, {"freeze", freeze}, {"unfreeze", unfreeze}};
}

Result<Json> ReadPoolRights(Client& client, const std::string& pool, const ResourceType* type,
                            const ObjectKey& workload) {
  YAD_TRY(const auto hold, MayI(client, "patch", kNodePoolType, {"", pool}));
  bool restart = false;
  if (type != nullptr) {
    YAD_TRY(const auto list, MayI(client, "list", *type, {workload.ns, ""}));
    YAD_TRY(const auto patch, MayI(client, "patch", *type, workload));
    restart = list && patch;
  }
  return Json{{"hold", hold}, {"restart", restart}};
}

}  // namespace yad
