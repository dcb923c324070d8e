// kubectl yad capacity, and its subcommand plan, which reads a file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "plugin/commands/capacity_snapshot.h"
#include "plugin/commands/commands.h"
#include "plugin/plugin.h"
#include "plugin/view/capacity_table.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/unit/plugin/console_fixture.h"

namespace yad {
namespace {

using namespace testing;  // NOLINT: FakeTransport and the like

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// One pod waits. Node n1 is free. Node n2 is leased and has long been idle. Few values are quoted, as in a user's YAML.
constexpr char kSnapshot[] = R"(apiVersion: capacity.openyurt.io/v1alpha1
kind: NodePoolAutoscaler
metadata: {name: hangzhou}
spec:
  nodePool: hangzhou
  inventorySelector: {matchLabels: {inventory: spare}}
  scaleDown: {idleSeconds: 0x10}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: n1, labels: {inventory: spare}, creationTimestamp: 2026-11-01T00:00:00Z}
  status:
    allocatable: {cpu: 4, memory: 1e9, pods: 1e2}
    conditions: [{type: Ready, status: True, lastTransitionTime: 2026-11-01T00:00:00Z}]
- apiVersion: v1
  kind: Node
  metadata:
    name: n2
    labels: {inventory: spare, apps.openyurt.io/nodepool: hangzhou}
    annotations:
      capacity.openyurt.io/lease: '{"pool":"hangzhou","phase":"Idle","for":"","since":"2026-11-22T11:00:00Z","applied":{}}'
  spec: {taints: [{key: busy, effect: NoSchedule}]}
  status:
    allocatable: {cpu: "4", memory: 8Gi}
    conditions: [{type: Ready, status: "True", lastTransitionTime: "2026-11-01T00:00:00Z"}]
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, uid: u1, creationTimestamp: 2026-11-22T11:59:00Z}
spec:
  nodeSelector: {apps.openyurt.io/nodepool: hangzhou}
  containers: [{name: c, resources: {requests: {cpu: 0.5, memory: 64Mi}}}]
status:
  phase: Pending
  conditions: [{type: PodScheduled, status: False, reason: Unschedulable}]
)";
constexpr char kAutoscaler[] =
    "apiVersion: capacity.openyurt.io/v1alpha1\nkind: NodePoolAutoscaler\nmetadata: {name: a}\n"
    "spec: {nodePool: p, inventorySelector: {matchLabels: {s: t}}}\n---\n";

struct Ran {
  int code = -1;
  std::string out, err;
};

// Runs the program without a cluster.
Ran RunIt(std::vector<std::string> arguments, const std::string& input) {
  std::ostringstream out, err;
  std::istringstream in(input);
  Console console{out, err, in, [] { return std::nullopt; }};
  arguments.insert(arguments.begin(), {"--kubeconfig=/nowhere", "capacity"});
  const int code = RunPlugin(arguments, "v0", console);
  return {code, out.str(), err.str()};
}
Ran RunPlan(const std::string& input, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"plan", "-f", "-", "--now=2026-11-22T12:00:00Z"});
  return RunIt(more, input);
}

TEST(CapacityPlanTest, JsonOutputIsThePlannersPlan) {
  const Ran ran = RunPlan(kSnapshot, {"-o", "json"});
  ASSERT_EQ(ran.code, kDone) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(Json::parse(ran.out), Json::parse(R"({
    "leases": [{"node": "n1", "for": ["shop/web-1"]}], "releases": ["n2"],
    "expectations": {"shop/web-1": "n1"}, "shortages": []})"));
}

