#include "plugin/commands/capacity_snapshot.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "operator/api/well_known.h"
#include "operator/base/join.h"
#include "operator/capacity/capacity_plan.h"
#include "operator/cluster/attributes.h"
#include "plugin/manifest/manifest.h"

namespace yad {
namespace {

constexpr std::size_t kMostNotes = 20;

std::string ObjectName(const Json& object) { return StringAt(object, {"metadata", "name"}); }

std::string QuotedNames(const std::vector<Json>& objects) {
  std::vector<std::string> names;
  for (const Json& object : objects) names.push_back("\"" + ObjectName(object) + "\"");
  return Join(names);
}

using FieldPath = std::vector<std::string>;
constexpr char kMembers[] = "*";   // in a path: each member of an object
constexpr char kEntries[] = "[]";  // in a path: each entry of a list

// The fields that must be strings.
const std::vector<FieldPath> kTextFields{
    {"metadata", "name"},
    {"metadata", "namespace"},
    {"metadata", "uid"},
    {"metadata", "labels", kMembers},
    {"metadata", "annotations", kMembers},
    {"spec", "nodeName"},
    {"spec", "nodeSelector", kMembers},
    {"spec", "taints", kEntries, "value"},
    {"spec", "tolerations", kEntries, "value"},
    {"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms",
     kEntries, kMembers, kEntries, "values", kEntries}};

// Calls `each` with each value at the path, and with its name, such as "spec.taints[].value".
void ForEachAt(Json& value, std::span<const std::string> path, const std::string& name,
               const std::function<void(Json& value, const std::string& name)>& each) {
  if (path.empty()) return each(value, name);
  const std::string& part = path.front();
  const auto rest = path.subspan(1);
  const auto member_name = [&](const std::string& key) { return name.empty() ? key : name + "." + key; };
  if (part == kEntries && value.is_array()) {
    for (Json& entry : value) ForEachAt(entry, rest, name + part, each);
  } else if (part == kMembers && value.is_object()) {
    for (auto& [key, member] : value.items()) ForEachAt(member, rest, member_name(key), each);
  } else if (value.is_object() && value.contains(part)) {
    ForEachAt(value[part], rest, member_name(part), each);
  }
}

// Converts numbers and booleans to strings in fields that must be strings. They occur if users forget the quotes in
// YAML. Adds a note for each of them. `what` is the name of the object in the notes.
void ConvertTexts(Json& object, const std::string& what, std::vector<std::string>& notes) {
  for (const FieldPath& path : kTextFields) {
    ForEachAt(object, path, "", [&](Json& value, const std::string& name) {
      if (!value.is_number() && !value.is_boolean()) return;
      value = value.dump();
      notes.push_back(what + ": " + (name.starts_with("spec.affinity.") ? "spec.affinity…values[]" : name) +
                      " is not a string, and is read as \"" + value.get<std::string>() + "\": put it in quotes");
    });
  }
  ForEachAt(object, FieldPath{"status", "conditions", kEntries, "status"}, "", [](Json& status, const std::string&) {
    if (status.is_boolean()) status = status.get<bool>() ? "True" : "False";
  });
}

class Maker {
 public:
  Maker(const std::string& source, const std::string& ns) : source_(source), ns_(ns) {}

  Result<CapacitySnapshot> Make(std::vector<Json> objects) {
    for (std::size_t i = 0; i < objects.size(); ++i) YAD_TRY_VOID(Take(std::move(objects[i]), i + 1));
    YAD_TRY_VOID(TakeAutoscaler());
    for (const Json& pool : pools_) {
      if (ObjectName(pool) == made_.autoscaler.node_pool) TakePool(pool);
    }
    if (made_.notes.size() > kMostNotes) {
      const std::size_t more = made_.notes.size() - kMostNotes;
      made_.notes.resize(kMostNotes);
      made_.notes.push_back("and " + std::to_string(more) + " more notes");
    }
    return std::move(made_);
  }

