// Several replicas. Another replica continues after any failure of the leader, and two replicas never write at the same
// time.
#include <algorithm>
#include <csignal>

#include "tests/cluster/fixture.h"
#include "tests/support/fault_proxy.h"
#include "tests/support/https_client.h"
#include "tests/support/webhook_setup.h"

namespace yad::testing {
namespace {

const std::vector<std::string> kShortLease = {"--leader-elect-lease-duration=6s", "--leader-elect-renew-deadline=4s",
                                              "--leader-elect-retry-period=1s"};
// This lease does not expire during a test, so another replica leads only after a release.
const std::vector<std::string> kEndlessLease = {"--leader-elect-lease-duration=2h", "--leader-elect-renew-deadline=1h",
                                                "--leader-elect-retry-period=1s"};
// With these flags, the leader writes slowly, so that a test can interrupt it in the middle of its work.
const std::vector<std::string> kSlow = {"--kube-api-qps=20", "--kube-api-burst=2"};
constexpr int kPools = 60;

// Each replica has its own account, so the audit log shows which replica wrote.
class HaTest : public ClusterTest {
 protected:
  void TearDown() override {
    replicas_.clear();
    if (HasControlPlane()) TryKubectl({"delete", "clusterrolebinding", "ha-" + ns(), "--ignore-not-found"});
    ClusterTest::TearDown();
  }

  static std::string Account(std::size_t replica) { return "replica-" + std::to_string(replica); }
  std::string User(std::size_t replica) const { return "system:serviceaccount:" + ns() + ":" + Account(replica); }

  void MakeAccounts(std::size_t count) {
    std::vector<std::string> bind = {"create", "clusterrolebinding", "ha-" + ns(), "--clusterrole=cluster-admin"};
    for (std::size_t i = 0; i < count; ++i) {
      Kubectl({"create", "serviceaccount", Account(i)});
      bind.push_back("--serviceaccount=" + ns() + ":" + Account(i));
    }
    Kubectl(bind);
  }
  OperatorOptions ReplicaOptions(std::size_t replica, std::vector<std::vector<std::string>> flags) {
    OperatorOptions options = DefaultOptions();
    options.kubeconfig = plane().TokenKubeconfig(ns(), Account(replica));
    options.leader_elect = true;
    for (const auto& some : flags) options.flags.insert(options.flags.end(), some.begin(), some.end());
    options.log_file = plane().dir() + "/" + ns() + "-" + Account(replica) + ".log";
    return options;
  }
  OperatorProcess& Start(const OperatorOptions& options) {
    replicas_.push_back(std::make_unique<OperatorProcess>(options));
    replicas_.back()->WaitUntilReady();
    return *replicas_.back();
  }
  OperatorProcess& replica(std::size_t i) { return *replicas_.at(i); }

  static bool Leads(const OperatorProcess& process) { return process.Metric("leader_election_master_status") == 1; }
  // Starts the replicas. The first replica leads, and the others wait.
  void StartReplicas(std::size_t count) {
    MakeAccounts(count);
    for (std::size_t i = 0; i < count; ++i) {
      Start(ReplicaOptions(i, {kShortLease, kSlow}));
      if (i == 0) AwaitLeader(0);
    }
  }
  void AwaitLeader(std::size_t i) {
    Eventually("replica " + std::to_string(i) + " leads", [&] { return Leads(replica(i)); });
  }
  // Blocks until a replica other than the first leads. Returns its index.
  std::size_t AwaitNewLeader() {
    std::size_t leader = 0;
    Eventually("another replica leads", [&] {
      for (std::size_t i = 1; i < replicas_.size(); ++i) {
        if (Leads(replica(i))) leader = i;
      }
      return leader != 0;
    });
    return leader;
  }
  void AwaitTheMiddle() {
    Eventually("at least five workloads exist", [&] { return kube().List(type()).size() >= 5; });
  }
  Json LeaseSpec() { return At(Kube(plane().client(), ns()).Get(kLeaseType, "yurtappdaemon-operator"), "/spec"); }