TEST(CapacityPlanTest, DefaultOutputIsATable) {
  const Ran ran = RunPlan(kSnapshot);
  ASSERT_EQ(ran.code, kDone) << ran.err;
  EXPECT_EQ(ran.out,
            "Pool hangzhou at 2026-11-22T12:00:00Z: 1 leased (0 idle, 0 in use, 0 joining, 1 releasing), 0 "
            "quarantined\n"
            "\n"
            "LEASE   FOR          REQUIREMENTS\n"
            "n1      shop/web-1   <none>\n"
            "\n"
            "RELEASE   PHASE   SINCE   WHY\n"
            "n2        Idle    60m     idle\n"
            "\n"
            "EXPECTED POD   NODE\n"
            "shop/web-1     n1\n"
            "\n"
            "If nothing in the cluster changes, the plan does not change.\n");
  EXPECT_THAT(RunPlan(kAutoscaler).out, HasSubstr("The operator would write nothing.\n"));
  EXPECT_THAT(RunPlan(kSnapshot, {"-o", "yaml"}).out, StartsWith("expectations:\n  shop/web-1: n1\n"));
}

TEST(CapacityPlanTest, LeaseWithoutANodeNamesTheShape) {
  std::string snapshot = kSnapshot;
  snapshot.replace(snapshot.find("{apps.openyurt.io/nodepool: hangzhou}\n  containers"), 37,
                   "{apps.openyurt.io/nodepool: hangzhou, size: l}");
  const Ran json = RunPlan(snapshot, {"-o", "json"});
  const Json plan = Json::parse(json.out);
  EXPECT_EQ(plan["leases"], Json::parse(R"([{"node": null, "for": ["shop/web-1"], "requirements": {"size": "l"}}])"));
  EXPECT_EQ(plan["shortages"][0]["reason"], "NoCapacity");
  EXPECT_EQ(plan["shortages"][0]["retryAt"], "2026-11-22T12:03:00Z");
  EXPECT_THAT(RunPlan(snapshot).out, AllOf(HasSubstr("<no free node>   shop/web-1   size=l"),
                                           HasSubstr("NoCapacity   size=l         0s      in 3m   shop/web-1"),
                                           HasSubstr("If nothing in the cluster changes, the plan changes in 3m.")));
}

TEST(CapacityPlanTest, AttributesOfThePoolDetermineWhichPodsALeasedNodeGets) {
  const std::string pool =
      "---\napiVersion: apps.openyurt.io/v1beta2\nkind: NodePool\nmetadata: {name: hangzhou}\n"
      "spec: {taints: [{key: site, value: h, effect: NoSchedule}]}\n";
  EXPECT_EQ(Json::parse(RunPlan(kSnapshot + pool, {"-o", "json"}).out)["leases"][0]["node"], nullptr)
      << "the pod does not tolerate the pool's taint";
  // The attributes of other pools than the autoscaler's pool are ignored.
  std::string other = pool;
  other.replace(other.find("hangzhou"), 8, "beijing");
  EXPECT_EQ(Json::parse(RunPlan(kSnapshot + other, {"-o", "json"}).out)["leases"][0]["node"], "n1");
}

TEST(CapacityPlanTest, DeletedPoolIsDrainedAndPoolWithHostNetworkKeepsItsNodes) {
  const std::string pool = "---\napiVersion: apps.openyurt.io/v1beta2\nkind: NodePool\n";
  const Json gone =
      Json::parse(RunPlan(kSnapshot + pool + "metadata: {name: hangzhou, deletionTimestamp: 2026-11-22T11:00:00Z}\n",
                          {"-o", "json"})
                      .out);
  EXPECT_EQ(gone["releases"], Json{"n2"});
  EXPECT_EQ(gone["shortages"][0]["reason"], "Draining");
  const Ran kept = RunPlan(kSnapshot + pool + "metadata: {name: hangzhou}\nspec: {hostNetwork: yes}\n", {"-o", "json"});
  EXPECT_EQ(Json::parse(kept.out)["releases"], Json::array());
  EXPECT_EQ(Json::parse(kept.out)["shortages"][0]["reason"], "Stopped");
  EXPECT_THAT(kept.err, HasSubstr("note: NodePool \"hangzhou\" has spec.hostNetwork: true"));
}

