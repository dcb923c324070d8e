// Random changes and faults. The operator's memory, threads and descriptors must stay constant. After the last fault,
// the cluster must match the specs.
//
//   YAD_ALL=1             600 seconds
//   YAD_SOAK_SECONDS=n    n seconds
//
// If neither variable is set, the test is skipped.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <iostream>
#include <random>
#include <sstream>

#include "tests/cluster/fixture.h"
#include "tests/support/fault_proxy.h"
#include "tests/support/webhook_setup.h"

namespace yad::testing {
namespace {

constexpr std::size_t kDaemons = 6;
constexpr std::size_t kSoakPools = 15;
constexpr std::chrono::seconds kSamplePeriod{1};
// The constants below limit the rise of a median from the middle third of the run to the last third.

// The number of connections varies up to the number of workers, because unused connections stay open for a minute. If
// each watch leaked a connection, the rise would be larger.
constexpr double kDescriptorNoise = 4 * 16;
// 100 KiB for each connection. In five minutes, each third of a run has 3,000 to 6,000 requests, so the test finds a
// leak of 1 to 2 KiB for each request.
constexpr double kMemoryNoiseKib = kDescriptorNoise * 100;
// The threads of writes exit after milliseconds, so they do not affect the median.
constexpr double kThreadNoise = 5;

std::chrono::seconds SoakTime() {
  if (const char* seconds = std::getenv("YAD_SOAK_SECONDS"); seconds != nullptr) {
    return std::chrono::seconds(std::atoi(seconds));
  }
  return std::chrono::seconds(RunsEverything() ? 600 : 0);
}

// Returns the private dirty memory of the process in KiB.
double PrivateDirty(pid_t pid) {
  std::istringstream lines(ReadFile("/proc/" + std::to_string(pid) + "/smaps_rollup"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Private_Dirty:")) return std::strtod(line.c_str() + line.find(':') + 1, nullptr);
  }
  throw TestFailure("no smaps_rollup of the operator");
}

double Entries(pid_t pid, const char* folder) {
  const std::filesystem::directory_iterator entries("/proc/" + std::to_string(pid) + "/" + folder);
  return static_cast<double>(std::distance(begin(entries), end(entries)));
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The values of a metric over time.
class Series {
 public:
  explicit Series(std::string name) : name_(std::move(name)) {}
  void Add(double value) { values_.push_back(value); }

  // Fails the test if the median of the last third exceeds the median of the middle third by more than `noise`.
  void ExpectFlat(double noise) const {
    const std::size_t third = values_.size() / 3;
    ASSERT_GT(third, 5U) << "the soak is too short";
    std::vector<double> medians;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto from = values_.begin() + static_cast<std::ptrdiff_t>(i * third);
      medians.push_back(Median({from, from + static_cast<std::ptrdiff_t>(third)}));
    }
    std::cout << "soak: " << name_ << ": " << values_.front() << " at first; medians of the thirds " << medians[0]
              << ", " << medians[1] << ", " << medians[2] << "; at most "
              << *std::max_element(values_.begin(), values_.end()) << std::endl;
    EXPECT_LE(medians[2], medians[1] + noise) << name_ << " grows";
  }

 private:
  const std::string name_;
  std::vector<double> values_;
};

class SoakTest : public ClusterTest {
 protected:
  WorkloadKind kind() const override { return kind_; }

  OperatorOptions DefaultOptions() override {
    OperatorOptions options = ClusterTest::DefaultOptions();
    proxy_ = MakeProxy(options.kubeconfig, [this](const ProxiedRequest& request) {
      return faulty_ && request.IsWatch() ? FaultOfWatch() : Fault();
    });
    options.kubeconfig = KubeconfigThrough(*proxy_, options.kubeconfig, plane().dir() + "/" + ns() + ".kubeconfig");
    log_ = options.log_file;
    return options;
  }

  // Makes the operator list and watch again continuously: the proxy ends each watch after some bytes, and responds to
  // every fourth watch with "Expired".
  Fault FaultOfWatch() {
    Fault fault;
    const unsigned number = ++watches_;
    if (number % 4 == 3) {
      fault.instead = ProxyReply{410, R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired",)"
                                      R"("message":"too old resource version","code":410})"};
    } else {
      fault.cut_after = 100'000 + number * 7919 % 100'000;
    }
    return fault;
  }

  // Keeps the log of a failed test, because the control plane's folder is deleted.
  void TearDown() override {
    if (HasFailure() && !log_.empty()) {
      const std::string kept = ::testing::TempDir() + "soak-operator.log";
      WriteFile(kept, ReadFile(log_));
      std::cerr << "the operator's whole log: " << kept << std::endl;
    }
    ClusterTest::TearDown();
  }

  void NewDaemon() {
    kind_ = ++made_ % 3 == 0 ? WorkloadKind::kStatefulSet : WorkloadKind::kDeployment;
    daemons_.push_back({"d" + std::to_string(made_), kind_});
    CreateDaemon(Daemon(daemons_.back().name));
  }
  void NewPool() { pools_.push_back(AddPool("p" + std::to_string(++number_))); }

  // Makes one random change. New objects always have new names, so data that the operator keeps about deleted objects
  // would grow and fail the test.
  void Churn() {
    const std::size_t pick = Below(20);
    if (pick == 0) {
      kube().Delete(kYurtAppDaemonType, daemons_.front().name);
      daemons_.pop_front();
      NewDaemon();
    } else if (pick == 1) {
      DeletePool(pools_.front());
      pools_.pop_front();
      NewPool();
    } else if (pick < 8) {
      Heartbeat();
    } else if (pick < 12) {
      const OneDaemon& daemon = AnyDaemon();
      SetImage(daemon.name, "example.org/app:" + std::to_string(++number_));
    } else if (pick == 12) {
      PatchSpec(AnyDaemon().name, {{"paused", Below(2) == 0}});
    } else if (pick == 13) {
      const Json taint = {{"key", "k" + std::to_string(++number_)}, {"effect", "NoSchedule"}};
      kube().MergePatch(kNodePoolType, AnyPool(), {{"spec", {{"taints", Json::array({taint})}}}});
    } else if (pick == 14) {
      // The webhook rejects this daemon.
      Json bad = Daemon("bad-" + std::to_string(++number_));
      bad["metadata"]["namespace"] = ns();
      bad["spec"].erase("nodepoolSelector");
      EXPECT_FALSE(kube().client().Create(kYurtAppDaemonType, bad));
    } else {
      Meddle(pick == 15);
    }
    ++changes_;
  }

  void Heartbeat() {
    const std::string node = "n" + std::to_string(++number_);
    for (const std::string& pool : pools_) {
      kube().MergePatch(kNodePoolType, pool, {{"status", {{"readyNodeNum", 1 + Below(3)}, {"nodes", {node}}}}},
                        "status");
    }
  }

  // Edits or deletes a random workload.
  void Meddle(bool remove) {
    AnyDaemon();
    const std::vector<Json> workloads = kube().List(type());
    if (workloads.empty()) return;
    const std::string name = NameOf(workloads[Below(workloads.size())]);
    // Ignores errors, because the operator may have deleted the workload.
    if (remove) {
      (void)kube().client().Delete(type(), {ns(), name});
    } else {
      (void)kube().client().Patch(type(), {ns(), name}, PatchType::kMerge,
                                  {{"spec", {{"minReadySeconds", 1 + Below(5)}}}});
    }
  }

  struct OneDaemon {
    std::string name;
    WorkloadKind kind;
  };
  // Returns a random daemon, whose kind is kind() until the next call.
  const OneDaemon& AnyDaemon() {
    const OneDaemon& daemon = daemons_[Below(daemons_.size())];
    kind_ = daemon.kind;
    return daemon;
  }
  const std::string& AnyPool() { return pools_[Below(pools_.size())]; }
  std::size_t Below(std::size_t count) { return random_() % count; }

  std::string log_;
  std::atomic<bool> faulty_ = true;
  std::atomic<unsigned> watches_ = 0;
  std::unique_ptr<FaultProxy> proxy_;
  WorkloadKind kind_ = WorkloadKind::kDeployment;
  std::minstd_rand random_{1};
  std::deque<OneDaemon> daemons_;
  std::deque<std::string> pools_;
  int number_ = 0;
  int made_ = 0;  // the number of created daemons
  int changes_ = 0;
};

TEST_F(SoakTest, MemoryThreadsAndDescriptorsDoNotGrowWhileObjectsChange) {
  const std::chrono::seconds soak = SoakTime();
  if (soak.count() == 0) GTEST_SKIP() << "takes minutes; set YAD_ALL=1 or YAD_SOAK_SECONDS";
  WebhookSetup webhooks(kube(), plane().dir());
  StartOperator(webhooks.flags());
  webhooks.Install();

  // From here on, the number of objects stays the same.
  for (std::size_t i = 0; i < kSoakPools; ++i) NewPool();
  for (std::size_t i = 0; i < kDaemons; ++i) NewDaemon();

  Series memory("private dirty memory in KiB");
  Series descriptors("descriptors");
  Series threads("threads");
  const auto start = std::chrono::steady_clock::now();
  for (auto sample = start; std::chrono::steady_clock::now() < start + soak;) {
    Churn();
    if (std::chrono::steady_clock::now() < sample) continue;
    sample = std::chrono::steady_clock::now() + kSamplePeriod;
    memory.Add(PrivateDirty(op().pid()));
    descriptors.Add(Entries(op().pid(), "fd"));
    threads.Add(Entries(op().pid(), "task"));
  }
  faulty_ = false;
  std::cout << "soak: " << changes_ << " changes in " << soak.count() << " s, " << watches_ << " watches, "
            << op().Metric("rest_client_requests_total") << " requests of the operator, "
            << op().Metric("controller_runtime_reconcile_total") << " reconciles" << std::endl;
  memory.ExpectFlat(kMemoryNoiseKib);
  descriptors.ExpectFlat(kDescriptorNoise);
  threads.ExpectFlat(kThreadNoise);

  const std::vector<std::string> pools(pools_.begin(), pools_.end());
  for (const auto& [name, kind] : daemons_) {
    kind_ = kind;
    PatchSpec(name, {{"paused", false}});
    WaitUntilReady(name);
    WaitForPools(name, pools);
  }
}

}  // namespace
}  // namespace yad::testing