 private:
  Status Take(Json object, std::size_t number) {
    const std::string kind = StringAt(object, {"kind"});
    const std::string name = ObjectName(object);
    ConvertTexts(object, kind + " " + (name.empty() ? std::to_string(number) : "\"" + name + "\""), made_.notes);
    if (IsOfType(object, kNodeType)) {
      if (!IsNamed(object, number)) return {};
      if (!names_.insert("node " + ObjectName(object)).second) return Twice(object);
      made_.nodes.push_back(ParseNode(object));
    } else if (IsOfType(object, kPodType)) {
      if (!IsNamed(object, number)) return {};
      if (StringAt(object, {"metadata", "namespace"}).empty()) object["metadata"]["namespace"] = ns_;
      made_.pods.push_back(ParsePod(object));
      if (!names_.insert("pod " + made_.pods.back().key.ToString()).second) return Twice(object);
    } else if (IsOfType(object, kNodePoolAutoscalerType)) {
      autoscalers_.push_back(std::move(object));
    } else if (IsOfType(object, kNodePoolType)) {
      pools_.push_back(std::move(object));
    } else {
      const std::string version = StringAt(object, {"apiVersion"});
      return Reject("object " + std::to_string(number) + " (" +
                    (version.empty() ? "without an apiVersion, " : version + " ") +
                    (kind.empty() ? "without a kind" : kind) +
                    ") does not belong in a snapshot: remove it; a snapshot has Nodes and Pods of v1, one "
                    "NodePoolAutoscaler of " +
                    kNodePoolAutoscalerType.ApiVersion() + ", and optionally its NodePool of " + kNodePoolType.group);
    }
    return {};
  }

  bool IsNamed(const Json& object, std::size_t number) {
    if (!ObjectName(object).empty()) return true;
    made_.notes.push_back("object " + std::to_string(number) + ", a " + StringAt(object, {"kind"}) +
                          ", has no metadata.name, and is ignored");
    return false;
  }

  Status TakeAutoscaler() {
    if (autoscalers_.empty()) {
      return Reject("there is no NodePoolAutoscaler (apiVersion " + kNodePoolAutoscalerType.ApiVersion() +
                    "), and a plan needs exactly one: add it");
    }
    if (autoscalers_.size() > 1) {
      return Reject("there are " + std::to_string(autoscalers_.size()) + " NodePoolAutoscalers (" +
                    QuotedNames(autoscalers_) + "), and a plan needs exactly one: keep one of them");
    }
    auto parsed = ParseNodePoolAutoscaler(autoscalers_.front());
    if (!parsed) {
      return Fail(Reason::kInvalid, source_ + ": NodePoolAutoscaler \"" + ObjectName(autoscalers_.front()) +
                                        "\" is invalid: " + parsed.error().message);
    }
    made_.autoscaler = *std::move(parsed);
    return {};
  }

  void TakePool(const Json& pool) {
    made_.pool = AttributesOf(pool);
    made_.pool_gone = !StringAt(pool, {"metadata", "deletionTimestamp"}).empty();
    made_.stopped = BoolAt(pool, {"spec", "hostNetwork"}) && made_.autoscaler.mode == CapacityMode::kAuto;
    if (made_.stopped) {
      made_.notes.push_back(
          "NodePool \"" + ObjectName(pool) +
          "\" has spec.hostNetwork: true, and a Node can't leave such a pool, so mode Auto is stopped");
    }
  }

  Status Twice(const Json& object) const {
    return Reject(StringAt(object, {"kind"}) + " \"" + ParseMeta(object).key.ToString() +
                  "\" is duplicated: remove one");
  }
  Status Reject(const std::string& why) const { return Fail(Reason::kConfig, source_ + ": " + why); }

  const std::string source_;
  const std::string ns_;
  CapacitySnapshot made_;
  std::vector<Json> autoscalers_, pools_;
  std::set<std::string> names_;
};

}  // namespace

CapacityPlan CapacitySnapshot::Plan(WallTime now) const {
  CapacityInput input{autoscaler, pool, pool_gone, stopped, {}, {}, now};
  for (const Node& node : nodes) input.nodes.push_back(&node);
  for (const Pod& pod : pods) input.pods.push_back(&pod);
  return PlanCapacity(input);
}

Result<CapacitySnapshot> MakeCapacitySnapshot(std::vector<Json> objects, const std::string& source,
                                              const std::string& ns) {
  return Maker(source, ns).Make(std::move(objects));
}

}  // namespace yad