TEST(CapacityPlanTest, JsonListIsReadAndATruncatedOneIsRejected) {
  const std::string list = R"({"apiVersion": "v1", "kind": "List", "items": [
    {"apiVersion": "capacity.openyurt.io/v1alpha1", "kind": "NodePoolAutoscaler", "metadata": {"name": "a"},
     "spec": {"nodePool": "p", "inventorySelector": {}}},
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"conditions": 3}}]})";
  EXPECT_EQ(RunPlan(list).code, kDone);
  const Ran cut = RunPlan(list.substr(0, list.size() - 3));
  EXPECT_EQ(cut.code, kFailed);
  EXPECT_THAT(cut.err, HasSubstr("standard input: line "));
}

TEST(CapacityPlanTest, InvalidInputIsRejectedWithTheFix) {
  const std::string node = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n---\n";
  const std::string pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n";
  const std::vector<std::pair<std::string, std::string>> cases{
      {node,
       "there is no NodePoolAutoscaler (apiVersion capacity.openyurt.io/v1alpha1), and a plan needs "
       "exactly one: add it"},
      {"", "there is no NodePoolAutoscaler"},
      {std::string(kAutoscaler) + kAutoscaler,
       "there are 2 NodePoolAutoscalers (\"a\", \"a\"), and a plan needs exactly one: keep one of them"},
      {std::string(kAutoscaler) + node + node, "Node \"n1\" is duplicated: remove one"},
      {std::string(kAutoscaler) + pod + pod, "Pod \"default/a\" is duplicated: remove one"},
      {std::string(kAutoscaler) + "apiVersion: apps/v1\nkind: Deployment\n",
       "object 2 (apps/v1 Deployment) does not belong in a snapshot: remove it; a snapshot has Nodes and Pods of v1, "
       "one NodePoolAutoscaler of capacity.openyurt.io/v1alpha1, and optionally its NodePool of apps.openyurt.io"},
      {std::string(kAutoscaler) + "kind: Node\nmetadata: {name: x}\n",
       "object 2 (without an apiVersion, Node) does not belong"},
      {std::string(kAutoscaler) + "apiVersion: v1\n", "object 2 (v1 without a kind) does not belong"},
      {std::string(kAutoscaler) + "apiVersion: v1\nkind: List\nitems: [3]\n",
       "object 2 (without an apiVersion, without a kind)"},
      {"- 1\n", "a document is not an object with apiVersion and kind"},
      {"a: [1\n", "standard input: line "},
      {"apiVersion: capacity.openyurt.io/v1alpha1\nkind: NodePoolAutoscaler\nmetadata: {name: a}\n"
       "spec: {nodePool: p, mode: on, minNodes: -1}\n",
       "standard input: NodePoolAutoscaler \"a\" is invalid: [spec.mode: Invalid value: true: must be a string, "
       "spec.inventorySelector: Required value: select the spare nodes by a label that they have, spec.minNodes: "
       "Invalid value: -1: must be greater than or equal to 0]"},
  };
  for (const auto& [input, error] : cases) {
    const Ran ran = RunPlan(input);
    EXPECT_EQ(ran.code, kFailed) << input;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, AllOf(StartsWith("error: standard input: "), HasSubstr(error)));
  }
  const Ran missing = RunIt({"plan", "-f", "/nowhere/s.yaml"}, "");
  EXPECT_EQ(missing.code, kFailed);
  EXPECT_THAT(missing.err, HasSubstr("/nowhere/s.yaml: No such file"));
}

