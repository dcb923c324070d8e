#include "tests/cluster/fixture.h"

#include <algorithm>
#include <iostream>
#include <sstream>

#include "operator/api/label_selector.h"
#include "tests/cluster/rights.h"
#include "tests/support/webhook_setup.h"

namespace yad::testing {
namespace {

// NOLINTBEGIN: the environment below destroys these
std::unique_ptr<ControlPlane> shared_plane;
std::unique_ptr<Helm> shared_helm;
std::unique_ptr<ChartInstall> shared_install;
// NOLINTEND

class Environment : public ::testing::Environment {
 public:
  void TearDown() override {
    if (shared_install != nullptr) {
      CheckRights(*shared_plane, *shared_install);
      shared_install->LeaveInstalled();
    }
    shared_install.reset();
    shared_plane.reset();
  }
};
[[maybe_unused]] auto* const environment = ::testing::AddGlobalTestEnvironment(new Environment);

std::string Tail(const std::string& text, int count) {
  auto at = text.size();
  while (at > 0 && count > 0) {
    --at;
    if (text[at] == '\n' && at + 1 < text.size()) --count;
  }
  return text.substr(at);
}

constexpr char kTestLabel[] = "cluster-test";

}  // namespace

ControlPlane* SharedControlPlane() {
  static bool tried = false;
  static std::string why_not;
  if (!tried) {
    tried = true;
    why_not = ControlPlane::Missing(YAD_SOURCE_DIR) + Helm::Missing(YAD_SOURCE_DIR);
    if (why_not.empty()) {
      try {
        shared_plane = std::make_unique<ControlPlane>(YAD_SOURCE_DIR);
        shared_helm = std::make_unique<Helm>(YAD_SOURCE_DIR, *shared_plane);
        ChartInstallOptions options;
        options.release = kOperatorAccount;
        options.values = {"crds.enabled=false",
                          "nodePoolController.mode=Auto",
                          "nodePoolController.requiredCsiDrivers={disk.csi.example.com}",
                          "nodePoolAutoscaler.enabled=true",
                          "checks.jobs=true",
                          "prefetch.enabled=true",
                          std::string("webhook.namespaceSelector.matchLabels.") + kReviewedLabel + "=yes"};
        shared_install = std::make_unique<ChartInstall>(*shared_helm, *shared_plane, options);
        // Removes the webhook for cluster-scoped objects. No namespace selector limits it, so it would review the
        // autoscalers of all tests.
        Kube(shared_plane->client(), "").Edit(kValidatingWebhookConfigurationType, shared_install->name(), [](Json& c) {
          std::erase_if(c["webhooks"].get_ref<Json::array_t&>(),
                        [](const Json& webhook) { return webhook["rules"][0]["scope"] == "Cluster"; });
        });
      } catch (const TestFailure& failure) {
        why_not = failure.what();
        ADD_FAILURE() << why_not;
      }
    }
  }
  if (shared_plane != nullptr) return shared_plane.get();
  const auto skip = [] { GTEST_SKIP() << why_not; };
  const auto fail = [] { FAIL() << why_not; };
  InCi() ? fail() : skip();
  return nullptr;
}

ChartInstall* SharedInstall() { return shared_install.get(); }

void ClusterTest::SetUp() {
  plane_ = SharedControlPlane();
  if (plane_ == nullptr) return;
  static int number = 0;
  prefix_ = "t" + std::to_string(++number);
  ns_ = prefix_;
  kube_ = std::make_unique<Kube>(plane_->client(), ns_);
  log_file_ = plane_->dir() + "/operator-" + ns_ + ".log";
  kube_->Create(kNamespaceType, {{"metadata", {{"name", ns_}}}});
  plane_->MarkAuditLog();
}

void ClusterTest::TearDown() {
  if (plane_ == nullptr) return;
  if (operator_ != nullptr) {
    const std::optional<int> code = operator_->ExitCode();
    if (operator_expected_ && code.has_value()) ADD_FAILURE() << "the operator exited by itself with code " << *code;
    if (HasFailure()) {
      std::cerr << "---- the operator's log, " << log_file_ << "\n" << Tail(ReadFile(log_file_), 60) << "----\n";
    }
    operator_.reset();
  }
  for (const std::string& pool : pools_) kube_->Delete(kNodePoolType, pool);
  for (const std::string& node : nodes_) kube_->Delete(kNodeType, node);
  DeleteObjects();
}

void ClusterTest::DeleteObjects() {
  for (const ResourceType& type :
       {kYurtAppDaemonType, kDeploymentType, kStatefulSetType, kDaemonSetType, kJobType, kServiceType, kPodType}) {
    ListOptions options;
    options.ns = ns_;
    options.metadata_only = true;
    const Result<ListPage> page = kube_->client().List(type, options);
    if (!page) continue;  // a test may have deleted the CRD
    for (const Json& object : page->items) {
      // The garbage collector deletes the pods of workloads.
      if (type == kPodType && ParseMeta(object).controller() != nullptr) continue;
      static_cast<void>(kube_->client().Delete(type, {ns_, NameOf(object)}));
    }
  }
}

OperatorOptions ClusterTest::DefaultOptions() {
  OperatorOptions options;
  options.binary = YAD_OPERATOR_BINARY;
  static const std::string kubeconfig = SharedInstall()->kubeconfig();
  options.kubeconfig = kubeconfig;
  options.ns = ns_;
  options.log_file = log_file_;
  return options;
}

OperatorProcess& ClusterTest::LaunchOperator(const std::vector<std::string>& flags) {
  OperatorOptions options = DefaultOptions();
  options.flags.insert(options.flags.end(), flags.begin(), flags.end());
  operator_ = std::make_unique<OperatorProcess>(options);
  operator_expected_ = true;
  return *operator_;
}

OperatorProcess& ClusterTest::StartOperator(const std::vector<std::string>& flags) {
  LaunchOperator(flags).WaitUntilReady();
  return *operator_;
}

void ClusterTest::StopOperator() {
  operator_expected_ = false;
  EXPECT_EQ(operator_->Stop(), 0) << "exit code after SIGTERM";
}

void ClusterTest::KillOperator() {
  operator_expected_ = false;
  operator_->Kill();
}

std::string ClusterTest::AddPool(const std::string& suffix, const Json& spec, const Json& labels) {
  return AddPoolNamed(Pool(suffix), spec, labels);
}

std::string ClusterTest::AddPoolNamed(const std::string& name, const Json& spec, const Json& labels) {
  Json pool = {{"metadata", {{"name", name}, {"labels", {{kTestLabel, prefix_}}}}}, {"spec", {{"type", "Edge"}}}};
  pool["metadata"]["labels"].update(labels);
  pool["spec"].update(spec);
  kube_->Create(kNodePoolType, pool);
  pools_.push_back(name);
  return name;
}

std::vector<std::string> ClusterTest::AddPools(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    const std::string digits = std::to_string(1000 + i);
    names.push_back(AddPool("p" + digits.substr(1)));
  }
  return names;
}

