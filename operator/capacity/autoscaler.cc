#include "operator/capacity/autoscaler.h"

#include <algorithm>
#include <set>

#include "operator/api/fields.h"
#include "operator/api/names.h"
#include "operator/api/well_known.h"

namespace yad {
namespace {

constexpr std::int64_t kMaxSeconds = 365 * 24 * 3600;
constexpr std::int64_t kMaxNodeCount = 100'000;

void CheckPool(const JsonField& field, FieldErrors& errors) {
  const std::string* pool = AsRequiredText(field, errors);
  if (pool == nullptr) return;
  if (std::string fault = CheckDns1123Subdomain(*pool); !fault.empty()) {
    errors.Add(FieldError::Invalid(field.path, *pool, fault));
  } else if (fault = CheckLabelValue(*pool); !fault.empty()) {
    errors.Add(FieldError::Invalid(
        field.path, *pool,
        "no node can belong to this pool, because the pool's name is not a valid label value: " + fault));
  }
}

void CheckInventory(const JsonField& field, FieldErrors& errors) {
  if (!field.present()) {
    errors.Add(FieldError::Required(field.path, "select the spare nodes by a label that they have"));
    return;
  }
  const std::size_t before = errors.size();
  LabelSelector::Parse(*field.value, field.path, errors);
  if (errors.size() != before) return;
  const Json* in_pool = Find(*field.value, {"matchLabels", kNodePoolLabel});
  if (in_pool != nullptr) {
    errors.Add(FieldError::Invalid(field.path + ".matchLabels", *field.value->find("matchLabels"),
                                   std::string("a node with label ") + kNodePoolLabel +
                                       " is in a pool and is not spare: select by another label"));
  }
}

void CheckLabels(const JsonField& field, FieldErrors& errors) {
  const Json* labels = AsObject(field, errors);
  if (labels == nullptr) return;
  for (const auto& [key, value] : labels->items()) {
    errors.AddIfFault(field.path, key, CheckLabelKey(key));
    const JsonField entry = field.Child(key);
    if (const std::string* text = AsText(entry, errors); text != nullptr)
      errors.AddIfFault(entry.path, *text, CheckLabelValue(*text));
  }
}

// Checks a standby's nodeSelector. It may only have matchLabels, because the status stores a shortage's node selector
// as labels.
void CheckNodeSelector(const JsonField& field, FieldErrors& errors) {
  const Json* selector = AsObject(field, errors);
  if (selector == nullptr) return;
  CheckLabels(field.Child("matchLabels"), errors);
  for (const auto& [key, value] : selector->items()) {
    if (key == "matchLabels" || value.is_null()) continue;
    errors.Add(FieldError::Forbidden(field.path + "." + key,
                                     "a standby selects nodes only by matchLabels: write nodeSelector: {matchLabels: "
                                     "{key: value}}"));
  }
}

void CheckStandby(const JsonField& field, std::optional<std::int64_t> max_nodes, FieldErrors& errors) {
  std::set<std::string> names;
  std::int64_t sum = 0;
  ForEachObject(field, errors, [&](const JsonField& entry) {
    CheckUniqueName(entry.Child("name"), CheckDns1123Label, names, errors);
    CheckNodeSelector(entry.Child("nodeSelector"), errors);
    const JsonField count = entry.Child("count");
    if (!count.present()) errors.Add(FieldError::Required(count.path));
    sum += AsInt(count, 0, kMaxNodeCount, errors).value_or(0);
  });
  if (max_nodes.value_or(0) > 0 && sum > *max_nodes) {
    errors.Add(FieldError::Invalid(field.path, *field.value,
                                   "needs " + std::to_string(sum) + " nodes, more than spec.maxNodes (" +
                                       std::to_string(*max_nodes) + ") allows: raise maxNodes or lower the counts"));
  }
}

std::vector<Shortage> ParseShortages(const Json& object) {
  std::vector<Shortage> shortages;
  for (const Json& entry : ListAt(object, {"status", "shortages"})) {
    Shortage& shortage = shortages.emplace_back();
    shortage.requirements = StringMapAt(entry, {"requirements"});
    for (const Json& pod : ListAt(entry, {"pods"})) {
      if (pod.is_string()) shortage.pods.push_back(pod.get<std::string>());
    }
    std::sort(shortage.pods.begin(), shortage.pods.end());
    shortage.reason = StringAt(entry, {"reason"});
    shortage.since = ParseTime(StringAt(entry, {"since"}));
    shortage.retry_at = ParseTime(StringAt(entry, {"retryAt"}));
  }
  return shortages;
}

std::chrono::seconds SecondsAt(const Json& spec, std::string_view block, std::string_view field,
                               std::chrono::seconds fallback) {
  return std::chrono::seconds(IntAt(spec, {block, field}, fallback.count()));
}

}  // namespace

bool Standby::Matches(const StringMap& labels) const {
  return std::all_of(node_selector.begin(), node_selector.end(),
                     [&](const auto& wanted) { return HasValue(labels, wanted.first, wanted.second); });
}

FieldErrors ValidateNodePoolAutoscaler(const Json& object) {
  FieldErrors errors;
  const JsonField spec = JsonField{&object, ""}.Child("spec");
  if (AsRequiredObject(spec, errors) == nullptr) return errors;
  CheckPool(spec.Child("nodePool"), errors);
  CheckOneOf(spec.Child("mode"), {"Auto", "Manual", "Drain"}, errors);
  CheckInventory(spec.Child("inventorySelector"), errors);
  const auto min = AsInt(spec.Child("minNodes"), 0, kMaxNodeCount, errors);
  const auto max = AsInt(spec.Child("maxNodes"), 0, kMaxNodeCount, errors);
  if (max.value_or(0) > 0 && min.value_or(0) > *max) {
    errors.Add(FieldError::Invalid("spec.minNodes", *spec.Child("minNodes").value,
                                   "must not be greater than spec.maxNodes (" + std::to_string(*max) + ")"));
  }
  AsBool(spec.Child("oneNodePerPod"), errors);
  CheckStandby(spec.Child("standby"), max, errors);
  const JsonField up = spec.Child("scaleUp");
  AsObject(up, errors);
  AsInt(up.Child("pendingSeconds"), 0, kMaxSeconds, errors);
  AsInt(up.Child("maxPerCycle"), 1, kMaxNodeCount, errors);
  AsInt(up.Child("joinTimeoutSeconds"), 1, kMaxSeconds, errors);
  AsInt(up.Child("retryAfterSeconds"), 1, kMaxSeconds, errors);
  const JsonField down = spec.Child("scaleDown");
  AsObject(down, errors);
  AsInt(down.Child("idleSeconds"), 0, kMaxSeconds, errors);
  AsInt(down.Child("unhealthySeconds"), 0, kMaxSeconds, errors);
  AsInt(down.Child("maxPerCycle"), 1, kMaxNodeCount, errors);
  CheckOneOf(down.Child("reclaimPolicy"), {"Recycle", "Quarantine"}, errors);
  return errors;
}

FieldErrors ValidateNodePoolAutoscalerUpdate(const Json& object, const Json& old_object) {
  const std::string now = StringAt(object, {"spec", "nodePool"});
  const std::string before = StringAt(old_object, {"spec", "nodePool"});
  if (before.empty() || now == before) return {};
  return {FieldError::Invalid(
      "spec.nodePool", now,
      "field is immutable: the nodes leased for \"" + before +
          "\" would have no NodePoolAutoscaler; delete this object and create one for the other pool")};
}

Result<NodePoolAutoscaler> ParseNodePoolAutoscaler(const Json& object) {
  if (const auto faults = ValidateNodePoolAutoscaler(object); !faults.empty()) return Fail(ToError(faults));
  const Json& spec = object["spec"];
  NodePoolAutoscaler parsed;
  parsed.meta = ParseMeta(object);
  parsed.node_pool = StringAt(spec, {"nodePool"});
  const std::string mode = StringAt(spec, {"mode"});
  if (mode == "Manual") parsed.mode = CapacityMode::kManual;
  if (mode == "Drain") parsed.mode = CapacityMode::kDrain;
  parsed.inventory_selector = spec["inventorySelector"];
  parsed.inventory = *LabelSelector::Parse(parsed.inventory_selector, "spec.inventorySelector");
  parsed.min_nodes = static_cast<int>(IntAt(spec, {"minNodes"}));
  parsed.max_nodes = static_cast<int>(IntAt(spec, {"maxNodes"}));
  parsed.one_node_per_pod = BoolAt(spec, {"oneNodePerPod"});
  for (const Json& entry : ListAt(spec, {"standby"})) {
    parsed.standby.push_back({StringAt(entry, {"name"}), StringMapAt(entry, {"nodeSelector", "matchLabels"}),
                              static_cast<int>(IntAt(entry, {"count"}))});
  }
  parsed.pending = SecondsAt(spec, "scaleUp", "pendingSeconds", parsed.pending);
  parsed.max_leases = static_cast<int>(IntAt(spec, {"scaleUp", "maxPerCycle"}, parsed.max_leases));
  parsed.join_timeout = SecondsAt(spec, "scaleUp", "joinTimeoutSeconds", parsed.join_timeout);
  parsed.retry_after = SecondsAt(spec, "scaleUp", "retryAfterSeconds", parsed.retry_after);
  parsed.idle = SecondsAt(spec, "scaleDown", "idleSeconds", parsed.idle);
  parsed.unhealthy = SecondsAt(spec, "scaleDown", "unhealthySeconds", parsed.unhealthy);
  parsed.max_releases = static_cast<int>(IntAt(spec, {"scaleDown", "maxPerCycle"}, parsed.max_releases));
  parsed.quarantine = StringAt(spec, {"scaleDown", "reclaimPolicy"}) == "Quarantine";
  parsed.shortages = ParseShortages(object);
  if (const Json* status = Find(object, {"status"}); status != nullptr) parsed.status = *status;
  return parsed;
}

Json ToJson(const Shortage& shortage) {
  Json json{{"requirements", shortage.requirements}, {"pods", shortage.pods}, {"reason", shortage.reason}};
  if (shortage.since != WallTime()) json["since"] = FormatTime(shortage.since);
  if (shortage.retry_at != WallTime()) json["retryAt"] = FormatTime(shortage.retry_at);
  return json;
}

}  // namespace yad
