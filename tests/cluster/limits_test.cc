// Large clusters, slow or full servers, and namespaces that are being deleted. Each daemon reports its failure, and the
// operator backs off and recovers by itself.
//
// With YAD_ALL=1, one test has 5,000 pools, and another test has 500 daemons.
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "tests/cluster/fixture.h"
#include "tests/support/fault_proxy.h"
#include "tests/support/https_client.h"

namespace yad::testing {
namespace {

const ResourceType kServiceAccountType{"", "v1", "serviceaccounts", "ServiceAccount", true};

// The number of attempts for one key that are permitted until now: an exponential backoff from 5 ms, plus 10 attempts
// for events of healthy objects.
class Tries {
 public:
  double allowed() const {
    const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - begin_;
    return 10 + std::log2(1 + passed.count() / 5);
  }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

class LimitsTest : public ClusterTest {
 protected:
  void TearDown() override {
    slow_.reset();
    proxy_.reset();
    if (etcd_is_full_) SetEtcdFull(false);
    if (HasControlPlane()) {
      TryKubectl({"delete", "clusterrolebinding", "limits-" + ns(), "--ignore-not-found"});
      if (!other_ns_.empty()) TryKubectl({"delete", "namespace", other_ns_, "--ignore-not-found", "--wait=false"});
    }
    ClusterTest::TearDown();
  }

  // Starts an operator whose requests go through `hook`.
  OperatorProcess& StartThroughProxy(FaultProxy::Hook hook) {
    OperatorOptions options = DefaultOptions();
    proxy_ = MakeProxy(options.kubeconfig, std::move(hook));
    options.kubeconfig =
        KubeconfigThrough(*proxy_, options.kubeconfig, plane().dir() + "/" + ns() + "-proxy.kubeconfig");
    slow_ = std::make_unique<OperatorProcess>(options);
    slow_->WaitUntilReady();
    return *slow_;
  }
  // Starts an operator for all namespaces. Creates a second namespace and returns it.
  Kube StartForAllNamespaces() {
    OperatorOptions options = DefaultOptions();
    options.ns = "";
    slow_ = std::make_unique<OperatorProcess>(options);
    slow_->WaitUntilReady();
    other_ns_ = ns() + "-other";
    Kube other(plane().client(), other_ns_);
    other.Create(kNamespaceType, {{"metadata", {{"name", other_ns_}}}});
    return other;
  }
  void SetEtcdFull(bool full) {
    const std::string settings = ReadFile(plane().dir() + "/settings");
    const std::string key = "ETCD_PORT=";
    HttpsClient etcd(std::stoi(settings.substr(settings.find(key) + key.size())));
    const HttpsAnswer answer =
        etcd.Ask("POST /v3/maintenance/alarm HTTP/1.1",
                 Json({{"action", full ? "ACTIVATE" : "DEACTIVATE"}, {"alarm", "NOSPACE"}}).dump());
    if (answer.status != 200) throw TestFailure("etcd: " + answer.body);
    etcd_is_full_ = full;
  }
  std::size_t HaveImage(const std::string& image) {
    std::size_t count = 0;
    for (const Json& workload : kube().List(type())) count += ImageOf(workload) == image;
    return count;
  }