  // Returns the replica's writes as a leader: all writes except those of Events and Leases.
  std::vector<AuditedRequest> WritesOf(std::size_t replica, WallTime since) {
    std::vector<AuditedRequest> writes = WritesSince(since);
    std::erase_if(writes, [&](const AuditedRequest& write) {
      return write.user != User(replica) || write.resource == "events" || write.resource == "leases";
    });
    return writes;
  }
  // Expects that the replicas did not write at the same time:
  // - Each pool has one workload, which was created once.
  // - The first replica wrote nothing after the next leader's first write. If a suspended leader still sends a request,
  //   it must be rejected.
  void ExpectOneWriterAfterTheOther(WallTime begin, std::size_t next, const std::vector<std::string>& pools) {
    WaitForPools("web", pools);
    WaitUntilReady("web");
    EXPECT_EQ(kube().List(type()).size(), pools.size());
    EXPECT_EQ(Revisions("web").size(), 1U);
    std::size_t created = 0;
    for (const AuditedRequest& write : WritesSince(begin)) {
      created += write.verb == "create" && write.resource == type().resource && write.code == 201;
      EXPECT_NE(write.verb, "delete") << write.resource << " " << write.name;
    }
    EXPECT_LE(created, pools.size());  // The audit log may lack a create whose client disconnected.
    const std::vector<AuditedRequest> of_next = WritesOf(next, begin);
    ASSERT_FALSE(of_next.empty());
    std::string first = of_next.front().received;
    for (const AuditedRequest& write : of_next) first = std::min(first, write.received);
    std::vector<AuditedRequest> late = WritesOf(0, begin);
    ASSERT_FALSE(late.empty());
    std::erase_if(late, [&](const AuditedRequest& write) { return write.received < first; });
    EXPECT_LE(late.size(), 1U) << ToString(late);
    for (const AuditedRequest& write : late) EXPECT_GE(write.code, 400) << ToString(late);
  }

