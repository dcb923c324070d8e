#include "operator/nodepool/yurt_manager.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "operator/api/well_known.h"
#include "operator/client/access_review.h"

namespace yad {
namespace {

const ObjectKey kYurtManagerWebhooks{"", "yurt-manager-validating-webhook-configuration"};
const ObjectKey kYurtManagerLease{"kube-system", "yurt-manager"};
// Before OpenYurt 1.3, yurt-app-manager managed the NodePools. The name of its webhook configuration differs between
// versions, but the name of its Lease does not.
const ObjectKey kYurtAppManagerLease{"kube-system", "yurt-app-manager"};
// A Lease that was not renewed for this long has no holder. Another replica would have acquired it much earlier.
constexpr std::chrono::minutes kLeaseIsOld{5};

struct Permission {
  const char* verb;
  const ResourceType& type;
  const char* subresource;
};
const Permission kPermissions[] = {
    {"patch", kNodeType, ""}, {"watch", kNodeType, ""}, {"watch", kPodType, ""}, {"patch", kNodePoolType, "status"}};

bool Has(const Json& rule, const char* field, std::string_view value) {
  const Json& list = ListAt(rule, {field});
  return std::any_of(list.begin(), list.end(), [&](const Json& entry) { return entry == value; });
}

bool ReviewsNodePools(const Json& configuration) {
  const Json& webhooks = ListAt(configuration, {"webhooks"});
  return std::any_of(webhooks.begin(), webhooks.end(), [](const Json& webhook) {
    const Json& rules = ListAt(webhook, {"rules"});
    return std::any_of(rules.begin(), rules.end(), [](const Json& rule) {
      return Has(rule, "apiGroups", kNodePoolType.group) && Has(rule, "resources", kNodePoolType.resource);
    });
  });
}

// Handles a failed read. If the read was forbidden, returns the reason why the nodepool controller must stay off,
// because a retry would also be forbidden. For any other error, fails with this error.
Result<std::string> WhyNotAfter(const Error& error) {
  if (error.reason != Reason::kForbidden) return Fail(error);
  return "the operator may not read whether OpenYurt's yurt-manager manages the NodePools: " + error.message;
}

bool IsRenewed(const Json& lease, SeenLease& seen, const Clock& clock) {
  const std::string renewed = StringAt(lease, {"spec", "renewTime"});
  if (renewed != seen.renewed) seen = {renewed, clock.Now(), !seen.renewed.empty()};
  if (clock.Now() >= seen.since + kLeaseIsOld) return false;
  return seen.is_live || ParseTime(renewed) + kLeaseIsOld > clock.WallNow();
}

// If the Lease is held, returns the reason why the nodepool controller must stay off. Otherwise, returns "".
Result<std::string> WhyNotBeside(Client& client, const ObjectKey& key, SeenLeases& seen, const Clock& clock,
                                 std::stop_token stop) {
  const auto lease = IfFound(client.Get(kLeaseType, key, stop));
  if (!lease) return WhyNotAfter(lease.error());
  const bool held =
      *lease && !StringAt(**lease, {"spec", "holderIdentity"}).empty() && IsRenewed(**lease, seen[key.name], clock);
  return held ? "OpenYurt's " + key.name + " runs: Lease " + key.ToString() + " is held" : std::string();
}

}  // namespace

Result<std::string> WhyNotNodePool(Client& client, SeenLeases& seen, const Clock& clock, std::stop_token stop) {
  for (const Permission& permission : kPermissions) {
    YAD_TRY(const bool granted, IsAllowed(client, permission.verb, permission.type, {}, permission.subresource, stop));
    if (!granted) {
      return std::string("the operator may not ") + permission.verb + " " + permission.type.resource +
             (*permission.subresource == '\0' ? "" : std::string("/") + permission.subresource) +
             ": enable the nodepool controller in the values of the chart, or bind a role with this permission";
    }
  }
  YAD_TRY(const std::string older, WhyNotBeside(client, kYurtAppManagerLease, seen, clock, stop));
  if (!older.empty()) return older;
  const auto webhooks = IfFound(client.Get(kValidatingConfigurationType, kYurtManagerWebhooks, stop));
  if (!webhooks) return WhyNotAfter(webhooks.error());
  if (*webhooks) {
    if (!ReviewsNodePools(**webhooks)) return std::string();
    return "OpenYurt's yurt-manager manages the NodePools: " + kValidatingConfigurationType.kind + " " +
           kYurtManagerWebhooks.name + " reviews them";
  }
  return WhyNotBeside(client, kYurtManagerLease, seen, clock, stop);
}

}  // namespace yad
