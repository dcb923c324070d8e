#include "plugin/commands/explanation.h"

#include <algorithm>
#include <array>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/yurtappdaemon/observe/status_view.h"
#include "plugin/view/table.h"
#include "plugin/view/text.h"

namespace yad {
namespace {

constexpr char kNone[] = "<none>";
constexpr char kUnreadable[] = "<unreadable>";

std::size_t Ready(const std::vector<ExplainedNode>& nodes) {
  return static_cast<std::size_t>(
      std::count_if(nodes.begin(), nodes.end(), [](const ExplainedNode& node) { return node.ready; }));
}

std::string DescribeNodes(const Explanation& it) {
  const auto counts = [](std::int64_t ready, std::int64_t not_ready) {
    return std::to_string(ready) + " ready, " + std::to_string(not_ready) + " not ready";
  };
  const bool offline = it.pool && ParseNodePool(*it.pool).offline;
  const std::string state = offline ? "; the pool is Offline" : "";
  if (it.nodes) {
    const auto ready = static_cast<std::int64_t>(Ready(*it.nodes));
    return counts(ready, static_cast<std::int64_t>(it.nodes->size()) - ready) + state;
  }
  if (!it.pool || Find(*it.pool, {"status", "readyNodeNum"}) == nullptr) return kUnreadable;
  return counts(IntAt(*it.pool, {"status", "readyNodeNum"}), IntAt(*it.pool, {"status", "unreadyNodeNum"})) +
         " (from the pool's status)" + state;
}

std::string DescribePoolConditions(const Json& pool) {
  std::string text;
  for (const Json& condition : ListAt(pool, {"status", "conditions"})) {
    text += (text.empty() ? "" : ", ") + StringAt(condition, {"type"}) + "=" + StringAt(condition, {"status"});
    const std::string message = StringAt(condition, {"message"});
    if (const std::string reason = StringAt(condition, {"reason"}); !reason.empty())
      text += " (" + reason + (message.empty() ? "" : ": " + message) + ")";
  }
  return TextOr(text, kNone);
}

std::string DescribeHold(const NodePool& pool, const std::string& maintenance) {
  std::string text;
  if (pool.hold) text = TextOr(*pool.hold, "without a reason") + " (kubectl yad release " + pool.name + ")";
  if (!maintenance.empty()) text += (text.empty() ? "" : ", ") + maintenance + " (ends when the condition ends)";
  return TextOr(text, kNone);
}

// Returns a description such as "Sat,Sun 22:00 for 4h (Asia/Tokyo)".
std::string DescribeWindow(const UpdateWindow& window) {
  static constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  std::string days;
  for (std::size_t day = 0; day < kDays.size(); ++day) {
    if ((window.days >> day & 1U) != 0) days += (days.empty() ? "" : ",") + std::string(kDays[day]);
  }
  if (window.days == UpdateWindow::kEveryDay) days = "daily";
  const auto two = [](std::int64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  return days + " " + two(window.start.count() / 60) + ":" + two(window.start.count() % 60) + " for " +
         HumanDuration(window.duration) + (window.time_zone.empty() ? "" : " (" + window.time_zone + ")");
}

// Returns when the update windows in the pool's annotation, which apply to all daemons, allow updates.
PoolOpening OwnOpening(const Json& node_pool, WallTime now) {
  Snapshot snapshot;
  snapshot.now = now;
  Gates gates(snapshot);
  return OpeningOf(node_pool, snapshot.daemon, gates);
}

// Describes the update windows in the pool's annotation.
std::string DescribeOwnWindows(const Json& object, WallTime now) {
  const NodePool pool = ParseNodePool(object);
  if (!pool.windows.fault.empty()) return "invalid, so the pool is held: " + pool.windows.fault;
  if (!pool.windows.windows) return "those of each YurtAppDaemon";
  if (pool.windows.windows->empty()) return "always open";
  std::string text;
  for (const UpdateWindow& window : *pool.windows.windows) text += (text.empty() ? "" : ", ") + DescribeWindow(window);
  const std::string opening = DescribeOpening(OwnOpening(object, now));
  return text + (opening == "now" ? "; open now" : "; opens " + opening);
}

std::string DescribeMisplaced(const Explanation& it) {
  if (it.misplaced) {
    if (it.misplaced->empty()) return kNone;
    std::vector<std::string> pods;
    for (const MisplacedPod& pod : *it.misplaced) pods.push_back(pod.pod.ToString() + " on " + pod.node);
    return std::to_string(pods.size()) + ": " + NameSome(pods, kMaxNamedPods);
  }
  if (!it.daemons) return kUnreadable;
  std::int64_t sum = 0;
  for (const ExplainedDaemon& daemon : *it.daemons) sum += PoolStatusView(daemon.pool).misplaced_replicas();
  return std::to_string(sum) + " (from the YurtAppDaemons' status)";
}

void AddFacts(const Explanation& it, std::vector<std::string>& lines) {
  const auto add = [&](std::string key, const std::string& value) {
    key += ":";
    key.resize(17, ' ');
    lines.push_back(key + Printable(value));
  };
  const auto of_pool = [&](const auto& describe) { return it.pool ? describe(*it.pool) : std::string(kUnreadable); };
  add("Name", it.name);
  add("Type", of_pool([](const Json& pool) { return TextOr(StringAt(pool, {"spec", "type"}), kNone); }));
  add("Age", of_pool([&](const Json& pool) { return Age(StringAt(pool, {"metadata", "creationTimestamp"}), it.now); }));
  if (it.pool && ParseMeta(*it.pool).deleting())
    add("Being deleted", "for " + Age(ParseMeta(*it.pool).deletion_timestamp, it.now));
  add("Nodes", DescribeNodes(it));
  add("Conditions", of_pool(DescribePoolConditions));
  add("Hold", of_pool([&](const Json& pool) { return DescribeHold(ParseNodePool(pool), it.maintenance); }));
  add("Time zone", of_pool([](const Json& pool) { return TextOr(ParseNodePool(pool).windows.time_zone, "UTC"); }));
  add("Update windows", of_pool([&](const Json& pool) { return DescribeOwnWindows(pool, it.now); }));
  add("Misplaced pods", DescribeMisplaced(it));
}

void AddNodes(const Explanation& it, std::vector<std::string>& lines) {
  if (!it.nodes || it.nodes->empty()) return;
  const bool leased = std::any_of(it.nodes->begin(), it.nodes->end(), [](const auto& n) { return !n.leased.empty(); });
  std::vector<std::string> header{"NODE", "READY", "SINCE", "HEARTBEAT"};
  if (leased) header.emplace_back("LEASED");
  Table table(std::move(header));
  const std::size_t shown = std::min(it.nodes->size(), kMaxNamedNodes);
  for (std::size_t i = 0; i < shown; ++i) {
    const ExplainedNode& node = (*it.nodes)[i];
    table.Add({node.name, node.ready ? "True" : "False", Age(node.since, it.now), Age(node.heartbeat, it.now),
               TextOr(node.leased, kNone)});
  }
  table.AppendTo(lines);
  if (shown < it.nodes->size()) lines.push_back("and " + std::to_string(it.nodes->size() - shown) + " more nodes");
}

std::string DescribePhase(const ExplainedDaemon& daemon) {
  if (daemon.pool.is_null()) return "<not listed>";
  return TextOr(PoolStatusView(daemon.pool).phase_text(), "<unknown>");
}

std::string DescribeMessage(const ExplainedDaemon& daemon) {
  if (!daemon.fault.empty()) return "the spec is invalid: " + daemon.fault;
  const PoolStatusView pool(daemon.pool);
  std::string text(pool.message());
  if (daemon.selects == false && text.empty()) return "no longer selects the pool";
  return text;
}

void AddDaemons(const Explanation& it, std::vector<std::string>& lines) {
  if (!it.daemons) return;
  if (it.daemons->empty()) {
    lines.emplace_back();
    lines.emplace_back(it.pool ? "No YurtAppDaemon selects the pool."
                               : "No YurtAppDaemon lists the pool in its status.");
    return;
  }
  Table table({"NAMESPACE", "YURTAPPDAEMON", "PHASE", "AGE", "REVISION", "READY", "WAITING FOR", "WINDOW", "REASON",
               "MESSAGE"});
  for (const ExplainedDaemon& daemon : *it.daemons) {
    const PoolStatusView pool(daemon.pool);
    table.Add({daemon.key.ns, daemon.key.name, DescribePhase(daemon),
               Age(std::string(pool.last_transition_text()), it.now), TextOr(pool.revision(), kNone),
               std::to_string(pool.ready_replicas()) + "/" + std::to_string(pool.replicas()),
               TextOr(pool.waiting_for(), kNone), daemon.opening ? DescribeOpening(*daemon.opening) : kNone,
               TextOr(pool.reason(), kNone), DescribeMessage(daemon)});
  }
  table.AppendTo(lines);
}

void AddPool(const Json& object, WallTime now, Json& json) {
  const NodePool pool = ParseNodePool(object);
  json["type"] = pool.type;
  json["deleting"] = pool.deleting;
  json["offline"] = pool.offline;
  if (pool.hold) json["hold"] = {{"reason", *pool.hold}};
  json["timeZone"] = TextOr(pool.windows.time_zone, "UTC");
  if (const Json* conditions = Find(object, {"status", "conditions"})) json["conditions"] = *conditions;
  if (!ParseMeta(object).annotations.contains(kUpdateWindowsAnnotation) && pool.windows.fault.empty()) return;
  json["window"] = ToJson(OwnOpening(object, now));
  json["window"]["windows"] = Json::array();
  for (const UpdateWindow& window : pool.windows.windows.value_or(std::vector<UpdateWindow>()))
    json["window"]["windows"].push_back(DescribeWindow(window));
}

Json ToJson(const std::vector<ExplainedNode>& nodes) {
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(nodes.size(), kMaxNamedNodes); ++i) {
    Json entry = {{"name", nodes[i].name}, {"ready", nodes[i].ready}};
    if (nodes[i].since != WallTime()) entry["since"] = FormatTime(nodes[i].since);
    if (nodes[i].heartbeat != WallTime()) entry["heartbeat"] = FormatTime(nodes[i].heartbeat);
    if (!nodes[i].leased.empty()) entry["leased"] = nodes[i].leased;
    list.push_back(std::move(entry));
  }
  const std::size_t ready = Ready(nodes);
  return {{"ready", ready}, {"notReady", nodes.size() - ready}, {"list", std::move(list)}};
}

Json ToJson(const std::vector<MisplacedPod>& pods) {
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(pods.size(), kMaxNamedPods); ++i)
    list.push_back({{"namespace", pods[i].pod.ns}, {"name", pods[i].pod.name}, {"node", pods[i].node}});
  return {{"count", pods.size()}, {"list", std::move(list)}};
}

Json ToJson(const ExplainedDaemon& daemon) {
  Json json = {{"namespace", daemon.key.ns}, {"name", daemon.key.name}};
  if (daemon.selects) json["selects"] = *daemon.selects;
  if (!daemon.fault.empty()) json["fault"] = daemon.fault;
  if (daemon.opening) json["window"] = ToJson(*daemon.opening);
  if (!daemon.pool.is_null()) json["pool"] = daemon.pool;
  return json;
}

}  // namespace

