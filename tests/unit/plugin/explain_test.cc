// kubectl yad explain, for users with all permissions and for users with few permissions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/capacity/lease.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/explanation.h"
#include "plugin/manifest/yaml.h"
#include "tests/unit/plugin/session_fixture.h"

namespace yad {
namespace {

using namespace testing;  // NOLINT: the builders

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const ResourceType kLeases{"coordination.k8s.io", "v1", "leases", "Lease", true};

class ExplainTest : public SessionTest {
 protected:
  ExplainTest() {
    options_.command = "explain";
    options_.pools = {"hangzhou"};
    transport_->OnSend([this](const HttpRequest& request) -> Result<HttpResponse> {
      const std::string read = request.path.substr(0, request.path.find('?'));
      ++requests_[read];
      for (const std::string& path : forbidden_) {
        if (read == path) return StatusResponse(403, "Forbidden", "user may not read " + path);
      }
      return Answer(request);
    });
  }
  Result<int> Run() { return SessionTest::Run(RunExplain); }
  std::vector<std::string> Lines() {
    EXPECT_EQ(Run(), kDone);
    return SessionTest::Lines();
  }
  Json Printed() {
    options_.output = OutputFormat::kJson;
    EXPECT_EQ(Run(), kDone);
    return Json::parse(out_.str());
  }

  void AddPool(const Json& annotations = Json::object(), const Json& status = nullptr,
               const std::string& name = "hangzhou") {
    Json pool = PoolJson(name);
    pool["metadata"].erase("resourceVersion");
    pool["metadata"]["annotations"] = annotations;
    if (!status.is_null()) pool["status"] = status;
    cluster_.Create(kNodePoolType, std::move(pool));
    cluster_.SetCreated(kNodePoolType, {"", name}, "2025-12-31T03:04:05Z");
  }
  void AddNode(const std::string& name, bool ready = true, const Json& annotations = Json::object()) {
    const Json condition = {
        {"type", "Ready"}, {"status", ready ? "True" : "Unknown"}, {"lastTransitionTime", "2026-01-02T02:04:05Z"}};
    cluster_.Create(
        kNodeType,
        {{"metadata", {{"name", name}, {"labels", {{kNodePoolLabel, "hangzhou"}}}, {"annotations", annotations}}},
         {"status", {{"conditions", Json::array({condition})}}}});
  }
  void AddLease(const std::string& node, const std::string& renewed) {
    cluster_.Create(kLeases, {{"metadata", {{"namespace", "kube-node-lease"}, {"name", node}}},
                              {"spec", {{"renewTime", renewed}}}});
  }
  void AddPod(const std::string& name, const std::string& node, const std::string& phase = "Running",
              const std::string& ns = kNs) {
    cluster_.Create(kPodType,
                    {{"metadata", {{"namespace", ns}, {"name", name}, {"labels", {{kPoolNameLabel, "hangzhou"}}}}},
                     {"spec", {{"nodeName", node}}},
                     {"status", {{"phase", phase}}}});
  }
  void AddDaemon(const std::string& name, const Json& strategy, const Json& entry, const std::string& ns = kNs) {
    Json daemon = DaemonJson();
    daemon["metadata"]["name"] = name;
    daemon["metadata"]["namespace"] = ns;
    daemon["metadata"].erase("uid");
    if (!strategy.is_null()) daemon["spec"]["updateStrategy"] = strategy;
    if (!entry.is_null()) daemon["status"] = {{"pools", Json::array({entry})}};
    cluster_.Create(kYurtAppDaemonType, std::move(daemon));
  }

  std::vector<std::string> forbidden_;   // paths
  std::map<std::string, int> requests_;  // by path
};

constexpr char kNightly[] = R"({"type": "RollingUpdate", "rollingUpdate":
                                {"windows": [{"start": "02:00", "duration": "30m"}]}})";
constexpr char kWaiting[] = R"({"name": "hangzhou", "phase": "Ready", "lastTransitionTime": "2026-01-02T03:03:05Z",
    "revision": "web-1", "replicas": 2, "readyReplicas": 2, "waitingFor": "Window", "misplacedReplicas": 1,
    "message": "the update window opens at 2026-01-03T02:00:00Z (Sat 02:00 UTC)."})";

