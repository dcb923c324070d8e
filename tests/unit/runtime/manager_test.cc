#include "operator/runtime/manager.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/unit/runtime/fake_api_server.h"

namespace yad {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::FakeApiServer;
using testing::StatusResponse;
using testing::Until;

const char kLeaseName[] = "/apis/coordination.k8s.io/v1/namespaces/sys/leases/lead";

class ManagerTest : public ::testing::Test {
 protected:
  ~ManagerTest() override {
    stop_.request_stop();
    released_ = true;
  }

  void Make(bool leader_election) {
    std::optional<LeaderElectionOptions> election;
    if (leader_election) election = LeaderElectionOptions{{"sys", "lead"}, "me"};
    manager_ = std::make_unique<Manager>(client_, election, clock_);
  }
  void AddController(ReconcileFunction reconcile) {
    auto controller =
        std::make_unique<Controller>(ControllerOptions{"test", 1, {}, Duration{0}}, std::move(reconcile), clock_);
    controller->queue().Add({"ns", "a"});
    manager_->AddController(std::move(controller));
  }
  // Returns a reconcile function that ignores stop requests, and returns when released_ is set.
  ReconcileFunction Stubborn() {
    return [this](const Request&, std::stop_token stop) -> Result<ReconcileResult> {
      reconciling_ = true;
      Until([&] {
        if (stop.stop_requested()) draining_ = true;
        return released_.load();
      });
      return ReconcileResult::Done();
    };
  }
  Informer& AddInformer(const std::string& selector = "") {
    ReflectorOptions options;
    options.type = {"", "v1", "configmaps", "ConfigMap", true};
    options.label_selector = selector;
    return manager_->InformerFor(options);
  }
  void Run() {
    thread_ = std::jthread([this] {
      outcome_ = manager_->Run(stop_.get_token());
      returned_ = true;
    });
  }
  // Runs the manager with a stubborn controller, and blocks until the controller reconciles.
  void RunStubborn() {
    AddController(Stubborn());
    Run();
    Until([&] { return reconciling_.load(); });
  }
  // Requests the stop, and blocks until the controllers have observed it.
  void Drain() {
    stop_.request_stop();
    Until([&] { return draining_.load(); });
  }
  RunOutcome Join() {
    thread_.join();
    return outcome_;
  }
  // Waits for the condition. Advances the clock only while the manager polls its caches, so the elector's time stands
  // still.
  void AdvanceUntil(const std::function<bool()>& condition) {
    Until([&] {
      const std::optional<Duration> next = clock_.NextDeadline();
      if (next && *next <= milliseconds(50)) clock_.Advance(*next);
      return condition();
    });
  }
  // Blocks until the manager waits for another holder's lease to expire.
  void AwaitWaitsForLease() {
    AdvanceUntil([&] { return clock_.NextDeadline() == Duration(seconds(15)); });
  }
  // Blocks until the manager holds the lease and waits for its next renewal.
  void AwaitHoldsLease() {
    Until([&] { return clock_.NextDeadline() == Duration(seconds(2)); });
  }
  void PutLease(const std::string& holder) {
    server_->Put(kLeaseName, {{"apiVersion", "coordination.k8s.io/v1"},
                              {"kind", "Lease"},
                              {"metadata", {{"name", "lead"}, {"namespace", "sys"}}},
                              {"spec", {{"holderIdentity", holder}, {"leaseDurationSeconds", 15}}}});
  }
  std::string Holder() const { return server_->Find(kLeaseName).value()["spec"]["holderIdentity"]; }

