#include "operator/yurtappdaemon/crd_check.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "operator/api/well_known.h"
#include "operator/base/log.h"

namespace yad {
namespace {

// Everything that OpenYurt's own CRD does not have, or not in each of its versions.
constexpr const char* kFields[] = {
    "spec.workloadTemplate.statefulSetTemplate",
    "spec.nodePools",
    "spec.serviceTemplate",
    "spec.overrides",
    "spec.paused",
    "spec.updateStrategy",
    "status.updateRevision",
    "status.desiredPools",
    "status.updatedPools",
    "status.readyPools",
    "status.failedPools",
    "status.offlinePools",
    "status.replicas",
    "status.readyReplicas",
    "status.images",
    "status.pools",
    "status.poolsTruncated",
};

bool Knows(const Json& schema, const std::string& path) {
  const Json* at = &schema;
  std::istringstream names(path);
  for (std::string name; std::getline(names, name, '.');) {
    if (BoolAt(*at, {"x-kubernetes-preserve-unknown-fields"})) return true;
    at = Find(*at, {"properties", name});
    if (at == nullptr) return false;
  }
  return true;
}

std::string Join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

std::vector<std::string> FieldsMissingFrom(const Json& crd) {
  std::vector<std::string> missing;
  const Json* versions = Find(crd, {"spec", "versions"});
  if (versions == nullptr || !versions->is_array()) return missing;
  for (const Json& version : *versions) {
    if (StringAt(version, {"name"}) != kYurtAppDaemonType.version) continue;
    const Json* schema = Find(version, {"schema", "openAPIV3Schema"});
    if (schema == nullptr) continue;
    for (const char* path : kFields) {
      if (!Knows(*schema, path)) missing.push_back(path);
    }
  }
  return missing;
}

CrdCheck::CrdCheck(Client& client, EventSink& events) : client_(client), events_(events) {}

Status CrdCheck::Run(std::stop_token stop) {
  const ObjectKey key{"", kYurtAppDaemonType.resource + "." + kYurtAppDaemonType.group};
  const auto crd = client_.Get(kCrdType, key, stop);
  if (!crd) {
    // Not being allowed to look is no fault: everything else works.
    if (crd.error().reason == Reason::kForbidden || crd.error().reason == Reason::kNotFound) return {};
    return Fail(crd.error());
  }
  const std::string missing = Join(FieldsMissingFrom(*crd));
  if (missing == told_) return {};
  told_ = missing;
  if (missing.empty()) {
    log::Info("The CRD has all fields now", {{"crd", key.name}});
    return {};
  }
  log::Warn("The CRD lacks fields", {{"crd", key.name}, {"fields", missing}});
  const ObjectMeta meta = ParseMeta(*crd);
  events_.Record({kCrdType.ApiVersion(), kCrdType.kind, key, meta.uid, meta.resource_version}, EventType::kWarning,
                 "OutdatedCRD", "Check",
                 "the apiserver drops these fields, because this CRD lacks them: " + missing +
                     ". Apply the CRD that comes with this version of the operator");
  return {};
}

}  // namespace yad