  std::vector<std::unique_ptr<OperatorProcess>> replicas_;
};

// The clocks of all replicas are wrong.
TEST_F(HaTest, AnotherReplicaReplacesAKilledLeaderDespiteWrongClocks) {
  MakeAccounts(2);
  for (std::size_t i = 0; i < 2; ++i) {
    OperatorOptions options = ReplicaOptions(i, {kShortLease, kSlow});
    options.env = {{"LD_PRELOAD", YAD_WRONG_CLOCK},
                   {"WRONG_CLOCK_SECONDS", i == 0 ? "7200" : "-7200"},
                   {"ASAN_OPTIONS", "verify_asan_link_order=0"}};
    Start(options);
    if (i == 0) AwaitLeader(0);
  }
  const WallTime renewed = ParseTime(StringAt(LeaseSpec(), {"renewTime"}));
  EXPECT_GT(renewed, std::chrono::system_clock::now() + std::chrono::hours(1)) << "the replica's clock is not wrong";
  const WallTime begin = Now();
  const auto pools = AddPools(kPools);
  CreateDaemon(Daemon("web"));
  AwaitTheMiddle();
  EXPECT_FALSE(Leads(replica(1))) << "a replica must not compare renewTime, which is in its future, with its own clock";
  replica(0).Kill();
  ASSERT_LT(kube().List(type()).size(), pools.size()) << "the leader stopped too late";
  AwaitLeader(1);
  EXPECT_LT(ParseTime(StringAt(LeaseSpec(), {"renewTime"})), std::chrono::system_clock::now() - std::chrono::hours(1));
  ExpectOneWriterAfterTheOther(begin, 1, pools);
}

TEST_F(HaTest, ASuspendedLeaderExitsWithoutAWriteWhenItContinues) {
  StartReplicas(3);
  const WallTime begin = Now();
  const auto pools = AddPools(kPools);
  CreateDaemon(Daemon("web"));
  AwaitTheMiddle();
  replica(0).Signal(SIGSTOP);
  ASSERT_LT(kube().List(type()).size(), pools.size()) << "the leader stopped too late";
  const std::size_t next = AwaitNewLeader();
  Eventually("the new leader has written", [&] { return !WritesOf(next, begin).empty(); });
  replica(0).Signal(SIGCONT);
  EXPECT_EQ(replica(0).Wait(std::chrono::seconds(30)), 3) << "exit code 3: the lease was lost";
  ExpectOneWriterAfterTheOther(begin, next, pools);
}

TEST_F(HaTest, ALeaderThatCannotReachTheApiserverExitsBeforeAnotherReplicaLeads) {
  MakeAccounts(2);
  OperatorOptions first = ReplicaOptions(0, {kShortLease, kSlow});
  const auto network = MakeProxy(first.kubeconfig, {});
  KubeconfigThrough(*network, first.kubeconfig, first.kubeconfig);
  Start(first);
  AwaitLeader(0);
  Start(ReplicaOptions(1, {kShortLease, kSlow}));
  const WallTime begin = Now();
  const auto pools = AddPools(kPools);
  CreateDaemon(Daemon("web"));
  AwaitTheMiddle();
  network->Stall(true);
  ASSERT_LT(kube().List(type()).size(), pools.size()) << "the leader stopped too late";
  EXPECT_EQ(replica(0).Wait(std::chrono::seconds(30)), 3) << "exit code 3: the lease was lost";
  EXPECT_FALSE(Leads(replica(1))) << "the old leader must exit before another replica leads";
  AwaitLeader(1);
  ExpectOneWriterAfterTheOther(begin, 1, pools);
}

TEST_F(HaTest, StoppedLeaderReleasesItsLeaseBeforeItExpires) {
  MakeAccounts(2);
  for (std::size_t i = 0; i < 2; ++i) {
    Start(ReplicaOptions(i, {kEndlessLease, kSlow}));
    if (i == 0) AwaitLeader(0);
  }
  const WallTime begin = Now();
  const auto pools = AddPools(kPools);
  CreateDaemon(Daemon("web"));
  AwaitTheMiddle();
  EXPECT_EQ(replica(0).Stop(), 0);
  ASSERT_LT(kube().List(type()).size(), pools.size()) << "the leader stopped too late";
  AwaitLeader(1);
  ExpectOneWriterAfterTheOther(begin, 1, pools);
  // The leader released the lease only after its last write.
  std::string released;
  for (const AuditedRequest& write : WritesSince(begin)) {
    if (write.user == User(0) && write.resource == "leases") released = std::max(released, write.received);
  }
  for (const AuditedRequest& write : WritesOf(0, begin)) EXPECT_LT(write.received, released);
}

// Counts the second replica's requests for the lease from its start until it leads.
TEST_F(HaTest, AWaitingReplicaWatchesTheLeaseInsteadOfPollingIt) {
  MakeAccounts(2);
  for (std::size_t i = 0; i < 2; ++i) {
    Start(ReplicaOptions(i, {kShortLease}));
    if (i == 0) AwaitLeader(0);
  }
  const auto asked = [&](const std::string& verb) {
    const auto requests = plane().RequestsOf(ns(), Account(1));
    return std::count_if(requests.begin(), requests.end(), [&](const AuditedRequest& request) {
      return request.resource == "leases" && request.verb == verb;
    });
  };
  Eventually("the waiting replica has read the lease", [&] { return asked("get") > 0; });
  const Json first = LeaseSpec();
  const WallTime later = ParseTime(StringAt(first, {"renewTime"})) + std::chrono::seconds(10);
  Eventually("the leader has renewed the lease for longer than the lease's duration",
             [&] { return ParseTime(StringAt(LeaseSpec(), {"renewTime"})) > later; });
  EXPECT_EQ(asked("get"), 1);
  EXPECT_EQ(asked("watch"), 0) << "the audit log contains a watch only after its end";
  EXPECT_EQ(replica(0).Stop(), 0);
  AwaitLeader(1);
  EXPECT_EQ(LeaseSpec()["leaseTransitions"], first.value("leaseTransitions", 0) + 1);
  EXPECT_EQ(asked("get"), 2);
  Eventually("the watch of the lease has ended", [&] { return asked("watch") == 1; });
}

TEST_F(HaTest, EveryReplicaServesAdmissionReviews) {
  MakeAccounts(3);
  WebhookSetup webhook(kube(), plane().dir());
  std::vector<int> ports;
  for (std::size_t i = 0; i < 3; ++i) {
    ports.push_back(FreePort());
    Start(ReplicaOptions(i, {kShortLease, {webhook.flags().at(1), "--webhook-port=" + std::to_string(ports.back())}}));
    if (i == 0) AwaitLeader(0);
  }
  Json daemon = Daemon("web");
  daemon.update({{"apiVersion", kYurtAppDaemonType.ApiVersion()}, {"kind", kYurtAppDaemonType.kind}});
  daemon["metadata"]["namespace"] = ns();
  const auto ask = [&](int port, const std::string& verb, const std::string& image) {
    daemon["spec"]["workloadTemplate"]["deploymentTemplate"]["spec"]["template"]["spec"]["containers"][0]["image"] =
        image;
    const Json review = {
        {"apiVersion", "admission.k8s.io/v1"},
        {"kind", "AdmissionReview"},
        {"request",
         {{"kind", {{"group", "apps.openyurt.io"}, {"version", "v1alpha1"}, {"kind", "YurtAppDaemon"}}},
          {"resource", {{"group", "apps.openyurt.io"}, {"version", "v1alpha1"}, {"resource", "yurtappdaemons"}}},
          {"uid", "1"},
          {"operation", "CREATE"},
          {"name", "web"},
          {"namespace", ns()},
          {"object", daemon}}}};
    const HttpsAnswer answer = HttpsClient(port, webhook.ca_pem())
                                   .Ask("POST /" + verb + "-apps-openyurt-io-v1alpha1-yurtappdaemon HTTP/1.1",
                                        review.dump(), "Content-Type: application/json\r\n");
    return At(Json::parse(answer.body, nullptr, false), "/response");
  };
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(Leads(replica(i)), i == 0);
    EXPECT_TRUE(ask(ports[i], "mutate", "a:1").contains("patch")) << "replica " << i;
    EXPECT_EQ(At(ask(ports[i], "validate", "a:1"), "/allowed"), true) << "replica " << i;
    EXPECT_EQ(At(ask(ports[i], "validate", ""), "/allowed"), false) << "replica " << i;
  }
}

}  // namespace
}  // namespace yad::testing
