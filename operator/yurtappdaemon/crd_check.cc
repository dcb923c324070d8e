#include "operator/yurtappdaemon/crd_check.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/base/catch_exceptions.h"
#include "operator/base/failure_log.h"
#include "operator/base/join.h"
#include "operator/base/log.h"
#include "operator/yurtappdaemon/observe/regarding.h"

namespace yad {
namespace {

constexpr Duration kPeriod = std::chrono::minutes(10);
constexpr char kOutdatedCrdReason[] = "OutdatedCRD";

// Fields that the CRD of at least one version of OpenYurt lacks, by their parent. A parent comes before its fields,
// because an older CRD may have only some of them.
constexpr std::pair<const char*, const char*> kFields[] = {
    {"spec.workloadTemplate", "statefulSetTemplate"},
    {"spec.workloadTemplate.statefulSetTemplate", "metadata spec"},
    {"spec", "serviceTemplate nodePools paused updateStrategy overrides"},
    {"spec.serviceTemplate", "metadata spec"},
    {"spec.nodePools", "names exclude type"},
    {"spec.updateStrategy", "type rollingUpdate"},
    {"spec.updateStrategy.rollingUpdate",
     "maxUnavailable partition minReadySeconds progressDeadlineSeconds maxFailures onFailure groups windows checks "
     "prefetch"},
    {"spec.updateStrategy.rollingUpdate.groups",
     "name pools nodepoolSelector percent maxUnavailable maxFailures approval"},
    {"spec.updateStrategy.rollingUpdate.windows", "days start duration timeZone"},
    {"spec.updateStrategy.rollingUpdate.checks", "name job condition prometheus timeoutSeconds dryRun"},
    {"spec.updateStrategy.rollingUpdate.checks.job", "spec"},
    {"spec.updateStrategy.rollingUpdate.checks.condition", "type status"},
    {"spec.updateStrategy.rollingUpdate.checks.prometheus",
     "query max min compare intervalSeconds durationSeconds failureLimit"},
    {"spec.updateStrategy.rollingUpdate.checks.prometheus.compare", "query maxRatio"},
    {"spec.updateStrategy.rollingUpdate.prefetch", "ahead timeoutSeconds onTimeout"},
    {"spec.overrides", "pools nodepoolSelector replicas images patch jsonPatches"},
    {"spec.overrides.images", "name image"},
    {"spec.overrides.jsonPatches", "op path from value"},
    {"status",
     "updateRevision completedRevision begunGroups desiredPools updatedPools readyPools failedPools offlinePools "
     "replicas readyReplicas images workloadSummary pools poolsTruncated"},
    {"status.workloadSummary", "workloadName availableCondition replicas readyReplicas"},
    {"status.pools",
     "name workload revision service phase waitingFor state replicas readyReplicas misplacedReplicas reason message "
     "lastTransitionTime unhealthySeconds scaledFrom healthySince check checkStartedAt checkFailures joining"},
    {"status.conditions", "observedGeneration"},
};

// Returns whether the schema has the field. After a field that is a list, the path continues in the schema of the list
// entries.
bool HasField(const Json& schema, const std::string& path) {
  const Json* at = &schema;
  std::istringstream names(path);
  for (std::string name; std::getline(names, name, '.');) {
    if (BoolAt(*at, {"x-kubernetes-preserve-unknown-fields"})) return true;
    if (const Json* entry = Find(*at, {"items"})) at = entry;
    if (BoolAt(*at, {"x-kubernetes-preserve-unknown-fields"})) return true;
    at = Find(*at, {"properties", name});
    if (at == nullptr) return false;
  }
  return true;
}

ObjectKey CrdKey() { return {"", kYurtAppDaemonType.resource + "." + kYurtAppDaemonType.group}; }

bool IsFieldOf(const std::string& path, const std::string& parent) { return path.starts_with(parent + "."); }

}  // namespace

std::vector<std::string> FieldsMissingFrom(const Json& crd) {
  std::vector<std::string> missing;
  for (const Json& version : ListAt(crd, {"spec", "versions"})) {
    if (StringAt(version, {"name"}) != kYurtAppDaemonType.version) continue;
    const Json* schema = Find(version, {"schema", "openAPIV3Schema"});
    if (schema == nullptr) continue;
    for (const auto& [parent, fields] : kFields) {
      std::istringstream names(fields);
      for (std::string name; names >> name;) {
        const std::string path = std::string(parent) + "." + name;
        const bool is_inside = std::any_of(missing.begin(), missing.end(),
                                           [&](const std::string& outer) { return IsFieldOf(path, outer); });
        if (!is_inside && !HasField(*schema, path)) missing.push_back(path);
      }
    }
  }
  return missing;
}

Status ConfirmSpecIsComplete(Client& client, EventSink& events, const StoredObject& stored, const Json& daemon,
                             KnownSpec& known, std::stop_token stop) {
  const std::int64_t generation = stored.meta().generation;
  if (known.generation == generation && known.object_digest == stored.digest()) return {};
  const Json* content = Find(daemon, {"spec"});
  const std::uint64_t spec = content == nullptr ? 0 : Fnv1a64(DumpJson(*content));
  if (known.generation == generation && known.spec_digest != spec) {
    const bool is_first = known.dropped.empty();
    if (is_first) {
      const auto crd = client.Get(kCrdType, CrdKey(), stop);
      // If the operator lacks the permission to read the CRD, it assumes that the CRD is complete.
      if (!crd && crd.error().reason != Reason::kForbidden) return Fail(crd.error());
      std::vector<std::string> missing;
      if (crd) missing = FieldsMissingFrom(*crd);
      std::erase_if(missing, [](const std::string& field) { return !IsFieldOf(field, "spec"); });
      known.dropped = Join(missing);
    }
    if (!known.dropped.empty()) {
      const std::string message =
          "the apiserver has dropped a part of the spec, because an older CRD lacks these fields: " + known.dropped +
          ". The operator changes nothing of this YurtAppDaemon. Apply the CRD that comes with this version of the "
          "operator, and then the YurtAppDaemon";
      if (is_first) events.Record(Regarding(stored.meta()), EventType::kWarning, kOutdatedCrdReason, "Check", message);
      return Fail(Reason::kUnknown, message);
    }
  }
  known = {generation, stored.digest(), spec, ""};
  return {};
}

Status CrdCheck::Run(std::stop_token stop) {
  FailureLog failures("cannot check the CRD; trying again", "the check of the CRD works again");
  do {
    const Status checked = CatchExceptions([&] { return Check(stop); });
    if (stop.stop_requested()) break;
    failures.Report(checked);
  } while (clock_.Sleep(kPeriod, stop));
  return {};
}

Status CrdCheck::Check(std::stop_token stop) {
  const ObjectKey key = CrdKey();
  const auto crd = client_.Get(kCrdType, key, stop);
  if (!crd) {
    // The operator works without this check, so it does not need the permission to read the CRD.
    if (crd.error().reason == Reason::kForbidden || crd.error().reason == Reason::kNotFound) return {};
    return Fail(crd.error());
  }
  const std::string missing = Join(FieldsMissingFrom(*crd));
  const std::optional<std::string> before = missing_->With([&](auto& known) { return std::exchange(known, missing); });
  if (missing == before) return {};
  if (changed_ && (before || !missing.empty())) changed_();
  if (missing.empty()) {
    if (before) log::Info("The CRD has all fields now", {{"crd", key.name}});
    return {};
  }
  log::Warn("The CRD lacks fields", {{"crd", key.name}, {"fields", missing}});
  const ObjectMeta meta = ParseMeta(*crd);
  events_.Record({kCrdType.ApiVersion(), kCrdType.kind, key, meta.uid, meta.resource_version}, EventType::kWarning,
                 kOutdatedCrdReason, "Check",
                 "the apiserver drops these fields, because this CRD lacks them: " + missing +
                     ". Apply the CRD that comes with this version of the operator");
  return {};
}

}  // namespace yad