TEST_F(ExplainTest, TextShowsThePoolItsNodesAndItsDaemons) {
  AddPool({{"apps.openyurt.io/hold", "stocktaking"}, {"apps.openyurt.io/time-zone", "Asia/Shanghai"}},
          R"({"readyNodeNum": 1, "unreadyNodeNum": 1, "conditions": [
               {"type": "Ready", "status": "True", "reason": "NodesReady"},
               {"type": "Degraded", "status": "True", "reason": "NodeStatusUnknown", "message": "node b"}]})"_json);
  AddNode("a");
  AddNode("b", false);
  AddLease("a", "2026-01-02T03:03:55.000000Z");
  AddLease("b", "2026-01-02T02:03:05.000000Z");
  AddPod("web-1", "a");
  AddPod("web-2", "elsewhere");
  AddDaemon("web", Json::parse(kNightly), Json::parse(kWaiting));
  AddDaemon("agent", nullptr, R"({"name": "hangzhou", "phase": "Failed", "reason": "ImagePullBackOff",
                                  "message": "not found\u001b[31m"})"_json,
            "infra");
  EXPECT_THAT(
      Lines(),
      ElementsAre("Name:            hangzhou",                                                            //
                  "Type:            Edge",                                                                //
                  "Age:             2d",                                                                  //
                  "Nodes:           1 ready, 1 not ready",                                                //
                  "Conditions:      Ready=True (NodesReady), Degraded=True (NodeStatusUnknown: node b)",  //
                  "Hold:            stocktaking (kubectl yad release hangzhou)",                          //
                  "Time zone:       Asia/Shanghai",                                                       //
                  "Update windows:  those of each YurtAppDaemon",                                         //
                  "Misplaced pods:  1: ns/web-2 on elsewhere",                                            //
                  "",                                                                                     //
                  "NODE   READY   SINCE   HEARTBEAT",                                                     //
                  "b      False   60m     61m",                                                           //
                  "a      True    60m     10s",                                                           //
                  "",                                                                                     //
                  "NAMESPACE   YURTAPPDAEMON   PHASE    AGE         REVISION   READY   WAITING FOR   WINDOW"
                  "                                           REASON             MESSAGE",  //
                  "infra       agent           Failed   <unknown>   <none>     0/0     <none>        <none>"
                  "                                           ImagePullBackOff   not found [31m",  //
                  "ns          web             Ready    60s         web-1      2/2     Window        "
                  "2026-01-02T18:00:00Z (Sat 02:00 Asia/Shanghai)   <none>             the update window opens at "
                  "2026-01-03T02:00:00Z (Sat 02:00 UTC)."));
  EXPECT_EQ(err_.str(), "");
  EXPECT_TRUE(cluster_.writes().empty());
}

TEST_F(ExplainTest, JsonAndYamlHaveTheSameContent) {
  AddPool({{"apps.openyurt.io/hold", ""},
           {"apps.openyurt.io/update-windows", R"([{"days": ["Sat", "Sun"], "start": "22:05", "duration": "90m",
                                                    "timeZone": "Asia/Tokyo"}])"}});
  AddNode("a");
  AddLease("a", "2026-01-02T03:03:55.000000Z");
  AddPod("web-2", "elsewhere");
  AddDaemon("web", Json::parse(kNightly), Json::parse(kWaiting));
  const Json printed = Printed();
  Json expected = R"json({
    "name": "hangzhou", "type": "Edge", "deleting": false, "offline": false, "hold": {"reason": ""},
    "timeZone": "UTC",
    "window": {"windowsFrom": "pool", "open": false, "opens": "2026-01-03T13:05:00Z",
               "opensLocally": "Sat 22:05 Asia/Tokyo", "windows": ["Sun,Sat 22:05 for 90m (Asia/Tokyo)"]},
    "nodes": {"ready": 1, "notReady": 0, "list": [
        {"name": "a", "ready": true, "since": "2026-01-02T02:04:05Z", "heartbeat": "2026-01-02T03:03:55Z"}]},
    "misplacedPods": {"count": 1, "list": [{"namespace": "ns", "name": "web-2", "node": "elsewhere"}]},
    "yurtAppDaemons": [{"namespace": "ns", "name": "web", "selects": true,
        "window": {"windowsFrom": "pool", "open": false, "opens": "2026-01-03T13:05:00Z",
                   "opensLocally": "Sat 22:05 Asia/Tokyo"}}],
    "unread": []})json"_json;
  expected["yurtAppDaemons"][0]["pool"] = Json::parse(kWaiting);
  EXPECT_EQ(printed, expected);
  options_.output = OutputFormat::kYaml;
  EXPECT_EQ(Run(), kDone);
  EXPECT_EQ(ReadYaml(out_.str(), "out")->at(0), expected);
}

