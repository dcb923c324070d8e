// The autoscaler leases spare nodes for pending pods, and releases idle nodes. One operator serves all autoscalers of
// the control plane, so each test deletes its own.
#include <atomic>
#include <csignal>
#include <set>
#include <thread>

#include "operator/capacity/autoscaler.h"
#include "operator/capacity/lease.h"
#include "tests/cluster/fixture.h"
#include "tests/support/write_gate.h"

namespace yad::testing {
namespace {

using ::testing::HasSubstr;

const ResourceType kPolicyType{"admissionregistration.k8s.io", "v1", "validatingadmissionpolicies",
                               "ValidatingAdmissionPolicy", false};
const ResourceType kPolicyBindingType{"admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings",
                                      "ValidatingAdmissionPolicyBinding", false};
constexpr char kInventory[] = "capacity-test-inventory";

class CapacityTest : public ClusterTest {
 protected:
  void TearDown() override {
    if (!autoscaler_.empty()) kube().Delete(kNodePoolAutoscalerType, autoscaler_);
    for (const std::string& node : spares_) kube().Delete(kNodeType, node);
    ClusterTest::TearDown();
  }

  void StartAutoscaler() { StartOperator({"--controllers=nodepool-autoscaler"}); }

  // Adds a spare node. Its taint keeps out the pods of other tests.
  std::string AddSpare(const std::string& suffix, const std::string& cpu = "2") {
    const Json resources = {{"cpu", cpu}, {"memory", "16Gi"}, {"pods", "50"}};
    const std::string name = Pool(suffix);
    kube().Create(kNodeType, {{"metadata", {{"name", name}, {"labels", {{kInventory, ns()}}}}},
                              {"spec", {{"taints", {{{"key", "spare"}, {"effect", "NoSchedule"}}}}}},
                              {"status", {{"capacity", resources}, {"allocatable", resources}}}});
    spares_.push_back(name);
    Eventually("the node is Ready and schedulable", [&] {
      const Json node = GetNode(name);
      return ParseNode(node).ready() && At(node, "/spec/taints").size() == 1;
    });
    return name;
  }
  Json GetNode(const std::string& name) { return kube().Get(kNodeType, name); }

  // Creates an autoscaler for `pool` with the shortest delays.
  void AddAutoscaler(const std::string& pool, const Json& spec = Json::object()) {
    Json object{{"metadata", {{"name", pool}}},
                {"spec",
                 {{"nodePool", pool},
                  {"inventorySelector", {{"matchLabels", {{kInventory, ns()}}}}},
                  {"scaleUp", {{"pendingSeconds", 0}}},
                  {"scaleDown", {{"idleSeconds", 1}}}}}};
    object["spec"].update(spec, true);
    kube().Create(kNodePoolAutoscalerType, object);
    autoscaler_ = pool;
  }
  Json StatusOf(const std::string& autoscaler) {
    return kube().Get(kNodePoolAutoscalerType, autoscaler).value("status", Json::object());
  }
  std::string ReadyReason(const std::string& autoscaler) {
    for (const Json& condition : StatusOf(autoscaler).value("conditions", Json::array())) {
      if (condition["type"] == "Ready") return StringAt(condition, {"reason"});
    }
    return "";
  }

  void AddPod(const std::string& name, const std::string& pool, const std::string& cpu, Json spec = Json::object()) {
    spec["containers"] = {
        {{"name", "main"}, {"image", "example.org/app:1"}, {"resources", {{"requests", {{"cpu", cpu}}}}}}};
    spec["nodeSelector"] = {{kNodePoolLabel, pool}};
    for (const char* key : {"spare", "shop"}) spec["tolerations"].push_back({{"key", key}, {"operator", "Exists"}});
    spec["terminationGracePeriodSeconds"] = 0;
    kube().Create(kPodType, {{"metadata", {{"name", name}}}, {"spec", spec}});
  }
  std::string NodeOfPod(const std::string& name) {
    const Json pod = kube().Get(kPodType, name);
    return StringAt(pod, {"status", "phase"}) == "Running" ? StringAt(pod, {"spec", "nodeName"}) : "";
  }
  void DeletePod(const std::string& name) {
    kube().Delete(kPodType, name);
    Eventually("the pod is gone", [&] { return !kube().Find(kPodType, name); });
  }