  FakeClock clock_;
  std::shared_ptr<FakeApiServer> server_ = std::make_shared<FakeApiServer>();
  Client client_{server_, {}, clock_};
  std::atomic<bool> released_ = false;
  std::atomic<bool> reconciling_ = false;
  std::atomic<bool> draining_ = false;
  std::atomic<bool> returned_ = false;
  RunOutcome outcome_ = RunOutcome::kFailed;
  std::stop_source stop_;
  std::unique_ptr<Manager> manager_;
  std::jthread thread_;
};

TEST_F(ManagerTest, ControllersRunUntilTheStopWithoutLeaderElection) {
  Make(false);
  RunStubborn();
  stop_.request_stop();
  released_ = true;
  EXPECT_EQ(Join(), RunOutcome::kStopped);
}

TEST_F(ManagerTest, ReplicaThatWaitsForTheLeaseIsReadyAndDoesNotReconcile) {
  PutLease("another");
  Make(true);
  AddInformer();
  AddController(Stubborn());
  Run();
  Until([&] { return manager_->NotReady().empty(); });
  AwaitWaitsForLease();
  EXPECT_FALSE(reconciling_);

  PutLease("");
  Until([&] { return reconciling_.load(); });
  released_ = true;
  stop_.request_stop();
  EXPECT_EQ(Join(), RunOutcome::kStopped);
  EXPECT_EQ(Holder(), "");
}

// With a longer timeout, a connection would still wait for the first address of the server when the elector gives up.
TEST_F(ManagerTest, RequestsForTheLeaseHaveTheTimeoutOfTheElector) {
  const auto transport = std::make_shared<testing::FakeTransport>();
  Client client(transport, {}, clock_);
  const LeaderElectionOptions election{{"sys", "lead"}, "me"};
  Manager manager(client, election, clock_);
  const std::jthread thread([&](const std::stop_token& stop) { manager.Run(stop); });
  EXPECT_EQ(transport->WaitForRequests(1).front().timeout, election.renew_deadline / 2);
}

TEST_F(ManagerTest, LeaderRunnableStartsWithTheLeaseAndEndsBeforeItsRelease) {
  PutLease("another");
  Make(true);
  std::atomic<bool> runs = false;
  std::string holder_at_its_end;
  manager_->AddLeaderRunnable("test", [&](std::stop_token stop) -> Status {
    runs = true;
    Until([&] { return stop.stop_requested(); });
    holder_at_its_end = Holder();
    return {};
  });
  Run();
  AwaitWaitsForLease();
  EXPECT_FALSE(runs);
  PutLease("");
  Until([&] { return runs.load(); });
  stop_.request_stop();
  EXPECT_EQ(Join(), RunOutcome::kStopped);
  EXPECT_EQ(holder_at_its_end, "me");
  EXPECT_EQ(Holder(), "");
}

TEST_F(ManagerTest, LeaseIsNotAcquiredBeforeTheCachesAreSynced) {
  std::atomic<bool> forbidden = true;
  server_->OnRequest([&](const HttpRequest& request) -> std::optional<Result<HttpResponse>> {
    if (!forbidden || testing::PathOf(request) != "/api/v1/configmaps") return std::nullopt;
    return StatusResponse(403, "Forbidden", "configmaps is forbidden");
  });
  Make(true);
  AddInformer();
  std::atomic<bool> leads = false;
  manager_->AddLeaderRunnable("test", [&](std::stop_token stop) -> Status {
    leads = true;
    Until([&] { return stop.stop_requested(); });
    return {};
  });
  Run();
  Until([&] { return manager_->NotReady().find("configmaps is forbidden") != std::string::npos; });
  for (int i = 0; i < 100; ++i) {
    Until([&] { return clock_.NextDeadline().has_value(); });
    clock_.Advance(milliseconds(100));
  }
  EXPECT_FALSE(server_->Find(kLeaseName));

  forbidden = false;
  AdvanceUntil([&] { return leads.load(); });
  EXPECT_EQ(manager_->NotReady(), "");
  stop_.request_stop();
  EXPECT_EQ(Join(), RunOutcome::kStopped);
}

TEST_F(ManagerTest, ReadinessReportsEveryMissingCondition) {
  Make(false);
  AddInformer();
  manager_->AddReadyCheck("webhook", [] { return std::string("no certificate yet"); });
  manager_->AddReadyCheck("good", [] { return std::string(); });
  manager_->AddReadyCheck("broken", []() -> std::string { throw std::runtime_error("oh"); });
  EXPECT_EQ(manager_->NotReady(),
            "informer configmaps: Empty\nwebhook: no certificate yet\nbroken: unhandled exception: oh\n");
}

TEST_F(ManagerTest, LostLeaseEndsRunImmediatelyEvenIfAControllerStillRuns) {
  Make(true);
  RunStubborn();
  AwaitHoldsLease();
  PutLease("another");
  clock_.Advance(seconds(2));
  EXPECT_EQ(Join(), RunOutcome::kLeaseLost);
  EXPECT_EQ(Holder(), "another");
}

TEST_F(ManagerTest, LeaseLostWhileControllersDrainEndsRunImmediately) {
  Make(true);
  RunStubborn();
  Drain();
  AwaitHoldsLease();
  PutLease("another");
  clock_.Advance(seconds(2));
  EXPECT_EQ(Join(), RunOutcome::kLeaseLost);
}

TEST_F(ManagerTest, LeaseIsRenewedWhileControllersDrainAndThenReleased) {
  Make(true);
  RunStubborn();
  AwaitHoldsLease();
  Drain();
  for (int i = 1; i <= 6; ++i) {
    clock_.Advance(seconds(2));
    Until([&] { return server_->Count("PUT") >= i; });
    AwaitHoldsLease();
  }
  EXPECT_EQ(Holder(), "me");
  EXPECT_FALSE(returned_);
  released_ = true;
  EXPECT_EQ(Join(), RunOutcome::kStopped);
  EXPECT_EQ(Holder(), "");
}

TEST_F(ManagerTest, StuckControllerTimesOutAndTheLeaseIsKept) {
  Make(true);
  RunStubborn();
  AwaitHoldsLease();
  Drain();
  for (int i = 1; i <= 8; ++i) {
    clock_.Advance(seconds(2));
    Until([&] { return server_->Count("PUT") >= i; });
    AwaitHoldsLease();
  }
  EXPECT_FALSE(returned_);
  clock_.Advance(seconds(4));
  EXPECT_EQ(Join(), RunOutcome::kStopTimedOut);
  EXPECT_EQ(Holder(), "me");
}

TEST_F(ManagerTest, ServerThatFailsEndsTheProcess) {
  Make(false);
  manager_->AddServer("bad", [](std::stop_token) -> Status { return Fail(Reason::kConfig, "the port is taken"); });
  Run();
  EXPECT_EQ(Join(), RunOutcome::kFailed);
}

TEST_F(ManagerTest, LeaderClientWritesOnlyWhileTheLeaseIsHeld) {
  const ResourceType type{"", "v1", "configmaps", "ConfigMap", true};
  const auto object = [](const std::string& name) -> Json {
    return {{"metadata", {{"name", name}, {"namespace", "ns"}}}};
  };
  Make(true);
  AddController([](const Request&, std::stop_token) { return ReconcileResult::Done(); });
  EXPECT_FALSE(manager_->leader_client().Create(type, object("early")));
  Run();
  AwaitHoldsLease();
  EXPECT_TRUE(manager_->leader_client().Create(type, object("in-time")));
  server_->Hang(true);
  Until([&] {
    clock_.Advance(milliseconds(100));
    return returned_.load();
  });
  EXPECT_EQ(Join(), RunOutcome::kLeaseLost);
  server_->Hang(false);
  EXPECT_FALSE(manager_->leader_client().Create(type, object("late")));
  EXPECT_TRUE(client_.Create(type, object("by-another-client")));
}

TEST_F(ManagerTest, InformerThatCannotContinueEndsTheProcess) {
  Make(false);
  AddInformer();
  std::atomic<int> version = 500;
  server_->OnRequest([&](const HttpRequest& request) -> std::optional<Result<HttpResponse>> {
    if (!request.path.ends_with("configmaps?limit=500")) return std::nullopt;
    return testing::JsonResponse(
        {{"metadata", {{"resourceVersion", std::to_string(version--)}}}, {"items", Json::array()}});
  });
  server_->wire().OnOpen([](const HttpRequest&) -> Result<std::shared_ptr<testing::FakeStream>> {
    return std::make_shared<testing::FakeStream>(StatusResponse(410, "Expired", "too old"));
  });
  Run();
  Until([&] {
    clock_.AdvanceToNextDeadline(seconds(1));
    return returned_.load();
  });
  EXPECT_EQ(Join(), RunOutcome::kFailed);
}

TEST_F(ManagerTest, ServerThatThrowsEndsTheProcess) {
  Make(false);
  manager_->AddServer("bad", [](std::stop_token) -> Status { throw std::runtime_error("oh"); });
  Run();
  EXPECT_EQ(Join(), RunOutcome::kFailed);
}

TEST_F(ManagerTest, ServerThatEndsWithoutAnErrorDoesNotEndTheProcess) {
  Make(false);
  std::atomic<bool> ended = false;
  manager_->AddServer("disabled", [&](std::stop_token) -> Status {
    ended = true;
    return {};
  });
  AddController(Stubborn());
  Run();
  Until([&] { return ended && reconciling_; });
  EXPECT_FALSE(returned_);
  stop_.request_stop();
  released_ = true;
  EXPECT_EQ(Join(), RunOutcome::kStopped);
}

TEST_F(ManagerTest, StopsControllersThenLeaseThenEventsThenInformersThenServers) {
  std::mutex mutex;
  std::vector<std::string> order;
  std::shared_ptr<testing::FakeStream> watch;
  const auto note = [&](const std::string& what, bool watch_closed) {
    std::lock_guard lock(mutex);
    order.push_back(what);
    EXPECT_EQ(watch->closed(), watch_closed) << what;
  };
  Make(true);
  AddInformer();
  EventRecorder& recorder = manager_->AddEventRecorder({"test", "me"});
  manager_->AddServer("server", [&](std::stop_token stop) -> Status {
    Until([&] { return stop.stop_requested(); });
    note("server", true);
    return {};
  });
  AddController([&](const Request&, std::stop_token stop) -> Result<ReconcileResult> {
    reconciling_ = true;
    Until([&] { return stop.stop_requested(); });
    note("controller", false);
    return ReconcileResult::Done();
  });
  server_->OnRequest([&](const HttpRequest& request) -> std::optional<Result<HttpResponse>> {
    if (request.method == "PUT" && Json::parse(request.body)["spec"]["holderIdentity"] == "") {
      note("lease", false);
      recorder.Record({"v1", "Lease", {"sys", "lead"}, "u", ""}, EventType::kNormal, "Released", "Release", "");
    }
    if (testing::PathOf(request).ends_with("/events")) note("event", false);
    return std::nullopt;
  });
  Run();
  watch = server_->wire().TakeStream();
  ASSERT_TRUE(watch);
  AdvanceUntil([&] { return reconciling_.load(); });
  stop_.request_stop();
  EXPECT_EQ(Join(), RunOutcome::kStopped);
  EXPECT_EQ(order, (std::vector<std::string>{"controller", "lease", "event", "server"}));
}

TEST_F(ManagerTest, StopBeforeTheLeaseIsAcquiredIsGraceful) {
  PutLease("another");
  Make(true);
  AddController(Stubborn());
  Run();
  AwaitWaitsForLease();
  stop_.request_stop();
  EXPECT_EQ(Join(), RunOutcome::kStopped);
  EXPECT_FALSE(reconciling_);
  EXPECT_EQ(Holder(), "another");
}

TEST_F(ManagerTest, InformersWithTheSameTypeNamespaceAndSelectorsAreShared) {
  Make(false);
  Informer& all = AddInformer();
  EXPECT_EQ(&all, &AddInformer());
  EXPECT_NE(&all, &AddInformer("app=x"));
}

}  // namespace
}  // namespace yad