TEST_F(ExplainTest, PoolWithoutNodesAndDaemonsIsShown) {
  AddPool();
  EXPECT_THAT(Lines(),
              ElementsAre("Name:            hangzhou",                     //
                          "Type:            Edge",                         //
                          "Age:             2d",                           //
                          "Nodes:           0 ready, 0 not ready",         //
                          "Conditions:      <none>",                       //
                          "Hold:            <none>",                       //
                          "Time zone:       UTC",                          //
                          "Update windows:  those of each YurtAppDaemon",  //
                          "Misplaced pods:  <none>",                       //
                          "", "No YurtAppDaemon selects the pool."));
}

TEST_F(ExplainTest, OwnWindowsOfThePoolAreShownWithTheirOpening) {
  const auto windows = [&](const std::string& text) {
    cluster_.Delete(kNodePoolType, {"", "hangzhou"});
    AddPool({{"apps.openyurt.io/update-windows", text}, {"apps.openyurt.io/time-zone", "Europe/Oslo"}});
    for (const std::string& line : Lines()) {
      if (line.starts_with("Update windows:  ")) return line.substr(17);
    }
    return std::string();
  };
  EXPECT_EQ(windows(R"([{"start": "02:00", "duration": "4h"}])"), "daily 02:00 for 4h; open now");
  EXPECT_EQ(
      windows(R"([{"days": ["Sat"], "start": "02:00", "duration": "4h"}, {"start": "01:00", "duration": "30m"}])"),
      "Sat 02:00 for 4h, daily 01:00 for 30m; opens 2026-01-03T00:00:00Z (Sat 01:00 Europe/Oslo)");
  EXPECT_EQ(windows("[]"), "always open");
  EXPECT_THAT(windows("at night"),
              StartsWith("invalid, so the pool is held: annotation apps.openyurt.io/update-windows: must be a list"));
}

TEST_F(ExplainTest, DaemonsThatSelectOrListThePoolOrHaveAnInvalidSpecAreShown) {
  AddPool();
  AddDaemon("a", nullptr, nullptr);
  AddDaemon("b", nullptr, R"({"name": "hangzhou", "phase": "Removing"})"_json);
  AddDaemon("c", nullptr, nullptr);
  AddDaemon("d", nullptr, R"({"name": "hangzhou", "phase": "Ready", "message": "x"})"_json);
  for (const char* name : {"b", "c"}) {
    cluster_.Edit(kYurtAppDaemonType, {kNs, name}, [](Json& daemon) {
      daemon["spec"]["nodePools"] = {{"exclude", {"hangzhou"}}};
    });
  }
  cluster_.Edit(kYurtAppDaemonType, {kNs, "d"}, [](Json& daemon) { daemon["spec"].erase("selector"); });
  const auto lines = Lines();
  const std::string text = out_.str();
  EXPECT_THAT(text, AllOf(HasSubstr("ns          a               <not listed>"),
                          HasSubstr("ns          b               Removing"), HasSubstr("no longer selects the pool\n"),
                          HasSubstr("the spec is invalid: "), HasSubstr("spec.selector: Required value")));
  EXPECT_THAT(lines, Not(Contains(StartsWith("ns          c "))));
  const Json daemons = Printed()["yurtAppDaemons"];
  ASSERT_EQ(daemons.size(), 3u);
  EXPECT_EQ(daemons[0]["selects"], true);
  EXPECT_FALSE(daemons[0].contains("pool"));
  EXPECT_EQ(daemons[1]["selects"], false);
  EXPECT_FALSE(daemons[2].contains("selects"));
  EXPECT_THAT(StringAt(daemons[2], {"fault"}), HasSubstr("spec.selector: Required value"));
}