  // Returns the phase of the node's lease, or "" if it has no lease.
  std::string PhaseOf(const std::string& node) {
    const std::string annotation = StringAt(GetNode(node), {"metadata", "annotations", kLeaseAnnotation});
    return annotation.empty() ? "" : std::string(ToString(ParseLease(annotation)->phase));
  }
  void WaitForPhase(const std::string& node, const std::string& phase) {
    Eventually(
        node + " is " + (phase.empty() ? "free" : phase),
        [&] {
          const std::string now = PhaseOf(node);
          return now == phase ? "" : "it is " + now;
        },
        std::chrono::minutes(2));
  }
  std::set<std::string> Events(const std::string& about) {
    std::set<std::string> reasons;
    // Events about cluster-scoped objects are in namespace "default".
    for (const std::string& ns : {std::string("default"), kube().ns()}) {
      for (const Json& event : Kube(kube().client(), ns).List(kEventType)) {
        if (StringAt(event, {"regarding", "name"}) == about) reasons.insert(StringAt(event, {"reason"}));
      }
    }
    return reasons;
  }

  std::string autoscaler_;
  std::vector<std::string> spares_;
};

// Returns the node without its status, and without the metadata that each write changes.
Json WithoutTimes(Json node) {
  for (const char* field : {"resourceVersion", "managedFields"}) node["metadata"].erase(field);
  node.erase("status");
  if (node["metadata"].contains("annotations") && node["metadata"]["annotations"].empty())
    node["metadata"].erase("annotations");
  return node;
}

TEST_F(CapacityTest, APendingPodGetsASpareNodeThatIsReleasedWhenItIsIdle) {
  const std::string pool =
      AddPool("a", {{"labels", {{"region", "east"}}}, {"taints", {{{"key", "shop"}, {"effect", "NoSchedule"}}}}});
  const std::string small = AddSpare("small");
  const std::string large = AddSpare("large", "8");
  const Json before = GetNode(small);
  StartAutoscaler();
  AddAutoscaler(pool);
  AddPod("p", pool, "1");
  Eventually("the pod runs on the smaller node", [&] { return NodeOfPod("p") == small; });
  WaitForPhase(small, "InUse");
  EXPECT_EQ(PhaseOf(large), "");
  EXPECT_EQ(StringAt(GetNode(small), {"metadata", "labels", "region"}), "east");
  Eventually("status counts the node as leased", [&] {
    const Json status = StatusOf(pool);
    return status.value("leased", 0) == 1 && status.value("inUse", 0) == 1;
  });
  EXPECT_TRUE(Events("p").contains("WaitingForNode"));
  EXPECT_TRUE(Events(pool).contains("NodeLeased"));

  DeletePod("p");
  WaitForPhase(small, "Idle");
  WaitForPhase(small, "Releasing");
  EXPECT_THAT(At(GetNode(small), "/spec/taints").dump(), HasSubstr(kReleasingTaint));
  WaitForPhase(small, "");
  EXPECT_EQ(WithoutTimes(GetNode(small)), WithoutTimes(before));
  Eventually("the release is reported", [&] { return Events(small).contains("NodeReleased"); });
  Eventually("status counts no leased node", [&] { return StatusOf(pool).value("leased", -1) == 0; });
}

TEST_F(CapacityTest, APodUsesAStandbyNodeAndTheStandbyIsRefilled) {
  const std::string pool = AddPool("a");
  const std::string first = AddSpare("n1");
  const std::string second = AddSpare("n2");
  StartAutoscaler();
  AddAutoscaler(pool, {{"standby", {{{"name", "one"}, {"count", 1}}}}});
  WaitForPhase(first, "Idle");
  Eventually("status counts the standby", [&] { return At(StatusOf(pool), "/standby/0/have") == 1; });
  EXPECT_EQ(PhaseOf(second), "");
  AddPod("p", pool, "1");
  Eventually("the pod runs on the standby", [&] { return NodeOfPod("p") == first; });
  WaitForPhase(first, "InUse");
  WaitForPhase(second, "Idle");
}

TEST_F(CapacityTest, StatusListsTheShortageUntilAFittingNodeIsAdded) {
  const std::string pool = AddPool("a");
  AddSpare("small");
  StartAutoscaler();
  AddAutoscaler(pool);
  AddPod("p", pool, "4");
  Eventually("the shortage is reported", [&] {
    const Json shortage = At(StatusOf(pool), "/shortages/0");
    return shortage.is_object() && shortage["reason"] == "NoCapacity" && shortage["pods"] == Json{kube().ns() + "/p"};
  });
  EXPECT_TRUE(Events(pool).contains("NoCapacity"));
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // creation times are whole seconds
  const std::string large = AddSpare("large", "8");
  Eventually("the pod runs", [&] { return NodeOfPod("p") == large; });
  Eventually("status has no shortage", [&] { return At(StatusOf(pool), "/shortages").empty(); });
}

TEST_F(CapacityTest, ANodeIsNotReleasedIfAPodIsScheduledToItDuringTheRelease) {
  const std::string pool = AddPool("a");
  const std::string node = AddSpare("n1");
  StartAutoscaler();
  AddAutoscaler(pool);
  AddPod("first", pool, "1");
  WaitForPhase(node, "InUse");
  DeletePod("first");
  WaitForPhase(node, "Releasing");
  // A scheduler that chose the node before its taint binds a pod in this way.
  AddPod("late", pool, "1", {{"nodeName", node}});
  WaitForPhase(node, "InUse");
  EXPECT_EQ(StringAt(GetNode(node), {"metadata", "labels", kNodePoolLabel}), pool);
  EXPECT_EQ(At(GetNode(node), "/spec/taints").size(), 1U);
}

TEST_F(CapacityTest, ModeAutoStopsWithAConditionIfThePoolLabelCannotBeChanged) {
  const std::string pool = AddPool("a");
  const std::string node = AddSpare("n1");
  const std::string policy = Pool("policy");
  kube().Create(kPolicyType, {{"metadata", {{"name", policy}}},
                              {"spec",
                               {{"failurePolicy", "Fail"},
                                {"matchConstraints",
                                 {{"resourceRules",
                                   {{{"apiGroups", {""}},
                                     {"apiVersions", {"v1"}},
                                     {"operations", {"UPDATE"}},
                                     {"resources", {"nodes"}},
                                     {"resourceNames", {node}}}}}}},
                                {"validations",
                                 {{{"expression", "!('apps.openyurt.io/nodepool' in object.metadata.labels)"},
                                   {"message", "a node's pool can't be changed"}}}}}}});
  kube().Create(kPolicyBindingType, {{"metadata", {{"name", policy}}},
                                     {"spec", {{"policyName", policy}, {"validationActions", {"Deny"}}}}});
  Eventually("the apiserver enforces the policy", [&] {
    WriteOptions dry_run;
    dry_run.dry_run = true;
    const Json patch{{"metadata", {{"labels", {{kNodePoolLabel, pool}}}}}};
    return !kube().client().Patch(yad::kNodeType, {"", node}, PatchType::kMerge, patch, dry_run);
  });
  StartAutoscaler();
  AddAutoscaler(pool);
  AddPod("p", pool, "1");
  Eventually("the rejected change of the label is reported", [&] { return ReadyReason(pool) == "LabelChangeRefused"; });
  EXPECT_THAT(At(StatusOf(pool), "/conditions").dump(), HasSubstr("a node's pool can't be changed"));
  Eventually("the shortage is reported with reason Stopped",
             [&] { return At(StatusOf(pool), "/shortages/0/reason") == "Stopped"; });
  EXPECT_TRUE(Events(pool).contains("LabelChangeRefused"));
  kube().Delete(kPolicyBindingType, policy);
  kube().Delete(kPolicyType, policy);
}

TEST_F(CapacityTest, APoolWithHostNetworkLeasesNoNode) {
  const std::string pool = AddPool("a", {{"hostNetwork", true}});
  const std::string node = AddSpare("n1");
  StartAutoscaler();
  AddAutoscaler(pool);
  AddPod("p", pool, "1");
  Eventually("condition Ready has reason HostNetwork", [&] { return ReadyReason(pool) == "HostNetwork"; });
  EXPECT_EQ(PhaseOf(node), "");
}

TEST_F(CapacityTest, AnInvalidLeaseIsReportedAndItsNodeIsNotChanged) {
  const std::string pool = AddPool("a");
  const std::string node = AddSpare("n1");
  kube().MergePatch(yad::kNodeType, node, {{"metadata", {{"annotations", {{kLeaseAnnotation, "[1,"}}}}}});
  StartAutoscaler();
  AddAutoscaler(pool);
  AddPod("p", pool, "1");
  Eventually("the invalid lease is reported", [&] { return Events(node).contains("InvalidLease"); });
  Eventually("no pool gets the node", [&] { return At(StatusOf(pool), "/shortages/0/reason") == "NoCapacity"; });
  EXPECT_EQ(StringAt(GetNode(node), {"metadata", "annotations", kLeaseAnnotation}), "[1,");
}

TEST_F(CapacityTest, NodesOfADeletedAutoscalerAreReleased) {
  const std::string pool = AddPool("a");
  const std::string node = AddSpare("n1");
  StartAutoscaler();
  AddAutoscaler(pool, {{"standby", {{{"name", "one"}, {"count", 1}}}}});
  WaitForPhase(node, "Idle");
  kube().Delete(kNodePoolAutoscalerType, pool);
  autoscaler_.clear();
  WaitForPhase(node, "Releasing");
}

TEST_F(CapacityTest, NodesOfADeletedPoolAreReleased) {
  const std::string pool = AddPool("a");
  const std::string node = AddSpare("n1");
  StartAutoscaler();
  AddAutoscaler(pool, {{"standby", {{{"name", "one"}, {"count", 1}}}}});
  WaitForPhase(node, "Idle");
  DeletePool(pool);
  WaitForPhase(node, "Releasing");
}

// The operator is killed after each write, so each process writes once.
class CapacityCrashTest : public CapacityTest {
 protected:
  OperatorOptions DefaultOptions() override {
    OperatorOptions options = CapacityTest::DefaultOptions();
    if (proxy_ == nullptr) {
      proxy_ = MakeProxy(options.kubeconfig, [this](const ProxiedRequest& request) { return gate_(request); });
      through_ = KubeconfigThrough(*proxy_, options.kubeconfig, plane().dir() + "/capacity-crash.kubeconfig");
    }
    options.kubeconfig = through_;
    return options;
  }
  void TearDown() override {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    if (HasControlPlane()) KillOperator();
    CapacityTest::TearDown();
    proxy_.reset();
  }

