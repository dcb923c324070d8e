#include "operator/runtime/leader_elector.h"

#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/metrics.h"
#include "tests/unit/runtime/leader_elector_fixture.h"

namespace yad {
namespace {

using std::chrono::seconds;
using testing::kLeasePath;
using testing::LeaderElectorTest;
using testing::Until;

TEST_F(LeaderElectorTest, CreatesTheLeaseIfThereIsNone) {
  Replica a(*this, "a");
  EXPECT_FALSE(a.elector.may_write());
  ASSERT_TRUE(a.elector.Acquire({}));
  EXPECT_TRUE(a.elector.may_write());
  EXPECT_EQ(a.elector.holder(), "a");
  EXPECT_EQ(Spec(), Json({{"holderIdentity", "a"},
                          {"leaseDurationSeconds", 15},
                          {"acquireTime", "2026-01-02T03:04:05.000000Z"},
                          {"renewTime", "2026-01-02T03:04:05.000000Z"},
                          {"leaseTransitions", 0}}));
  EXPECT_EQ(metrics::GetGauge("leader_election_master_status", "", {{"name", "the-lease"}}).Value(), 1);
}

TEST_F(LeaderElectorTest, SecondReplicaWaitsWhileTheFirstRenews) {
  Replica a(*this, "a");
  Replica b(*this, "b");
  ASSERT_TRUE(a.elector.Acquire({}));
  a.StartHold();
  b.StartAcquire();
  for (int i = 0; i < 60; ++i) {
    Step(2);
    ASSERT_FALSE(b.elector.may_write());
  }
  clock_.AwaitWaiters(4);
  EXPECT_TRUE(a.elector.may_write());
  EXPECT_EQ(b.elector.holder(), "a");
  EXPECT_EQ(Spec()["acquireTime"], "2026-01-02T03:04:05.000000Z");
  EXPECT_EQ(Spec()["renewTime"], "2026-01-02T03:05:05.000000Z");
  EXPECT_EQ(Spec()["leaseTransitions"], 0);
}

TEST_F(LeaderElectorTest, SuspendedLeaderIsReplacedAndWritesNothingWhenItContinues) {
  Replica a(*this, "a");
  Replica b(*this, "b");
  ASSERT_TRUE(a.elector.Acquire({}));
  b.StartAcquire();
  clock_.AwaitWaiters(3);  // b, and both timers
  const SteadyTime start = clock_.Now();
  while (!b.ended) {
    Until([&] { return b.ended || clock_.waiters() >= 3; });
    if (!b.ended) clock_.Advance(seconds(1));
  }
  EXPECT_TRUE(b.elector.may_write());
  EXPECT_EQ(clock_.Now() - start, seconds(15));
  EXPECT_EQ(Spec()["holderIdentity"], "b");
  EXPECT_EQ(Spec()["leaseTransitions"], 1);

  EXPECT_FALSE(a.elector.may_write());
  const int writes = server_->Count("PUT");
  EXPECT_FALSE(a.elector.HoldLease({}));
  EXPECT_EQ(server_->Count("PUT"), writes);
}

TEST_F(LeaderElectorTest, LeaderMayWriteUntilTheRenewDeadlineAndNotUntilTheLeaseExpires) {
  Replica a(*this, "a");
  EXPECT_FALSE(a.elector.may_write());
  ASSERT_TRUE(a.elector.Acquire({}));
  EXPECT_TRUE(a.elector.may_write());
  clock_.Advance(seconds(9));
  EXPECT_TRUE(a.elector.may_write());
  clock_.Advance(seconds(1));  // as after a freeze of the process: no thread has read the clock
  EXPECT_FALSE(a.elector.may_write());
}

TEST_F(LeaderElectorTest, TimesInTheLeaseAreIgnored) {
  for (const char* time : {"1999-01-01T00:00:00.000000Z", "2199-01-01T00:00:00.000000Z"}) {
    server_->Put(kLeasePath, Lease({{"holderIdentity", "gone"},
                                    {"leaseDurationSeconds", 15},
                                    {"acquireTime", time},
                                    {"renewTime", time},
                                    {"leaseTransitions", 4}}));
    Replica a(*this, "a");
    a.StartAcquire();
    const Duration waited = StepToEnd(a);
    EXPECT_TRUE(a.acquired);
    EXPECT_EQ(waited, seconds(15));
    EXPECT_EQ(Spec()["leaseTransitions"], 5);
  }
}

TEST_F(LeaderElectorTest, TheHoldersOwnLeaseDurationIsUsed) {
  server_->Put(kLeasePath, Lease({{"holderIdentity", "slow"}, {"leaseDurationSeconds", 60}}));
  Replica a(*this, "a");
  a.StartAcquire();
  EXPECT_EQ(StepToEnd(a), seconds(60));
}

TEST_F(LeaderElectorTest, UnreadableLeaseCountsAsHeldWhileItChanges) {
  server_->Put(kLeasePath, Lease({{"holderIdentity", Json::array({1})}, {"leaseDurationSeconds", "long"}}));
  Replica a(*this, "a");
  a.StartAcquire();
  for (int i = 0; i < 40; ++i) {
    if (i % 5 == 0)
      server_->Change(kLeasePath, [&](Json& lease) { lease["spec"]["leaseDurationSeconds"] = Json::array({i}); });
    Step(1);
    ASSERT_FALSE(a.ended);
  }
  StepToEnd(a);
  EXPECT_TRUE(a.acquired);
  EXPECT_EQ(Spec()["holderIdentity"], "a");
  EXPECT_EQ(Spec()["leaseDurationSeconds"], 15);
}

TEST_F(LeaderElectorTest, LeaseWithoutAHolderIsAcquiredImmediately) {
  server_->Put(kLeasePath, Lease({{"holderIdentity", ""}, {"leaseTransitions", 7}}));
  Replica a(*this, "a");
  ASSERT_TRUE(a.elector.Acquire({}));
  EXPECT_EQ(Spec()["leaseTransitions"], 8);
}

TEST_F(LeaderElectorTest, ReplicaThatLosesTheRaceForAnExpiredLeaseKeepsWaiting) {
  server_->Put(kLeasePath, Lease({{"holderIdentity", ""}}));
  std::atomic<bool> raced = false;
  server_->OnRequest([&](const HttpRequest& request) -> std::optional<Result<HttpResponse>> {
    if (request.method == "PUT" && !raced.exchange(true)) {
      server_->Change(kLeasePath, [](Json& lease) {
        lease["spec"] = {{"holderIdentity", "b"}, {"leaseDurationSeconds", 15}};
      });
    }
    return std::nullopt;
  });
  Replica a(*this, "a");
  a.StartAcquire();
  clock_.AwaitWaiters(2);
  EXPECT_FALSE(a.elector.may_write());
  EXPECT_EQ(Spec()["holderIdentity"], "b");
}

TEST_F(LeaderElectorTest, WriteOfAnotherClientToTheLeaseDoesNotEndLeadership) {
  Replica a(*this, "a");
  ASSERT_TRUE(a.elector.Acquire({}));
  a.StartHold();
  clock_.AwaitWaiters(2);
  server_->Change(kLeasePath, [](Json& lease) { lease["metadata"]["labels"] = {{"seen-by", "another-client"}}; });
  Step(1, seconds(2));
  clock_.AwaitWaiters(2);
  EXPECT_TRUE(a.elector.may_write());
  const Json lease = server_->Find(kLeasePath).value();
  EXPECT_EQ(lease["spec"]["renewTime"], "2026-01-02T03:04:07.000000Z");
  EXPECT_EQ(lease["spec"]["leaseTransitions"], 0);
  EXPECT_EQ(lease["metadata"]["labels"]["seen-by"], "another-client");
}

TEST_F(LeaderElectorTest, AnotherHolderEndsLeadershipImmediately) {
  Replica a(*this, "a");
  ASSERT_TRUE(a.elector.Acquire({}));
  a.StartHold();
  clock_.AwaitWaiters(2);
  server_->Change(kLeasePath, [](Json& lease) { lease["spec"]["holderIdentity"] = "b"; });
  EXPECT_EQ(StepToEnd(a), seconds(2));
  EXPECT_FALSE(a.held);
  EXPECT_FALSE(a.elector.may_write());
  EXPECT_EQ(a.elector.holder(), "b");
  EXPECT_EQ(Spec()["holderIdentity"], "b");
  EXPECT_EQ(metrics::GetGauge("leader_election_master_status", "", {{"name", "the-lease"}}).Value(), 0);
}

TEST_F(LeaderElectorTest, DeletedLeaseIsRecreated) {
  Replica a(*this, "a");
  ASSERT_TRUE(a.elector.Acquire({}));
  a.StartHold();
  clock_.AwaitWaiters(2);
  server_->Erase(kLeasePath);
  Step(1, seconds(2));
  clock_.AwaitWaiters(2);
  EXPECT_TRUE(a.elector.may_write());
  EXPECT_EQ(Spec()["holderIdentity"], "a");
}

TEST_F(LeaderElectorTest, LeaseIsKeptIfTheResponseOfARenewalIsLost) {
  Replica a(*this, "a");
  ASSERT_TRUE(a.elector.Acquire({}));
  server_->OnRequest([&, done = false](const HttpRequest& request) mutable -> std::optional<Result<HttpResponse>> {
    if (request.method != "PUT" || std::exchange(done, true)) return std::nullopt;
    server_->Put(kLeasePath, Json::parse(request.body));
    return Fail(Reason::kTransport, "connection reset");
  });
  a.StartHold();
  Step(1, seconds(2));
  Step(1, seconds(2));
  clock_.AwaitWaiters(2);
  EXPECT_TRUE(a.elector.may_write());
  EXPECT_EQ(Spec()["renewTime"], "2026-01-02T03:04:09.000000Z");
  EXPECT_EQ(Spec()["leaseTransitions"], 0);
}

TEST_F(LeaderElectorTest, RejectedRenewalsEndLeadershipWithinTheRenewDeadline) {
  Replica a(*this, "a");
  ASSERT_TRUE(a.elector.Acquire({}));
  server_->OnRequest([](const HttpRequest&) -> std::optional<Result<HttpResponse>> {
    return testing::StatusResponse(500, "InternalError", "etcd is away");
  });
  a.StartHold();
  EXPECT_EQ(StepToEnd(a), seconds(10));
  EXPECT_FALSE(a.held);
  EXPECT_FALSE(a.elector.may_write());
}

TEST_F(LeaderElectorTest, RenewalsThatFailForAWhileDoNotEndLeadership) {
  Replica a(*this, "a");
  ASSERT_TRUE(a.elector.Acquire({}));
  a.StartHold();
  for (int round = 0; round < 3; ++round) {
    server_->OnRequest([](const HttpRequest&) -> std::optional<Result<HttpResponse>> {
      return testing::StatusResponse(503, "ServiceUnavailable", "restarting");
    });
    for (int i = 0; i < 3; ++i) Step(1, seconds(2));
    clock_.AwaitWaiters(2);
    server_->OnRequest(nullptr);
    Step(1, seconds(2));
    clock_.AwaitWaiters(2);
    ASSERT_TRUE(a.elector.may_write()) << round;
  }
}

TEST_F(LeaderElectorTest, HangingRenewalEndsLeadershipWithinTheRenewDeadline) {
  Replica a(*this, "a");
  ASSERT_TRUE(a.elector.Acquire({}));
  const SteadyTime start = clock_.Now();
  server_->Hang(true);
  a.StartHold();
  for (;;) {
    Until([&] { return a.ended || clock_.NextDeadline(); });
    if (a.ended) break;
    clock_.AdvanceToNextDeadline();
  }
  EXPECT_FALSE(a.held);
  EXPECT_EQ(clock_.Now() - start, seconds(10));
}

TEST_F(LeaderElectorTest, ReleasedLeaseIsAcquiredByAnotherReplicaImmediately) {
  Replica a(*this, "a");
  Replica b(*this, "b");
  server_->Put(kLeasePath, Lease({{"holderIdentity", ""}, {"leaseTransitions", 1}}));
  ASSERT_TRUE(a.elector.Acquire({}));
  a.StartHold();
  b.StartAcquire();
  clock_.AwaitWaiters(4);
  a.Stop();
  EXPECT_TRUE(a.held);
  a.elector.Release();
  EXPECT_FALSE(a.elector.may_write());

  Until([&] { return b.ended.load(); });
  Json released;
  for (const HttpRequest& request : server_->wire().requests()) {
    if (request.method != "PUT") continue;
    const Json spec = Json::parse(request.body)["spec"];
    if (spec["holderIdentity"] == "") released = spec;
  }
  EXPECT_EQ(released["leaseDurationSeconds"], 1);
  EXPECT_EQ(released["leaseTransitions"], 2);
  EXPECT_TRUE(b.acquired);
  EXPECT_EQ(Spec()["holderIdentity"], "b");
  EXPECT_EQ(Spec()["leaseDurationSeconds"], 15);
  EXPECT_EQ(Spec()["leaseTransitions"], 3);
}

TEST_F(LeaderElectorTest, ReleaseDoesNotChangeTheLeaseOfAnotherHolder) {
  Replica a(*this, "a");
  ASSERT_TRUE(a.elector.Acquire({}));
  server_->Change(kLeasePath, [](Json& lease) { lease["spec"]["holderIdentity"] = "b"; });
  a.elector.Release();
  EXPECT_EQ(Spec()["holderIdentity"], "b");
}

TEST_F(LeaderElectorTest, ReleaseIsRetriedAfterAConflict) {
  Replica a(*this, "a");
  ASSERT_TRUE(a.elector.Acquire({}));
  server_->Change(kLeasePath, [](Json& lease) { lease["metadata"]["labels"] = {{"x", "y"}}; });
  a.elector.Release();
  EXPECT_EQ(Spec()["holderIdentity"], "");
}

TEST_F(LeaderElectorTest, StopEndsAcquire) {
  server_->Put(kLeasePath, Lease({{"holderIdentity", "b"}, {"leaseDurationSeconds", 15}}));
  Replica a(*this, "a");
  a.StartAcquire();
  clock_.AwaitWaiters(2);
  a.Stop();
  EXPECT_FALSE(a.acquired);
}

TEST_F(LeaderElectorTest, StopEndsARequestThatHangs) {
  server_->Hang(true);
  Replica a(*this, "a");
  a.StartAcquire();
  Until([&] { return clock_.NextDeadline().has_value(); });
  a.Stop();
  EXPECT_FALSE(a.acquired);
}

TEST_F(LeaderElectorTest, InvalidLeaseIsAFailureAndNotACrash) {
  server_->OnRequest([](const HttpRequest& request) -> std::optional<Result<HttpResponse>> {
    return testing::JsonResponse(request.method == "GET" ? Json::array({1, 2}) : Json("text"));
  });
  Replica a(*this, "a");
  a.StartAcquire();
  for (int i = 0; i < 3; ++i) Step(1, seconds(5));
  EXPECT_FALSE(a.ended);
}

}  // namespace
}  // namespace yad