TEST_F(ExplainTest, OnlyPodsThatRunOutsideThePoolAreMisplaced) {
  AddPool();
  AddNode("a");
  AddPod("inside", "a");
  AddPod("unscheduled", "");
  AddPod("ended", "elsewhere", "Succeeded");
  AddPod("failed", "elsewhere", "Failed");
  cluster_.Create(kPodType, {{"metadata", {{"namespace", kNs}, {"name", "other"}}}, {"spec", {{"nodeName", "b"}}}});
  EXPECT_EQ(Printed()["misplacedPods"]["count"], 0);
  for (int i = 10; i < 25; ++i) AddPod("web-" + std::to_string(i), "elsewhere", "Running", "shop");
  const Json misplaced = Printed()["misplacedPods"];
  EXPECT_EQ(misplaced["count"], 15);
  EXPECT_EQ(misplaced["list"].size(), kMaxNamedPods);
  EXPECT_EQ(misplaced["list"][0], R"({"namespace": "shop", "name": "web-10", "node": "elsewhere"})"_json);
  options_.output = OutputFormat::kDefault;
  EXPECT_THAT(Lines(), Contains(AllOf(StartsWith("Misplaced pods:  15: shop/web-10 on elsewhere, "),
                                      EndsWith("shop/web-19 on elsewhere and 5 more"))));
}

TEST_F(ExplainTest, OnlyTheFirstNodesOfALargePoolAreShownAndTheirLeasesRead) {
  AddPool();
  for (int i = 100; i < 130; ++i) AddNode("n" + std::to_string(i), i != 129);
  const auto lines = Lines();
  EXPECT_THAT(lines, Contains("Nodes:           29 ready, 1 not ready"));
  EXPECT_THAT(lines, Contains("n129   False   60m     <unknown>"));
  EXPECT_THAT(lines, Contains("and 10 more nodes"));
  int leases = 0;
  for (const auto& [path, count] : requests_) leases += path.find("kube-node-lease") != std::string::npos ? count : 0;
  EXPECT_EQ(leases, static_cast<int>(kMaxNamedNodes));
}

TEST_F(ExplainTest, LeasedNodesAreMarked) {
  AddPool();
  NodeLease lease;
  lease.pool = "hangzhou";
  lease.phase = LeasePhase::kInUse;
  AddNode("a", true, {{kLeaseAnnotation, FormatLease(lease)}});
  lease.pool = "shanghai";
  AddNode("b", true, {{kLeaseAnnotation, FormatLease(lease)}});
  const auto lines = Lines();
  EXPECT_THAT(lines, Contains("NODE   READY   SINCE   HEARTBEAT   LEASED"));
  EXPECT_THAT(lines, Contains("a      True    60m     <unknown>   InUse"));
  EXPECT_THAT(lines, Contains("b      True    60m     <unknown>   <none>"));
}

TEST_F(ExplainTest, NodeInMaintenanceIsShownAsAHold) {
  AddPool();
  for (const char* name : {"b", "a"}) {
    AddNode(name);
    cluster_.Edit(kNodeType, {"", name}, [](Json& node) {
      node["status"]["conditions"].push_back({{"type", "DrainInProgress"}, {"status", "True"}});
    });
  }
  EXPECT_THAT(Lines(), Contains("Hold:            node a: DrainInProgress (ends when the condition ends)"));
  EXPECT_EQ(Printed()["maintenance"], "node a: DrainInProgress");
  EXPECT_FALSE(Printed().contains("hold"));
  options_.output = OutputFormat::kDefault;
  cluster_.Edit(kNodePoolType, {"", "hangzhou"},
                [](Json& pool) { pool["metadata"]["annotations"]["apps.openyurt.io/hold"] = "stocktaking"; });
  EXPECT_THAT(Lines(), Contains("Hold:            stocktaking (kubectl yad release hangzhou), node a: DrainInProgress "
                                "(ends when the condition ends)"));
}

// The user may read only NodePools and one namespace.
TEST_F(ExplainTest, UserOfOneNamespaceSeesTheDaemonsOfThatNamespace) {
  AddPool(Json::object(), R"({"readyNodeNum": 0, "unreadyNodeNum": 2})"_json);
  AddNode("a");
  AddPod("web-1", "a");
  AddDaemon("web", nullptr, Json::parse(kWaiting));
  AddDaemon("agent", nullptr, nullptr, "infra");
  forbidden_ = {"/api/v1/nodes", "/api/v1/pods", "/apis/apps.openyurt.io/v1alpha1/yurtappdaemons"};
  const auto lines = Lines();
  EXPECT_THAT(lines, Contains("Nodes:           0 ready, 2 not ready (from the pool's status); the pool is Offline"));
  EXPECT_THAT(lines, Contains("Misplaced pods:  1 (from the YurtAppDaemons' status)"));
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("\nns          web "), Not(HasSubstr("infra"))));
  EXPECT_EQ(err_.str(),
            "Warning: yurtappdaemons outside namespace ns can't be read: user may not read "
            "/apis/apps.openyurt.io/v1alpha1/yurtappdaemons\n"
            "Warning: pods outside namespace ns can't be read: user may not read /api/v1/pods\n"
            "Warning: nodes can't be read: user may not read /api/v1/nodes\n");
  const Json printed = Printed();
  EXPECT_EQ(printed["nodes"], R"({"ready": 0, "notReady": 2})"_json);
  EXPECT_FALSE(printed.contains("misplacedPods"));
  EXPECT_EQ(printed["unread"][2], R"({"what": "nodes", "why": "user may not read /api/v1/nodes"})"_json);
}