TEST(CapacityPlanTest, AnInvalidCommandLineExitsWithTwo) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"plan"}, "give a file with Nodes, Pods and one NodePoolAutoscaler: kubectl yad capacity plan -f FILE"},
      {{"plan", "-f", "x", "--now=yesterday"},
       "\"yesterday\" is not a valid time: give an RFC 3339 time such as 2026-11-22T12:00:00Z"},
      {{"plan", "-f", "x", "--now", "2026-13-01T00:00:00Z"}, "is not a valid time"},
      {{"plan", "-f", "x", "-o", "wide"}, "unknown output format \"wide\"; valid: json|yaml"},
      {{"plan", "hangzhou", "-f", "x"}, "capacity plan takes no NAME: it reads the NodePoolAutoscaler from the file"},
      {{"pod/x"}, "\"pod/x\" is not a valid NodePoolAutoscaler: give NAME or npa/NAME"},
      {{"A_b"}, "\"A_b\" is not a valid name of a NodePoolAutoscaler"},
  };
  for (const auto& [arguments, error] : cases) {
    const Ran ran = RunIt(arguments, "");
    EXPECT_EQ(ran.code, kUsage) << error;
    const std::string command = arguments.front() == "plan" ? "capacity plan" : "capacity";
    EXPECT_THAT(ran.err, AllOf(HasSubstr(error), HasSubstr("See 'kubectl yad " + command + " --help'")));
  }
  EXPECT_THAT(RunIt({"plan", "--help"}, "").out,
              AllOf(HasSubstr("--now TIME"), HasSubstr("kubectl get npa,nodes,pods")));
}

TEST(CapacityPlanTest, UnquotedValuesAreReadAsTextAndReported) {
  const std::string snapshot = std::string(kAutoscaler) +
                               "apiVersion: v1\nkind: Node\nmetadata: {name: 7, labels: {s: t, zone: 1, gpu: yes}}\n"
                               "status: {allocatable: {cpu: 2}, conditions: [{type: Ready, status: True}]}\n---\n"
                               "apiVersion: v1\nkind: Pod\nmetadata: {name: b}\n"
                               "spec: {nodeSelector: {apps.openyurt.io/nodepool: p, zone: 1}}\n"
                               "status: {phase: Pending, conditions: [{type: PodScheduled, status: no, reason: "
                               "Unschedulable}]}\n";
  const Ran ran = RunPlan(snapshot, {"-o", "json"});
  EXPECT_EQ(Json::parse(ran.out)["expectations"], (Json{{"default/b", "7"}}));
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("note: Node 2: metadata.name is not a string, and is read as \"7\": put it in quotes"),
                    HasSubstr("metadata.labels.zone is not a string, and is read as \"1\""),
                    HasSubstr("note: Pod \"b\": spec.nodeSelector.zone is not a string")));
}

TEST(CapacityPlanTest, MalformedObjectsAreSkipped) {
  std::string snapshot = kSnapshot;
  for (const char* junk : {"metadata: 1\n", "metadata: {labels: {a: b}}\n", "metadata: {name: x1, labels: [1]}\n",
                           "metadata: {name: x2}\nspec: {taints: {}}\nstatus: [1, 2]\n",
                           "metadata: {name: x3, annotations: {capacity.openyurt.io/lease: no}}\nspec: x\n",
                           "metadata: {name: x4, annotations: {capacity.openyurt.io/lease: '{\"pool\": 3}'}}\n",
                           "metadata: {name: x5}\nstatus: {conditions: [1, {}, {type: []}], allocatable: {cpu: -}}\n",
                           "metadata: {name: x6}\nspec: {containers: 1, tolerations: [1], nodeSelector: [a]}\n"}) {
    snapshot += std::string("---\napiVersion: v1\nkind: Node\n") + junk;
    snapshot += std::string("---\napiVersion: v1\nkind: Pod\n") + junk;
  }
  const Ran ran = RunPlan(snapshot, {"-o", "json"});
  EXPECT_EQ(ran.code, kDone);
  EXPECT_EQ(Json::parse(ran.out)["expectations"], (Json{{"shop/web-1", "n1"}}));
  EXPECT_THAT(ran.err, HasSubstr("a Node, has no metadata.name, and is ignored"));
}

// ---- the output for a cluster

