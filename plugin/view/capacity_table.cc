#include "plugin/view/capacity_table.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/api/conditions.h"
#include "operator/base/join.h"
#include "plugin/view/text.h"

namespace yad {
namespace {

constexpr std::size_t kNamedInCell = 3;  // maximum number of pod names in a cell

std::string Count(const Json& object, std::string_view field) {
  return std::to_string(IntAt(object, {"status", field}));
}

std::string DescribeStandby(const Json& autoscaler) {
  std::string text;
  for (const Json& entry : ListAt(autoscaler, {"status", "standby"})) {
    text += (text.empty() ? "" : ", ") + StringAt(entry, {"name"}) + " " + std::to_string(IntAt(entry, {"have"})) +
            "/" + std::to_string(IntAt(entry, {"want"}));
  }
  return text.empty() ? "<none>" : text;
}

std::string Describe(const StringMap& requirements) {
  std::string text;
  for (const auto& [key, value] : requirements) text += (text.empty() ? "" : ",") + key + "=" + value;
  return text.empty() ? "<none>" : text;
}

std::string In(WallTime then, WallTime now) { return then <= now ? "now" : "in " + HumanDuration(then - now); }

std::string CauseOf(const CapacityPlan::Release& release) {
  using Cause = CapacityPlan::Release::Cause;
  if (release.begun) return "begun";
  switch (release.cause) {
    case Cause::kIdle:
      return "idle";
    case Cause::kNotReady:
      return "not Ready";
    case Cause::kNotJoined:
      return "did not join in time";
    case Cause::kDraining:
      return "draining";
  }
  return "";
}

std::string DescribePods(const std::vector<const Pod*>& pods) {
  std::vector<std::string> names;
  for (const Pod* pod : pods) names.push_back(pod->key.ToString());
  return NameSome(names, kNamedInCell);
}

// Returns a description such as "NoCapacity: 3 pods, MaxNodes: standby"; "" if there is no shortage.
std::string DescribeShortages(const Json& autoscaler) {
  std::map<std::string, std::size_t> pods;
  std::map<std::string, bool> standby;
  for (const Json& entry : ListAt(autoscaler, {"status", "shortages"})) {
    const std::string reason = StringAt(entry, {"reason"});
    const std::size_t count = ListAt(entry, {"pods"}).size();
    pods[reason] += count;
    standby[reason] = standby[reason] || count == 0;
  }
  std::string text;
  for (const auto& [reason, count] : pods) {
    text += (text.empty() ? "" : ", ") + reason + ":";
    if (count > 0) text += " " + Pluralize(count, "pod");
    if (standby[reason]) text += count > 0 ? " and standby" : " standby";
  }
  return text;
}

// Returns a description such as "Ready=False (HostNetwork)" of the conditions that report a problem. Omits condition
// Short, which DescribeShortages describes.
std::string DescribeConditions(const Json& autoscaler) {
  std::string text;
  for (const Json& condition : ListAt(autoscaler, {"status", "conditions"})) {
    const std::string type = StringAt(condition, {"type"});
    const std::string status = StringAt(condition, {"status"});
    if (type.empty() || type == "Short" || status == (type == "Ready" ? "True" : "False")) continue;
    text += (text.empty() ? "" : ", ") + type + "=" + status + " (" + StringAt(condition, {"reason"}) + ")";
  }
  return text;
}

}  // namespace

Table AutoscalerTable(const std::vector<Json>& autoscalers, WallTime now) {
  Table table({"NAME", "POOL", "MODE", "LEASED", "IDLE", "INUSE", "JOINING", "RELEASING", "QUARANTINED", "STANDBY",
               "SHORT", "CONDITIONS", "AGE"});
  for (const Json& object : autoscalers) {
    table.Add({StringAt(object, {"metadata", "name"}), StringAt(object, {"spec", "nodePool"}),
               StringAt(object, {"spec", "mode"}, "Auto"), Count(object, "leased"), Count(object, "idle"),
               Count(object, "inUse"), Count(object, "joining"), Count(object, "releasing"),
               Count(object, "quarantined"), DescribeStandby(object), DescribeShortages(object),
               DescribeConditions(object), Age(StringAt(object, {"metadata", "creationTimestamp"}), now)});
  }
  return table;
}

Table LeaseTable(const std::vector<Json>& nodes, const std::string& pool,
                 const std::map<std::string, std::string>& pods, WallTime now) {
  Table table({"NODE", "PHASE", "FOR", "SINCE", "READY"});
  for (const Json& object : nodes) {
    const Node node = ParseNode(object);
    const std::string& annotation = node.meta.Annotation(kLeaseAnnotation);
    if (annotation.empty()) continue;
    const auto ready = node.conditions.find("Ready");
    const std::string is_ready = ready == node.conditions.end() ? "Unknown" : ready->second;
    const auto lease = ParseLease(annotation);
    if (!lease || lease->pool != pool) {
      const std::string why = lease ? "for pool " + lease->pool : lease.error().message;
      table.Add({node.meta.key.name, "<unreadable: " + why + ">", "", "", is_ready});
      continue;
    }
    const auto pod = pods.find(lease->for_pod);
    table.Add({node.meta.key.name, std::string(ToString(lease->phase)),
               lease->for_pod.empty() ? "<none>"
               : pod == pods.end()    ? "uid " + lease->for_pod
                                      : pod->second,
               Age(lease->since, now), is_ready});
  }
  return table;
}

Table QuarantineTable(const std::vector<Json>& nodes) {
  Table table({"QUARANTINED NODE", "WHY"});
  for (const Json& object : nodes) {
    const ObjectMeta meta = ParseMeta(object);
    const auto found = meta.annotations.find(kQuarantineAnnotation);
    if (found != meta.annotations.end()) table.Add({meta.key.name, found->second});
  }
  return table;
}

Table StandbyTable(const Json& autoscaler) {
  Table table({"STANDBY", "WANT", "HAVE"});
  for (const Json& entry : ListAt(autoscaler, {"status", "standby"})) {
    table.Add(
        {StringAt(entry, {"name"}), std::to_string(IntAt(entry, {"want"})), std::to_string(IntAt(entry, {"have"}))});
  }
  return table;
}

Table ShortageTable(const std::vector<Shortage>& shortages, WallTime now) {
  Table table({"SHORT", "REQUIREMENTS", "SINCE", "RETRY", "PODS"});
  for (const Shortage& shortage : shortages) {
    table.Add({shortage.reason, Describe(shortage.requirements), Age(shortage.since, now), In(shortage.retry_at, now),
               shortage.pods.empty() ? "<standby>" : NameSome(shortage.pods, kNamedInCell)});
  }
  return table;
}

std::vector<std::string> DescribePlan(const CapacityPlan& plan, const NodePoolAutoscaler& autoscaler, WallTime now) {
  const auto number = [](int count, const char* what) { return std::to_string(count) + " " + what; };
  std::vector<std::string> lines;
  lines.push_back("Pool " + autoscaler.node_pool + " at " + FormatTime(now) + ": " + number(plan.leased, "leased") +
                  " (" + number(plan.idle, "idle") + ", " + number(plan.in_use, "in use") + ", " +
                  number(plan.joining, "joining") + ", " + number(plan.releasing, "releasing") + "), " +
                  number(plan.quarantined, "quarantined"));
  Table leases({"LEASE", "FOR", "REQUIREMENTS"});
  for (const CapacityPlan::Lease& lease : plan.leases) {
    leases.Add({lease.node == nullptr ? "<no free node>" : lease.node->meta.key.name,
                lease.pods.empty() ? "standby " + lease.standby : DescribePods(lease.pods),
                Describe(lease.requirements)});
  }
  leases.AppendTo(lines);
  Table releases({"RELEASE", "PHASE", "SINCE", "WHY"});
  for (const CapacityPlan::Release& release : plan.releases) {
    releases.Add({release.node->meta.key.name, std::string(ToString(release.lease.phase)),
                  Age(release.lease.since, now), CauseOf(release)});
  }
  releases.AppendTo(lines);
  Table changes({"CHANGE", "FROM", "TO"});
  for (const CapacityPlan::Change& change : plan.changes) {
    changes.Add({change.node->meta.key.name, std::string(ToString(change.before.phase)),
                 std::string(ToString(change.after.phase))});
  }
  changes.AppendTo(lines);
  Table expectations({"EXPECTED POD", "NODE"});
  for (const auto& [pod, node] : plan.expectations) expectations.Add({pod, node});
  expectations.AppendTo(lines);
  Table standby({"STANDBY", "WANT", "HAVE"});
  for (const CapacityPlan::StandbyCount& entry : plan.standby)
    standby.Add({entry.name, std::to_string(entry.want), std::to_string(entry.have)});
  standby.AppendTo(lines);
  ShortageTable(plan.shortages, now).AppendTo(lines);
  lines.emplace_back();
  if (leases.empty() && releases.empty() && changes.empty()) lines.push_back("The operator would write nothing.");
  lines.push_back(plan.wake ? "If nothing in the cluster changes, the plan changes " + In(*plan.wake, now) + "."
                            : "If nothing in the cluster changes, the plan does not change.");
  return lines;
}

}  // namespace yad