  // Starts an operator, and kills it after its first write.
  void RunUntilFirstWrite() {
    gate_.Hold();
    StartAutoscaler();
    gate_.Arm(op().pid(), 1);
  }

  // From now on, kills the operator after each write, and starts it again.
  void KillAfterEachWrite() {
    RunUntilFirstWrite();
    thread_ = std::jthread([this](std::stop_token stop) {
      while (!stop.stop_requested()) {
        if (gate_.killed()) {
          KillOperator();
          gate_.Disarm();
          ++processes_;
          gate_.Reopen();
          RunUntilFirstWrite();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      gate_.Disarm();
    });
  }

  WriteGate gate_;
  std::unique_ptr<FaultProxy> proxy_;
  std::string through_;
  std::atomic<int> processes_ = 0;
  std::jthread thread_;
};

TEST_F(CapacityCrashTest, OperatorRecoversFromAKillAfterEachWriteOfALeaseAndARelease) {
  const std::string pool = AddPool("a", {{"taints", {{{"key", "shop"}, {"effect", "NoSchedule"}}}}});
  const std::string node = AddSpare("n1");
  const std::string other = AddSpare("n2");
  const Json before = GetNode(node);
  KillAfterEachWrite();
  AddAutoscaler(pool);
  AddPod("p", pool, "1");
  Eventually("the pod runs", [&] { return NodeOfPod("p") == node; });
  WaitForPhase(node, "InUse");
  EXPECT_EQ(PhaseOf(other), "") << "a second node was leased for the same pod";
  DeletePod("p");
  WaitForPhase(node, "Releasing");
  WaitForPhase(node, "");
  EXPECT_EQ(WithoutTimes(GetNode(node)), WithoutTimes(before)) << "the node is only partly released";
  EXPECT_EQ(PhaseOf(other), "");
  // The writes: a lease with two or three phases, a release in two steps, and updates of the status.
  EXPECT_GE(processes_, 6);
}

}  // namespace
}  // namespace yad::testing