  std::unique_ptr<FaultProxy> proxy_;
  std::unique_ptr<OperatorProcess> slow_;
  std::string other_ns_;
  bool etcd_is_full_ = false;
};

TEST_F(LimitsTest, PoolsBeyondTheLimitOfStatusAreUpdatedAndCounted) {
  if (!RunsEverything()) GTEST_SKIP() << "takes a minute; set YAD_ALL=1";
  const int count = RunsEverything() ? 5000 : 510;
  const std::chrono::minutes patience(10);
  StartOperator();
  for (int i = 0; i < count; ++i) AddPool("p" + std::to_string(10000 + i));
  const std::string bad = AddPoolNamed(Pool("z") + std::string(70, 'z'));  // its name sorts last, and it fails
  CreateDaemon(Daemon("web"));
  const auto settled = [&](const std::string& image) {
    Eventually(
        "all pools have " + image,
        [&]() -> std::string {
          const Json status = At(GetDaemon("web"), "/status");
          const bool done = At(status, "/readyPools") == count && At(status, "/updatedPools") == count &&
                            At(status, "/failedPools") == 1 && At(status, "/images") == image;
          return done ? "" : At(status, "/conditions").dump() + At(status, "/readyPools").dump();
        },
        patience);
  };
  settled("example.org/app:1");
  SetImage("web", "example.org/app:2");
  settled("example.org/app:2");
  EXPECT_EQ(HaveImage("example.org/app:2"), static_cast<std::size_t>(count));
  const Json daemon = GetDaemon("web");
  EXPECT_EQ(At(daemon, "/status/desiredPools"), count + 1);
  EXPECT_EQ(At(daemon, "/status/pools").size(), 500U);
  EXPECT_EQ(At(daemon, "/status/pools/0/name"), bad) << "the unhealthy pool must be first";
  EXPECT_EQ(At(daemon, "/status/poolsTruncated"), true);
  EXPECT_LE(At(daemon, "/status/nodepools").size(), 500U);
  EXPECT_LT(daemon.dump().size(), 1'000'000U) << "etcd's limit is 1.5 MB";
  std::cerr << count << " pools: the daemon has " << daemon.dump().size() << " bytes, the operator "
            << op().Metric("process_resident_memory_bytes") / 1e6 << " MB\n";
}

// One daemon's spec changes continuously, and the apiserver rejects its workloads. The operator has one worker.
TEST_F(LimitsTest, ADaemonThatChangesContinuouslyDoesNotBlockOtherDaemons) {
  const int count = RunsEverything() ? 500 : 8;
  const std::chrono::minutes patience(15);
  const auto pools = AddPools(5);
  StartOperator({"--workers=1"});
  Json noisy = Daemon("noisy");
  noisy["spec"]["workloadTemplate"]["deploymentTemplate"]["spec"]["template"]["spec"]["containers"][0]["ports"] =
      R"([{"containerPort": 70000}])"_json;
  CreateDaemon(noisy);
  std::atomic<bool> quiet = false;
  std::atomic<int> changes = 0;
  std::thread noise([&] {
    const Kube own(plane().client(), ns());
    while (!quiet) {
      try {
        own.MergePatch(kYurtAppDaemonType, "noisy", {{"spec", {{"revisionHistoryLimit", ++changes % 7}}}});
      } catch (const TestFailure&) {  // the cluster may be busy
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  const auto name = [](int i) { return "web-" + std::to_string(i); };
  const auto all_have = [&](const std::string& image) {
    Eventually(
        "all daemons have " + image + " in all pools",
        [&]() -> std::string {
          const std::size_t have = HaveImage(image);
          return have == static_cast<std::size_t>(count) * pools.size() ? "" : std::to_string(have);
        },
        patience);
  };
  try {
    for (int i = 0; i < count; ++i) CreateDaemon(Daemon(name(i)));
    all_have("example.org/app:1");
    const int before = changes;
    for (int i = 0; i < count; ++i) SetImage(name(i), "example.org/app:2");
    all_have("example.org/app:2");
    EXPECT_GT(changes, before) << "daemon noisy did not change";
    for (int i : {0, count - 1}) WaitUntilReady(name(i));
  } catch (...) {
    quiet = true;
    noise.join();
    throw;
  }
  EXPECT_FALSE(quiet);
  quiet = true;
  noise.join();
  const Json failed = WaitForStatus("noisy", "has failed", [](const Json& s) { return At(s, "/failedPools") == 5; });
  EXPECT_THAT(StringAt(ConditionOf(failed, "WorkLoadFailure"), {"message"}), ::testing::HasSubstr("70000"));
}

TEST_F(LimitsTest, SlowApiserverCausesNoDuplicateWrites) {
  const WallTime begin = Now();
  const auto pools = AddPools(20);
  StartThroughProxy([](const ProxiedRequest&) {
    Fault fault;
    fault.delay = std::chrono::milliseconds(250);
    return fault;
  });
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  WaitForPools("web", pools);
  SetImage("web", "example.org/app:2");
  Eventually("all workloads have the new image", [&] { return HaveImage("example.org/app:2") == pools.size(); });
  WaitUntilReady("web");
  std::map<std::string, int> writes;
  for (const AuditedRequest& write : WritesSince(begin)) {
    if (write.resource == type().resource) ++writes[write.verb];
  }
  EXPECT_EQ(writes["create"], 20);
  EXPECT_EQ(writes["update"] + writes["patch"], 20);
  EXPECT_EQ(writes["delete"], 0);
  EXPECT_EQ(slow_->Stop(), 0);
}

// The proxy rejects every write, including writes of status and Events, like an apiserver while etcd has the alarm
// NOSPACE.
TEST_F(LimitsTest, WritesToAFullEtcdBackOffAndSucceedOnceThereIsSpace) {
  std::atomic<bool> full = false;
  std::atomic<int> rejected = 0;
  const auto pools = AddPools(3);
  OperatorProcess& process = StartThroughProxy([&](const ProxiedRequest& request) {
    Fault fault;
    if (!full || !request.IsWrite()) return fault;
    if (request.path.find("/events") == std::string::npos) ++rejected;
    fault.instead = ProxyReply{500, R"({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "etcdserver: mvcc: database space exceeded", "code": 500})"};
    return fault;
  });
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  const auto before = ByPool("web");
  full = true;
  const Tries tries;
  SetImage("web", "example.org/app:2");
  Unselect(pools[0]);
  Eventually("the operator has retried", [&] { return rejected >= 8; });
  process.AwaitLog("database space exceeded");
  EXPECT_LE(rejected, 5 * tries.allowed()) << "a revision, a status and three workloads for each try";
  EXPECT_TRUE(process.Ready());
  for (const auto& [pool, workload] : ByPool("web")) EXPECT_EQ(WithoutStatus(workload), WithoutStatus(before.at(pool)));
  full = false;
  WaitForPools("web", {pools[1], pools[2]});
  WaitUntilReady("web");
  EXPECT_EQ(HaveImage("example.org/app:2"), 2U);
  EXPECT_EQ(process.Stop(), 0);
}

// The test raises etcd's alarm for a full quota, after which no object can be created. So it creates all objects
// earlier.
TEST_F(LimitsTest, AnOperatorThatStartsWithAFullEtcdReconcilesOnceThereIsSpace) {
  const auto pools = AddPools(2);
  CreateDaemon(Daemon("web"));
  SetEtcdFull(true);
  slow_ = std::make_unique<OperatorProcess>(DefaultOptions());
  slow_->AwaitLog("database space exceeded");
  EXPECT_FALSE(slow_->ExitCode()) << "the operator must wait and not exit";
  EXPECT_TRUE(ByPool("web").empty());
  SetEtcdFull(false);
  WaitForPools("web", pools);
  WaitUntilReady("web");
}

TEST_F(LimitsTest, RejectedTokenIsReplacedFromItsFile) {
  Kubectl({"create", "clusterrolebinding", "limits-" + ns(), "--clusterrole=cluster-admin",
           "--serviceaccount=" + ns() + ":op"});
  const std::string token_file = plane().dir() + "/" + ns() + "-token";
  const auto make_account = [&] {
    kube().Create(kServiceAccountType, {{"metadata", {{"name", "op"}}}});
    return Kubectl({"create", "token", "op"});
  };
  WriteFile(token_file, make_account());
  OperatorOptions options = DefaultOptions();
  options.kubeconfig = plane().TokenKubeconfig(ns(), "op");
  std::string text = ReadFile(options.kubeconfig);
  const auto at = text.find("  user: {token: ");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, text.find('\n', at) - at, "  user: {tokenFile: " + token_file + "}");
  WriteFile(options.kubeconfig, text);
  OperatorProcess process(options);
  process.WaitUntilReady();
  AddPools(3);
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");

  kube().Delete(kServiceAccountType, "op");  // this also invalidates its tokens
  const std::string next = make_account();
  int image = 1;
  const auto rejected = [&] { return process.Metric("rest_client_requests_total", {"code=\"401\""}); };
  Eventually("the apiserver rejects the old token", [&] {
    SetImage("web", "example.org/app:" + std::to_string(++image));
    return rejected() >= 2;
  });
  const Tries tries;
  const double begin = rejected();
  // Each change makes the operator try again. After these failures, it must retry soon once the token is valid.
  constexpr int kEvents = 30;
  for (int i = 0; i < kEvents; ++i) {
    SetImage("web", "example.org/app:" + std::to_string(++image));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  SetImage("web", "example.org/app:last");
  Eventually("the operator has retried", [&] { return rejected() >= begin + 4 * kEvents / 2; });
  process.AwaitLog("Unauthorized");
  EXPECT_LE(rejected() - begin, 4 * (kEvents + tries.allowed()))
      << "a revision and a status for each try, each of them twice";
  EXPECT_EQ(HaveImage("example.org/app:last"), 0U);
  EXPECT_TRUE(process.Ready()) << "the webhook must still serve reviews";
  WriteFile(token_file, next);
  Eventually("all workloads have the new image", [&] { return HaveImage("example.org/app:last") == 3; });
  WaitUntilReady("web");
  EXPECT_EQ(process.Stop(), 0);
}

TEST_F(LimitsTest, AQuotaInOneNamespaceBlocksNoOtherNamespaceAndItsRetriesBackOff) {
  const Kube other = StartForAllNamespaces();
  const auto quota = [&](int hard) -> Json { return {{"hard", {{"count/deployments.apps", std::to_string(hard)}}}}; };
  Json status = quota(1);
  status["used"] = {{"count/deployments.apps", "0"}};
  kube().Create(kResourceQuotaType, {{"metadata", {{"name", "few"}}}, {"spec", quota(1)}});
  kube().MergePatch(kResourceQuotaType, "few", {{"status", status}}, "status");
  const auto pools = AddPools(4);
  const WallTime begin = Now();
  const Tries tries;
  CreateDaemon(Daemon("web"));
  other.Create(kYurtAppDaemonType, Daemon("web"));
  const Json failed =
      WaitForStatus("web", "three pools have failed", [](const Json& s) { return At(s, "/failedPools") == 3; });
  int by_quota = 0;
  for (const Json& pool : At(failed, "/status/pools")) by_quota += StringAt(pool, {"reason"}) == "QuotaExceeded";
  EXPECT_EQ(by_quota, 3) << failed;
  EXPECT_EQ(ConditionStatus(failed, "Degraded"), "True");
  Eventually("the other namespace has all its workloads", [&] { return other.List(type()).size() == pools.size(); });
  const auto rejected = [&] {
    const auto writes = WritesSince(begin);
    return std::count_if(writes.begin(), writes.end(),
                         [](const AuditedRequest& write) { return write.verb == "create" && write.code == 403; });
  };
  Eventually("the operator has retried", [&] { return rejected() >= 9; });
  EXPECT_LE(rejected(), 3 * tries.allowed());
  // The test writes the status of the quota, because no quota controller runs.
  kube().MergePatch(kResourceQuotaType, "few", {{"spec", quota(9)}});
  kube().MergePatch(kResourceQuotaType, "few", {{"status", quota(9)}}, "status");
  WaitForPools("web", pools);
  WaitUntilReady("web");
}

TEST_F(LimitsTest, ADeletedNamespaceBlocksNoOtherNamespace) {
  const Kube other = StartForAllNamespaces();
  AddPools(10);
  CreateDaemon(Daemon("web"));
  other.Create(kYurtAppDaemonType, Daemon("web"));
  Eventually("the other namespace has all its workloads", [&] { return other.List(type()).size() == 10; });
  // The finalizer keeps the namespace in deletion. During this time, objects can't be created in it.
  other.Create({"", "v1", "configmaps", "ConfigMap", true},
               R"({"metadata": {"name": "hold", "finalizers": ["cluster-test.example.org/hold"]}})"_json);
  other.Delete(kNamespaceType, other_ns_);
  const std::string late = AddPool("late");
  Eventually("the other namespace contains only the object with the finalizer",
             [&] { return other.List(type()).empty() && other.List(kYurtAppDaemonType).empty(); });
  Eventually("the test's daemon has a workload in the new pool", [&] { return ByPool("web").size() == 11; });
  other.MergePatch({"", "v1", "configmaps", "ConfigMap", true}, "hold", {{"metadata", {{"finalizers", nullptr}}}});
  Eventually("the other namespace is gone", [&] { return !kube().Find(kNamespaceType, other_ns_).has_value(); });
  SetImage("web", "example.org/app:2");
  Eventually("the test's workloads have the new image", [&] { return HaveImage("example.org/app:2") == 11; });
  EXPECT_FALSE(slow_->ExitCode().has_value());
}

TEST_F(LimitsTest, APoolKeepsItsWorkloadUntilItsDeletionIsComplete) {
  StartOperator();
  const std::string a = AddPool("a");
  const std::string b = AddPool("b");
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  kube().MergePatch(kNodePoolType, a, {{"metadata", {{"finalizers", Json::array({"cluster-test.example.org/hold"})}}}});
  DeletePool(a);
  Barrier();
  SetImage("web", "example.org/app:2");
  Eventually("all workloads have the new image", [&] { return HaveImage("example.org/app:2") == 2; });
  WaitForPools("web", {a, b});
  WaitUntilReady("web");
  kube().MergePatch(kNodePoolType, a, {{"metadata", {{"finalizers", nullptr}}}});
  WaitForPools("web", {b});
  WaitUntilReady("web");
}

// A watch without changes receives no events. Only a timeout detects that its connection is dead.
TEST_F(LimitsTest, ADeadWatchConnectionIsDetectedByATimeout) {
  if (!RunsEverything()) GTEST_SKIP() << "takes two minutes; set YAD_ALL=1";
  StartThroughProxy({});
  const std::string a = AddPool("a");
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  proxy_->StallOpenConnections();
  const std::string b = AddPool("b");
  Eventually(
      "the new pool has a workload", [&] { return ByPool("web").size() == 2; }, std::chrono::minutes(4));
}

}  // namespace
}  // namespace yad::testing
