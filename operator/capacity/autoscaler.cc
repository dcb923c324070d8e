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

std::string ReadPool(const JsonField& field, FieldErrors& errors) {
  const std::string* pool = AsRequiredText(field, errors);
  if (pool == nullptr) return "";
  if (std::string fault = CheckDns1123Subdomain(*pool); !fault.empty()) {
    errors.Add(FieldError::Invalid(field.path, *pool, fault));
  } else if (fault = CheckLabelValue(*pool); !fault.empty()) {
    errors.Add(FieldError::Invalid(
        field.path, *pool,
        "no node can belong to this pool, because the pool's name is not a valid label value: " + fault));
  }
  return *pool;
}

LabelSelector ReadInventory(const JsonField& field, FieldErrors& errors) {
  if (!field.present()) {
    errors.Add(FieldError::Required(field.path, "select the spare nodes by a label that they have"));
    return {};
  }
  const std::size_t before = errors.size();
  LabelSelector inventory = LabelSelector::Parse(*field.value, field.path, errors);
  if (errors.size() != before) return inventory;
  const Json* in_pool = Find(*field.value, {"matchLabels", kNodePoolLabel});
  if (in_pool != nullptr) {
    errors.Add(FieldError::Invalid(field.path + ".matchLabels", *field.value->find("matchLabels"),
                                   std::string("a node with label ") + kNodePoolLabel +
                                       " is in a pool and is not spare: select by another label"));
  }
  return inventory;
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

std::vector<Standby> ReadStandby(const JsonField& field, int max_nodes, FieldErrors& errors) {
  std::vector<Standby> standby;
  std::set<std::string> names;
  std::int64_t sum = 0;
  ForEachObject(field, errors, [&](const JsonField& entry) {
    Standby& one = standby.emplace_back();
    one.name = CheckUniqueName(entry.Child("name"), CheckDns1123Label, names, errors);
    CheckNodeSelector(entry.Child("nodeSelector"), errors);
    one.node_selector = StringMapAt(*entry.value, {"nodeSelector", "matchLabels"});
    const JsonField count = entry.Child("count");
    if (!count.present()) errors.Add(FieldError::Required(count.path));
    one.count = static_cast<int>(AsInt(count, 0, kMaxNodeCount, errors).value_or(0));
    sum += one.count;
  });
  if (max_nodes > 0 && sum > max_nodes) {
    errors.Add(FieldError::Invalid(field.path, *field.value,
                                   "needs " + std::to_string(sum) + " nodes, more than spec.maxNodes (" +
                                       std::to_string(max_nodes) + ") allows: raise maxNodes or lower the counts"));
  }
  return standby;
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

// Reads the spec, and adds an error for each invalid value. The result is usable only if no error was added. Absent
// fields are set to their defaults.
NodePoolAutoscaler ReadSpec(const Json& object, FieldErrors& errors) {
  NodePoolAutoscaler read;
  const JsonField spec = JsonField{&object, ""}.Child("spec");
  if (AsRequiredObject(spec, errors) == nullptr) return read;
  const auto count = [&](const JsonField& field, std::int64_t least, int& value) {
    value = static_cast<int>(AsInt(field, least, kMaxNodeCount, errors).value_or(value));
  };
  const auto seconds = [&](const JsonField& field, std::int64_t least, std::chrono::seconds& value) {
    value = std::chrono::seconds(AsInt(field, least, kMaxSeconds, errors).value_or(value.count()));
  };
  read.node_pool = ReadPool(spec.Child("nodePool"), errors);
  const std::string mode = CheckOneOf(spec.Child("mode"), {"Auto", "Manual", "Drain"}, errors);
  if (mode == "Manual") read.mode = CapacityMode::kManual;
  if (mode == "Drain") read.mode = CapacityMode::kDrain;
  read.inventory = ReadInventory(spec.Child("inventorySelector"), errors);
  count(spec.Child("minNodes"), 0, read.min_nodes);
  count(spec.Child("maxNodes"), 0, read.max_nodes);
  if (read.max_nodes > 0 && read.min_nodes > read.max_nodes) {
    errors.Add(FieldError::Invalid("spec.minNodes", read.min_nodes,
                                   "must not be greater than spec.maxNodes (" + std::to_string(read.max_nodes) + ")"));
  }
  read.one_node_per_pod = AsBool(spec.Child("oneNodePerPod"), errors).value_or(false);
  read.standby = ReadStandby(spec.Child("standby"), read.max_nodes, errors);
  const JsonField up = spec.Child("scaleUp");
  AsObject(up, errors);
  seconds(up.Child("pendingSeconds"), 0, read.pending);
  count(up.Child("maxPerCycle"), 1, read.max_leases);
  seconds(up.Child("joinTimeoutSeconds"), 1, read.join_timeout);
  seconds(up.Child("retryAfterSeconds"), 1, read.retry_after);
  const JsonField down = spec.Child("scaleDown");
  AsObject(down, errors);
  seconds(down.Child("idleSeconds"), 0, read.idle);
  seconds(down.Child("unhealthySeconds"), 0, read.unhealthy);
  count(down.Child("maxPerCycle"), 1, read.max_releases);
  read.quarantine = CheckOneOf(down.Child("reclaimPolicy"), {"Recycle", "Quarantine"}, errors) == "Quarantine";
  return read;
}

}  // namespace

bool Standby::Matches(const StringMap& labels) const {
  return std::all_of(node_selector.begin(), node_selector.end(),
                     [&](const auto& wanted) { return HasValue(labels, wanted.first, wanted.second); });
}

FieldErrors ValidateNodePoolAutoscaler(const Json& object) {
  FieldErrors errors;
  ReadSpec(object, errors);
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
  FieldErrors errors;
  NodePoolAutoscaler parsed = ReadSpec(object, errors);
  if (!errors.empty()) return Fail(ToError(errors));
  parsed.meta = ParseMeta(object);
  parsed.inventory_selector = object["spec"]["inventorySelector"];
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