std::vector<std::string> DescribePool(const Explanation& explanation) {
  std::vector<std::string> lines;
  AddFacts(explanation, lines);
  AddNodes(explanation, lines);
  AddDaemons(explanation, lines);
  return lines;
}

Json ToJson(const Explanation& explanation) {
  Json json = {{"name", explanation.name}};
  if (explanation.pool) AddPool(*explanation.pool, explanation.now, json);
  if (!explanation.maintenance.empty()) json["maintenance"] = explanation.maintenance;
  if (explanation.nodes) {
    json["nodes"] = ToJson(*explanation.nodes);
  } else if (explanation.pool && Find(*explanation.pool, {"status", "readyNodeNum"}) != nullptr) {
    json["nodes"] = {{"ready", IntAt(*explanation.pool, {"status", "readyNodeNum"})},
                     {"notReady", IntAt(*explanation.pool, {"status", "unreadyNodeNum"})}};
  }
  if (explanation.misplaced) json["misplacedPods"] = ToJson(*explanation.misplaced);
  if (explanation.daemons) {
    json["yurtAppDaemons"] = Json::array();
    for (const ExplainedDaemon& daemon : *explanation.daemons) json["yurtAppDaemons"].push_back(ToJson(daemon));
  }
  json["unread"] = Json::array();
  for (const Unread& unread : explanation.unread)
    json["unread"].push_back({{"what", unread.what}, {"why", unread.why}});
  return json;
}

}  // namespace yad