void ClusterTest::Unselect(const std::string& pool) {
  kube_->MergePatch(kNodePoolType, pool, {{"metadata", {{"labels", {{kTestLabel, nullptr}}}}}});
}

void ClusterTest::Select(const std::string& pool) {
  kube_->MergePatch(kNodePoolType, pool, {{"metadata", {{"labels", {{kTestLabel, prefix_}}}}}});
}

void ClusterTest::DeletePool(const std::string& pool) { kube_->Delete(kNodePoolType, pool); }

void ClusterTest::AddNode(const std::string& pool, const Json& taints, const Json& labels) {
  const std::string name = Pool("node-" + std::to_string(nodes_.size()));
  Json all = {{kNodePoolLabel, pool}, {kTestLabel, prefix_}};
  all.update(labels);
  MakeNode(*kube_, name, all, taints);
  nodes_.push_back(name);
}

Json ClusterTest::Daemon(const std::string& name, std::optional<int> replicas) const {
  Json spec = {{"template",
                {{"metadata", {{"labels", {{"app", name}}}}},
                 {"spec", {{"containers", {{{"name", "main"}, {"image", "example.org/app:1"}}}}}}}}};
  if (replicas.has_value()) spec["replicas"] = *replicas;
  if (kind() == WorkloadKind::kStatefulSet) spec["serviceName"] = "app";
  return {{"metadata", {{"name", name}}},
          {"spec",
           {{"selector", {{"matchLabels", {{"app", name}}}}},
            {"nodepoolSelector", {{"matchLabels", {{kTestLabel, prefix_}}}}},
            {"workloadTemplate",
             {{TemplateField(kind()), {{"metadata", {{"labels", {{"app", name}}}}}, {"spec", spec}}}}}}}};
}