TEST_F(ExplainTest, ForbiddenReadsDoNotFailTheCommand) {
  AddPool();
  AddDaemon("web", Json::parse(kNightly), Json::parse(kWaiting));
  forbidden_ = {"/apis/apps.openyurt.io/v1beta1/nodepools/hangzhou",
                "/api/v1/nodes",
                "/api/v1/pods",
                "/api/v1/namespaces/ns/pods",
                "/apis/apps.openyurt.io/v1alpha1/yurtappdaemons",
                "/apis/apps.openyurt.io/v1alpha1/namespaces/ns/yurtappdaemons"};
  EXPECT_THAT(Lines(), ElementsAre("Name:            hangzhou",      //
                                   "Type:            <unreadable>",  //
                                   "Age:             <unreadable>",  //
                                   "Nodes:           <unreadable>",  //
                                   "Conditions:      <unreadable>",  //
                                   "Hold:            <unreadable>",  //
                                   "Time zone:       <unreadable>",  //
                                   "Update windows:  <unreadable>",  //
                                   "Misplaced pods:  <unreadable>"));
  EXPECT_THAT(
      err_.str(),
      AllOf(HasSubstr("Warning: the NodePool can't be read: "), HasSubstr("Warning: yurtappdaemons can't be read: "),
            HasSubstr("Warning: pods can't be read: "), HasSubstr("Warning: nodes can't be read: ")));
  // The user may read daemons again, but not the NodePool. So status.pools shows which daemons have the pool.
  forbidden_.pop_back();
  EXPECT_THAT(Lines(), Contains(AllOf(StartsWith("ns          web "), HasSubstr("the update window opens"))));
  EXPECT_FALSE(Printed()["yurtAppDaemons"][0].contains("selects"));
}

TEST_F(ExplainTest, ForbiddenLeasesAreReadOnlyOnce) {
  AddPool();
  AddNode("a");
  AddNode("b");
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/";
  forbidden_ = {leases + "a", leases + "b"};
  EXPECT_THAT(Lines(), Contains("a      True    60m     <unknown>"));
  EXPECT_EQ(err_.str(),
            "Warning: leases in namespace kube-node-lease can't be read: user may not read " + leases + "a\n");
  EXPECT_EQ(requests_.count(leases + "b"), 0u);
}

TEST_F(ExplainTest, UnknownPoolAndUnreachableServerAreErrors) {
  const auto ended = Run();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message,
            "nodepools.apps.openyurt.io \"hangzhou\" not found (kubectl get nodepools lists all)");
  AddPool();
  cluster_.SetFaults([](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
    if (request.resource != "pods") return std::nullopt;
    return FakeCluster::Fault{Fail(Reason::kTransport, "connection refused")};
  });
  const auto silent = Run();
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().reason, Reason::kTransport);
  EXPECT_EQ(out_.str(), "");
}

TEST_F(ExplainTest, PoolWhoseNameIsNotALabelHasNoNodes) {
  options_.pools = {std::string(64, 'x')};
  AddPool(Json::object(), nullptr, options_.pools.front());
  EXPECT_THAT(Lines(), Contains("Nodes:           0 ready, 0 not ready"));
  EXPECT_THAT(requests_,
              AllOf(Not(Contains(::testing::Key("/api/v1/nodes"))), Not(Contains(::testing::Key("/api/v1/pods")))));
}

TEST_F(ExplainTest, DeletionOfThePoolIsShown) {
  AddPool();
  cluster_.Edit(kNodePoolType, {"", "hangzhou"},
                [](Json& pool) { pool["metadata"]["finalizers"] = {"example.com/f"}; });
  cluster_.Delete(kNodePoolType, {"", "hangzhou"});
  EXPECT_THAT(Lines(), Contains(StartsWith("Being deleted:   for ")));
  EXPECT_EQ(Printed()["deleting"], true);
}

}  // namespace
}  // namespace yad
