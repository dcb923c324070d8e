// kubectl yad capacity, and capacity plan, which does not contact a cluster.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "operator/api/well_known.h"
#include "plugin/commands/capacity_snapshot.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/daemon.h"
#include "plugin/manifest/manifest.h"
#include "plugin/view/capacity_table.h"

namespace yad {
namespace {

Result<std::vector<Json>> ReadAutoscalers(Session& session) {
  const std::string& name = session.options.autoscaler;
  const auto advise = [&](const Error& error) {
    return WithAdvice(
        error,
        "the server doesn't have the resource type nodepoolautoscalers: install the operator with "
        "nodePoolAutoscaler.enabled=true, or choose another cluster with --context",
        "nodepoolautoscalers.capacity.openyurt.io \"" + name + "\" not found (kubectl yad capacity lists all)");
  };
  if (name.empty()) return ListAll(session.client, kNodePoolAutoscalerType, "").map_error(advise);
  return session.client.Get(kNodePoolAutoscalerType, {"", name}).map_error(advise).map([](Json&& object) {
    return std::vector<Json>{std::move(object)};
  });
}

void PrintTable(Session& session, const Table& table) {
  if (table.empty()) return;
  session.console.out << "\n";
  table.PrintTo(session.console.out);
}

void WarnOfUnread(Session& session, const ResourceType& type, const Error& error) {
  session.console.Warn(type.resource + " can't be read: " + error.message);
}

// Prints a warning and returns an empty list if the Nodes can't be read, so that the command still shows its other
// tables.
std::vector<Json> ReadNodesOrWarn(Session& session, const std::string& label_selector) {
  auto nodes = ListAll(session.client, kNodeType, "", label_selector);
  if (nodes) return *std::move(nodes);
  WarnOfUnread(session, kNodeType, nodes.error());
  return {};
}

// Returns the names of pods by uid. Does not read the pods if no lease contains the uid of a pod.
std::map<std::string, std::string> ExpectedPods(Session& session, const std::vector<Json>& nodes) {
  const bool needed = std::any_of(nodes.begin(), nodes.end(), [](const Json& node) {
    const auto lease = ParseLease(ParseMeta(node).Annotation(kLeaseAnnotation));
    return lease && !lease->for_pod.empty();
  });
  std::map<std::string, std::string> names;
  if (!needed) return names;
  const Status read = ForEachMeta(session.client, kPodType, "", "",
                                  [&](const ObjectMeta& meta) { names.emplace(meta.uid, meta.key.ToString()); });
  if (!read) WarnOfUnread(session, kPodType, read.error());
  return names;
}

void PrintDetails(Session& session, const Json& object) {
  const WallTime now = session.clock.WallNow();
  const std::string pool = StringAt(object, {"spec", "nodePool"});
  const auto nodes = ReadNodesOrWarn(session, std::string(kNodePoolLabel) + "=" + pool);
  PrintTable(session, LeaseTable(nodes, pool, ExpectedPods(session, nodes), now));
  const auto parsed = ParseNodePoolAutoscaler(object);
  if (!parsed) return session.console.Warn("the NodePoolAutoscaler is invalid: " + parsed.error().message);
  if (IntAt(object, {"status", "quarantined"}) > 0)
    PrintTable(session, QuarantineTable(ReadNodesOrWarn(session, parsed->inventory.ToString())));
  PrintTable(session, StandbyTable(object));
  PrintTable(session, ShortageTable(parsed->shortages, now));
  Table conditions({"CONDITION", "STATUS", "REASON", "MESSAGE"});
  for (const Json& condition : ListAt(object, {"status", "conditions"})) {
    conditions.Add({StringAt(condition, {"type"}), StringAt(condition, {"status"}), StringAt(condition, {"reason"}),
                    StringAt(condition, {"message"})});
  }
  PrintTable(session, conditions);
}

}  // namespace

Result<int> RunCapacity(Session& session) {
  YAD_TRY(const auto objects, ReadAutoscalers(session));
  const bool one = !session.options.autoscaler.empty();
  if (PrintObject(session.options, session.console, one ? objects.front() : ListOf(objects))) return kDone;
  const Table table = AutoscalerTable(objects, session.clock.WallNow());
  if (table.empty()) {
    session.console.err << "No resources found\n";
    return kDone;
  }
  table.PrintTo(session.console.out);
  if (one) PrintDetails(session, objects.front());
  return kDone;
}

Result<int> RunCapacityPlan(const PluginOptions& options, Console& console) {
  YAD_TRY(auto objects, ReadManifests(options.file, console));
  const std::string source = options.file == "-" ? "standard input" : options.file;
  YAD_TRY(const auto snapshot,
          MakeCapacitySnapshot(std::move(objects), source, options.ns.empty() ? "default" : options.ns));
  for (const std::string& note : snapshot.notes) console.err << "note: " << Printable(note) << "\n";
  const WallTime now = options.now.value_or(Clock::Real().WallNow());
  const CapacityPlan plan = snapshot.Plan(now);
  if (PrintObject(options, console, ToJson(plan))) return kDone;
  for (const std::string& line : DescribePlan(plan, snapshot.autoscaler, now)) console.out << line << "\n";
  return kDone;
}

}  // namespace yad