Json ClusterTest::PatchSpec(const std::string& daemon, const Json& patch) {
  return kube_->MergePatch(kYurtAppDaemonType, daemon, {{"spec", patch}});
}

Json ClusterTest::PatchTemplate(const std::string& daemon, const Json& patch) {
  return PatchSpec(daemon, {{"workloadTemplate", {{TemplateField(kind()), patch}}}});
}

Json ClusterTest::SetImage(const std::string& daemon, const std::string& image) {
  return kube_->Edit(kYurtAppDaemonType, daemon, [&](Json& object) {
    object["spec"]["workloadTemplate"][TemplateField(kind())]["spec"]["template"]["spec"]["containers"][0]["image"] =
        image;
  });
}

Json ClusterTest::WaitForStatus(const std::string& daemon, const std::string& what,
                                const std::function<bool(const Json& status)>& is) {
  Json object;
  Eventually(daemon + ": " + what, [&]() -> std::string {
    object = GetDaemon(daemon);
    const Json status = At(object, "/status");
    if (IntAt(object, {"status", "observedGeneration"}) != IntAt(object, {"metadata", "generation"})) {
      return "generation " + At(object, "/metadata/generation").dump() + " is not observed; status: " + status.dump();
    }
    return is(status) ? "" : "status: " + status.dump();
  });
  return object;
}

Json ClusterTest::WaitForProgress(const std::string& reason) {
  return WaitForStatus("web", "Progressing has reason " + reason, [&](const Json& status) {
    return StringAt(ConditionOf({{"status", status}}, "Progressing"), {"reason"}) == reason;
  });
}

void ClusterTest::SetBadTemplate() {
  PatchTemplate("web", {{"spec", {{"template", {{"spec", {{"nodeSelector", {{"no-such", "node"}}}}}}}}}});
}

Json ClusterTest::WaitUntilObserved(const std::string& daemon) {
  return WaitForStatus(daemon, "is observed", [](const Json&) { return true; });
}

std::size_t ClusterTest::CountSelectedPools(const std::string& daemon) {
  const auto selector = LabelSelector::Parse(At(GetDaemon(daemon), "/spec/nodepoolSelector"), "nodepoolSelector");
  if (!selector.has_value()) throw TestFailure(selector.error().message);
  const std::vector<Json> pools = kube_->List(kNodePoolType);
  return std::ranges::count_if(pools, [&](const Json& pool) {
    return selector->Matches(StringMapAt(pool, {"metadata", "labels"})) &&
           StringAt(pool, {"metadata", "deletionTimestamp"}).empty();
  });
}

Json ClusterTest::WaitUntilReady(const std::string& daemon) {
  // Also compares the number of pools: the operator may observe the daemon before its pools, and a daemon without pools
  // is Ready.
  const auto selected = static_cast<std::int64_t>(CountSelectedPools(daemon));
  return WaitForStatus(daemon, "is Ready", [&](const Json& status) {
    return ConditionStatus({{"status", status}}, "Ready") == "True" &&
           At(ConditionOf({{"status", status}}, "Ready"), "/observedGeneration") == At(status, "/observedGeneration") &&
           IntAt(status, {"desiredPools"}) >= selected;
  });
}

std::vector<Json> ClusterTest::Workloads(const std::string& daemon) {
  const std::string uid = UidOf(GetDaemon(daemon));
  std::vector<Json> workloads = kube_->List(type());
  std::erase_if(workloads, [&](const Json& workload) {
    const ObjectMeta meta = ParseMeta(workload);
    return meta.controller() == nullptr || meta.controller()->uid != uid;
  });
  return workloads;
}

std::map<std::string, Json> ClusterTest::ByPool(const std::string& daemon) {
  std::map<std::string, Json> by_pool;
  for (const Json& workload : Workloads(daemon)) {
    const std::string pool = Annotation(workload, kRefNodePoolAnnotation);
    if (!by_pool.emplace(pool, workload).second) throw TestFailure("two workloads of " + daemon + " for pool " + pool);
  }
  return by_pool;
}

Json ClusterTest::WorkloadOf(const std::string& daemon, const std::string& pool) {
  const auto by_pool = ByPool(daemon);
  const auto found = by_pool.find(pool);
  if (found == by_pool.end()) throw TestFailure(daemon + " has no workload for pool " + pool);
  return found->second;
}