Json AutoscalerJson() {
  return Json::parse(R"({
    "apiVersion": "capacity.openyurt.io/v1alpha1", "kind": "NodePoolAutoscaler",
    "metadata": {"name": "hangzhou", "creationTimestamp": "2026-11-22T11:00:00Z"},
    "spec": {"nodePool": "hangzhou", "mode": "Auto", "inventorySelector": {"matchLabels": {"inventory": "spare"}}},
    "status": {"leased": 3, "idle": 1, "inUse": 1, "joining": 1, "releasing": 0, "quarantined": 1,
      "standby": [{"name": "small", "want": 2, "have": 1}],
      "shortages": [
        {"requirements": {"size": "l"}, "pods": ["shop/a", "shop/b"], "reason": "NoCapacity",
         "since": "2026-11-22T11:58:00Z", "retryAt": "2026-11-22T12:01:00Z"},
        {"requirements": {}, "pods": [], "reason": "NoCapacity"}],
      "conditions": [{"type": "Ready", "status": "False", "reason": "HostNetwork", "message": "can't leave"},
                     {"type": "Short", "status": "True", "reason": "NoCapacity"}]}})");
}
Json NodeJson(const std::string& name, const StringMap& annotations) {
  return {{"metadata", {{"name", name}, {"annotations", annotations}}},
          {"status", {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
}
std::string LeaseOf(const std::string& pool, const std::string& phase, const std::string& pod) {
  return Json{{"pool", pool}, {"phase", phase}, {"for", pod}, {"since", "2026-11-22T11:55:00Z"}}.dump();
}

class CapacityTest : public ConsoleTest {
 protected:
  CapacityTest() {
    clock_.SetWall(ParseTime("2026-11-22T12:00:00Z"));
    options_.command = "capacity";
    transport_->OnSend([this](const HttpRequest& request) -> Result<HttpResponse> {
      const std::string path = PathOf(request);
      const std::string selector = QueryOf(request, "labelSelector");
      const std::string autoscalers = "/apis/capacity.openyurt.io/v1alpha1/nodepoolautoscalers";
      if (path == autoscalers) return JsonResponse({{"items", {AutoscalerJson()}}});
      if (path == autoscalers + "/hangzhou") return JsonResponse(AutoscalerJson());
      if (path == "/api/v1/nodes" && selector == "apps.openyurt.io/nodepool=hangzhou") {
        return JsonResponse({{"items",
                              {NodeJson("n1", {{kLeaseAnnotation, LeaseOf("hangzhou", "InUse", "")}}),
                               NodeJson("n2", {{kLeaseAnnotation, LeaseOf("hangzhou", "Joining", "u1")}}),
                               NodeJson("n3", {{kLeaseAnnotation, LeaseOf("hangzhou", "Reserved", "u2")}}),
                               NodeJson("n4", {{kLeaseAnnotation, "junk"}}), NodeJson("permanent", {})}}});
      }
      if (path == "/api/v1/nodes" && selector == "inventory=spare")
        return JsonResponse({{"items", {NodeJson("q1", {{kQuarantineAnnotation, "2026-11-22 not Ready"}})}}});
      if (path == "/api/v1/pods") {
        return pods_forbidden_
                   ? StatusResponse(403, "Forbidden", "no pods for you")
                   : JsonResponse({{"items", {{{"metadata", {{"name", "a"}, {"namespace", "shop"}, {"uid", "u1"}}}}}}});
      }
      return StatusResponse(404, "NotFound", missing_);
    });
  }
  Result<int> Run() {
    Session session{options_, console_, client_, "ns", clock_};
    return RunCapacity(session);
  }

  const std::shared_ptr<FakeTransport> transport_ = std::make_shared<FakeTransport>();
  Client client_{transport_, {}};
  FakeClock clock_;
  PluginOptions options_;
  bool pods_forbidden_ = false;
  std::string missing_ = "nodepoolautoscalers.capacity.openyurt.io \"x\" not found";
};

TEST_F(CapacityTest, EachAutoscalerIsPrintedOnOneLine) {
  ASSERT_EQ(Run(), kDone);
  EXPECT_EQ(out_.str(),
            "NAME       POOL       MODE   LEASED   IDLE   INUSE   JOINING   RELEASING   QUARANTINED   STANDBY     "
            "SHORT                            CONDITIONS                  AGE\n"
            "hangzhou   hangzhou   Auto   3        1      1       1         0           1             small 1/2   "
            "NoCapacity: 2 pods and standby   Ready=False (HostNetwork)   60m\n");
}

TEST_F(CapacityTest, NamedAutoscalerIsShownWithItsNodesAndShortages) {
  options_.autoscaler = "hangzhou";
  ASSERT_EQ(Run(), kDone);
  const std::string& out = out_.str();
  EXPECT_THAT(out, HasSubstr("\n"
                             "NODE   PHASE                                FOR      SINCE   READY\n"
                             "n1     InUse                                <none>   5m      True\n"
                             "n2     Joining                              shop/a   5m      True\n"
                             "n3     Reserved                             uid u2   5m      True\n"
                             "n4     <unreadable: is not a JSON object>"));
  EXPECT_THAT(out, Not(HasSubstr("permanent")));
  EXPECT_THAT(out, HasSubstr("QUARANTINED NODE   WHY\nq1                 2026-11-22 not Ready\n"));
  EXPECT_THAT(out, HasSubstr("STANDBY   WANT   HAVE\nsmall     2      1\n"));
  EXPECT_THAT(out, HasSubstr("SHORT        REQUIREMENTS   SINCE       RETRY    PODS\n"
                             "NoCapacity   size=l         2m          in 60s   shop/a, shop/b\n"));
  EXPECT_THAT(out, HasSubstr("Ready       False    HostNetwork   can't leave\n"));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(CapacityTest, ForbiddenReadsAreReportedAndTheRestIsShown) {
  options_.autoscaler = "hangzhou";
  pods_forbidden_ = true;
  ASSERT_EQ(Run(), kDone);
  EXPECT_THAT(out_.str(), HasSubstr("uid u1"));
  EXPECT_EQ(err_.str(), "Warning: pods can't be read: no pods for you\n");
}

TEST_F(CapacityTest, JsonOutputHasTheObjectsUnchanged) {
  options_.output = OutputFormat::kJson;
  ASSERT_EQ(Run(), kDone);
  EXPECT_EQ(Json::parse(out_.str())["items"].size(), 1u);
  out_.str("");
  options_.autoscaler = "hangzhou";
  ASSERT_EQ(Run(), kDone);
  EXPECT_EQ(Json::parse(out_.str()), AutoscalerJson());
}

TEST_F(CapacityTest, MissingObjectsAndTypesAreReportedWithTheFix) {
  options_.autoscaler = "beijing";
  EXPECT_THAT(Run().error().message, HasSubstr("\"beijing\" not found (kubectl yad capacity lists all)"));
  missing_ = "the server could not find the requested resource";
  EXPECT_THAT(Run().error().message, HasSubstr("install the operator with nodePoolAutoscaler.enabled=true"));
}

TEST(CapacityCompletionTest, CompletionOffersPlanOnlyAfterCapacity) {
  const auto complete = [](const std::vector<std::string>& words) {
    std::ostringstream out, err;
    std::istringstream in;
    Console console{out, err, in, [] { return std::nullopt; }};
    RunComplete(words, console);
    return out.str();
  };
  EXPECT_THAT(complete({"--kubeconfig=/nowhere", "capacity", "p"}), StartsWith("plan\tShow the leases and releases"));
  EXPECT_THAT(complete({"cap"}), AllOf(StartsWith("capacity\tShow the NodePoolAutoscalers"), Not(HasSubstr("plan"))));
  EXPECT_THAT(complete({"capacity", "plan", "--n"}), HasSubstr("--now\t"));
  EXPECT_EQ(complete({"capacity", "plan", "-o", ""}), "json\nyaml\n:4\n");
  EXPECT_EQ(complete({"capacity", "plan", "-f", ""}), ":0\n");
}

}  // namespace
}  // namespace yad