void ClusterTest::WaitForPools(const std::string& daemon, const std::vector<std::string>& pools) {
  std::vector<std::string> wanted = pools;
  std::sort(wanted.begin(), wanted.end());
  Eventually(daemon + " has workloads for exactly its pools", [&]() -> std::string {
    std::vector<std::string> have;
    for (const auto& [pool, workload] : ByPool(daemon)) have.push_back(pool);
    return have == wanted ? "" : "it has " + Json(have).dump() + ", not " + Json(wanted).dump();
  });
}

std::vector<Json> ClusterTest::Revisions(const std::string& daemon) {
  const std::string uid = UidOf(GetDaemon(daemon));
  std::vector<Json> revisions = kube_->List(kControllerRevisionType, std::string(kOurRevisionLabel) + "=true");
  std::erase_if(revisions, [&](const Json& revision) {
    const ObjectMeta meta = ParseMeta(revision);
    return meta.controller() == nullptr || meta.controller()->uid != uid;
  });
  std::sort(revisions.begin(), revisions.end(),
            [](const Json& a, const Json& b) { return IntAt(a, {"revision"}) < IntAt(b, {"revision"}); });
  return revisions;
}

void ClusterTest::Barrier() {
  const std::string name = "barrier-" + std::to_string(++barriers_);
  Json daemon = Daemon(name, 0);
  daemon["spec"]["nodepoolSelector"] = {{"matchLabels", {{kTestLabel, "no-pool-has-this"}}}};
  CreateDaemon(daemon);
  WaitUntilObserved(name);
  kube_->Delete(kYurtAppDaemonType, name);
}

std::vector<Json> ClusterTest::EventsAbout(const std::string& name, const std::string& kind) {
  std::vector<Json> events = kube_->List(kEventType);
  std::erase_if(events, [&](const Json& event) {
    return StringAt(event, {"regarding", "name"}) != name || StringAt(event, {"regarding", "kind"}) != kind;
  });
  return events;
}

ProcessResult ClusterTest::TryKubectl(std::vector<std::string> arguments, const std::string& input) {
  arguments.insert(arguments.begin(), "--namespace=" + ns_);
  return plane_->TryKubectl(std::move(arguments), input);
}

std::string ClusterTest::Kubectl(std::vector<std::string> arguments, const std::string& input) {
  arguments.insert(arguments.begin(), "--namespace=" + ns_);
  return plane_->Kubectl(std::move(arguments), input);
}

std::vector<WorkloadKind> KindsToRun(WorkloadKind usual) {
  if (RunsEverything()) return {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet};
  return {usual};
}

std::string KindName(const ::testing::TestParamInfo<WorkloadKind>& parameter) { return TypeOf(parameter.param).kind; }

long MemoryOf(pid_t pid, const std::string& name) {
  std::istringstream lines(ReadFile("/proc/" + std::to_string(pid) + "/status"));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(name + ":", 0) == 0) return std::atol(line.c_str() + name.size() + 1);
  }
  throw TestFailure("no " + name + " in /proc");
}

std::string Label(const Json& object, const std::string& key) { return StringAt(object, {"metadata", "labels", key}); }
std::string Annotation(const Json& object, const std::string& key) {
  return StringAt(object, {"metadata", "annotations", key});
}

std::string ImageOf(const Json& workload) {
  const Json image = At(workload, "/spec/template/spec/containers/0/image");
  return image.is_string() ? image.get<std::string>() : "";
}

const Json* Container(const Json& workload, const std::string& name) {
  const Json* containers = Find(workload, {"spec", "template", "spec", "containers"});
  if (containers == nullptr || !containers->is_array()) return nullptr;
  for (const Json& container : *containers) {
    if (StringAt(container, {"name"}) == name) return &container;
  }
  return nullptr;
}

Json ConditionOf(const Json& daemon, const std::string& type) {
  for (const Json& condition : At(daemon, "/status/conditions")) {
    if (StringAt(condition, {"type"}) == type) return condition;
  }
  return {};
}

std::string ConditionStatus(const Json& daemon, const std::string& type) {
  return StringAt(ConditionOf(daemon, type), {"status"});
}

Json PoolStatus(const Json& daemon, const std::string& pool) {
  for (const Json& entry : At(daemon, "/status/pools")) {
    if (StringAt(entry, {"name"}) == pool) return entry;
  }
  return {};
}

Json PodTemplate(const Json& workload) { return At(workload, "/spec/template"); }

}  // namespace yad::testing
