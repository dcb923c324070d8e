// The watch of a replica that waits for the lease.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/runtime/leader_elector_fixture.h"

namespace yad {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::FakeStream;
using testing::kLeasePath;
using testing::LeaderElectorTest;
using testing::QueryOf;
using testing::StatusResponse;
using testing::Until;

constexpr Duration kLease = seconds(15);

class LeaderElectorWatchTest : public LeaderElectorTest {
 protected:
  LeaderElectorWatchTest() { PutLease("b"); }

  void PutLease(const std::string& holder) {
    server_->Put(kLeasePath, Lease({{"holderIdentity", holder}, {"leaseDurationSeconds", 15}}));
  }
  // Renews the lease for `holder`. An empty holder releases the lease.
  void Renew(const std::string& holder = "b") {
    server_->Change(kLeasePath, [&](Json& lease) {
      lease["spec"]["holderIdentity"] = holder;
      lease["spec"]["renewTime"] = FormatMicroTime(clock_.WallNow());
    });
  }
  // Changes the lease as a client that is not a replica.
  void Label(int value) {
    server_->Change(kLeasePath, [&](Json& lease) { lease["metadata"]["labels"] = {{"x", std::to_string(value)}}; });
  }
  // From now on, new watches receive only the events of the test.
  void TakeWatches() {
    server_->wire().OnOpen([](const HttpRequest&) { return std::make_shared<FakeStream>(); });
  }
  void RejectWatches(int code, const std::string& reason) {
    server_->wire().OnOpen([=](const HttpRequest&) {
      return std::make_shared<FakeStream>(StatusResponse(code, reason, "it may not watch"));
    });
  }
  std::shared_ptr<FakeStream> NextWatch() {
    std::shared_ptr<FakeStream> stream = server_->wire().TakeStream();
    EXPECT_TRUE(stream);
    stream->WaitUntilDrained();
    return stream;
  }
  Json LeaseNow() const { return server_->Find(kLeasePath).value(); }

  std::vector<HttpRequest> Gets(bool watches) const {
    std::vector<HttpRequest> found = server_->wire().requests();
    std::erase_if(found, [&](const HttpRequest& request) {
      return request.method != "GET" || (QueryOf(request, "watch") == "true") != watches;
    });
    return found;
  }
  std::size_t gets() const { return Gets(false).size(); }
  std::size_t watches() const { return Gets(true).size(); }

  // Blocks until the replica waits for an event or until exactly `left` has passed.
  void AwaitNextTry(Duration left) {
    Until([&] { return clock_.NextDeadline() == left; });
  }
  // Starts to acquire the lease. Returns the watch when the replica waits.
  std::shared_ptr<FakeStream> StartWatching(Replica& replica) {
    replica.StartAcquire();
    std::shared_ptr<FakeStream> watch = NextWatch();
    AwaitNextTry(kLease);
    return watch;
  }
  // Returns whether the replica polls: it waits as long as client-go between two attempts.
  bool Polls() const {
    const std::optional<Duration> next = clock_.NextDeadline();
    return next && *next >= seconds(2) && *next <= milliseconds(4400);
  }
  void AwaitPolls() {
    Until([&] { return Polls(); });
  }
};

TEST_F(LeaderElectorWatchTest, WaitingReplicaWatchesOnlyTheLeaseFromTheVersionThatItRead) {
  Replica a(*this, "a");
  StartWatching(a);
  ASSERT_EQ(watches(), 1U);
  const HttpRequest watch = Gets(true).front();
  EXPECT_EQ(testing::PathOf(watch) + "/the-lease", kLeasePath);
  EXPECT_EQ(QueryOf(watch, "fieldSelector"), "metadata.name=the-lease");
  EXPECT_EQ(QueryOf(watch, "resourceVersion"), StringAt(LeaseNow(), {"metadata", "resourceVersion"}));
  EXPECT_EQ(gets(), 1U);
}

TEST_F(LeaderElectorWatchTest, ReleasedLeaseIsAcquiredImmediatelyAndNoLongerWatched) {
  Replica a(*this, "a");
  const auto watch = StartWatching(a);
  const SteadyTime start = clock_.Now();
  Renew("");
  Until([&] { return a.ended.load(); });
  EXPECT_TRUE(a.acquired);
  EXPECT_EQ(clock_.Now(), start);
  EXPECT_EQ(Spec()["holderIdentity"], "a");
  EXPECT_EQ(Spec()["leaseTransitions"], 1);
  EXPECT_EQ(gets(), 2U);
  EXPECT_TRUE(watch->closed());
}

TEST_F(LeaderElectorWatchTest, DeletedLeaseIsRecreatedImmediately) {
  Replica a(*this, "a");
  a.StartAcquire();
  AwaitNextTry(kLease);
  const SteadyTime start = clock_.Now();
  server_->Erase(kLeasePath);
  Until([&] { return a.ended.load(); });
  EXPECT_TRUE(a.acquired);
  EXPECT_EQ(clock_.Now(), start);
  EXPECT_EQ(Spec()["holderIdentity"], "a");
}

TEST_F(LeaderElectorWatchTest, EachRenewalPostponesTheNextTryWithoutReads) {
  Replica a(*this, "a");
  a.StartAcquire();
  AwaitNextTry(kLease);
  for (int i = 0; i < 100; ++i) {
    clock_.Advance(seconds(2));
    AwaitNextTry(kLease - seconds(2));
    Renew();
    AwaitNextTry(kLease);
  }
  EXPECT_EQ(gets(), 1U);
  EXPECT_EQ(watches(), 1U);

  clock_.Advance(kLease - milliseconds(1));
  AwaitNextTry(milliseconds(1));
  EXPECT_EQ(gets(), 1U);
  clock_.Advance(milliseconds(1));
  Until([&] { return a.ended.load(); });
  EXPECT_TRUE(a.acquired);
  EXPECT_EQ(gets(), 2U);
}

TEST_F(LeaderElectorWatchTest, ForeignWritesDoNotPostponeTheNextTry) {
  Replica a(*this, "a");
  a.StartAcquire();
  AwaitNextTry(kLease);
  for (int i = 1; i < 15; ++i) {
    clock_.Advance(seconds(1));
    Label(i);
    AwaitNextTry(kLease - seconds(i));
  }
  clock_.Advance(seconds(1));
  Until([&] { return a.ended.load(); });
  EXPECT_TRUE(a.acquired);
  EXPECT_EQ(gets(), 2U);
}

TEST_F(LeaderElectorWatchTest, ForeignWritesToAnExpiredLeaseDoNotPostponeTheNextTry) {
  server_->OnRequest([](const HttpRequest& request) -> std::optional<Result<HttpResponse>> {
    if (request.method != "PUT") return std::nullopt;
    return StatusResponse(409, "Conflict", "the object has been modified");
  });
  Replica a(*this, "a");
  a.StartAcquire();
  AwaitNextTry(kLease);
  clock_.Advance(kLease);
  AwaitPolls();
  Duration left = clock_.NextDeadline().value();
  for (int i = 0; i < 30; ++i) {
    Label(i);
    std::optional<Duration> now;
    Until([&] { return (now = clock_.NextDeadline()).has_value(); });
    ASSERT_LE(*now, left);
    left = *now;
  }
}

TEST_F(LeaderElectorWatchTest, ForbiddenWriteOfTheLeaseIsNotRetriedBeforeTheNextPoll) {
  server_->OnRequest([](const HttpRequest& request) -> std::optional<Result<HttpResponse>> {
    if (request.method != "PUT") return std::nullopt;
    return StatusResponse(403, "Forbidden", "it may not update");
  });
  Replica a(*this, "a");
  a.StartAcquire();
  AwaitNextTry(kLease);
  Renew("");
  AwaitPolls();
  EXPECT_EQ(server_->Count("PUT"), 1);
  EXPECT_EQ(gets(), 2U);
}

TEST_F(LeaderElectorWatchTest, OneOfSeveralReplicasAcquiresTheLeaseAndTheOthersObserveIt) {
  Replica a(*this, "a");
  Replica c(*this, "c");
  Replica d(*this, "d");
  const std::vector<Replica*> all = {&a, &c, &d};
  for (Replica* replica : all) {
    replica->StartAcquire();
    NextWatch();
  }
  clock_.AwaitWaiters(6);
  Renew("");
  Until([&] { return a.ended || c.ended || d.ended; });
  const std::string winner = Spec()["holderIdentity"];
  for (Replica* replica : all) Until([&] { return replica->elector.holder() == winner; });
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](Replica* replica) { return replica->acquired.load(); }), 1);
  EXPECT_EQ(Spec()["leaseTransitions"], 1);
  EXPECT_LE(gets(), 6U);
  EXPECT_EQ(watches(), 3U);
}

TEST_F(LeaderElectorWatchTest, RenewalThatASilentWatchMissesIsReadAndTheWatchIsReopened) {
  TakeWatches();
  Replica a(*this, "a");
  const auto silent = StartWatching(a);
  Renew();
  clock_.Advance(minutes(1));  // as after a freeze of the process
  const auto watch = NextWatch();
  AwaitNextTry(kLease);
  EXPECT_TRUE(silent->closed());
  EXPECT_EQ(gets(), 2U);
  EXPECT_EQ(QueryOf(Gets(true).back(), "resourceVersion"), StringAt(LeaseNow(), {"metadata", "resourceVersion"}));
  EXPECT_FALSE(a.ended);

  Renew("");
  watch->PushEvent("MODIFIED", LeaseNow());
  Until([&] { return a.ended.load(); });
  EXPECT_TRUE(a.acquired);
}

TEST_F(LeaderElectorWatchTest, BookmarksAndOlderEventsAreIgnored) {
  TakeWatches();
  Json before = LeaseNow();
  before["spec"]["holderIdentity"] = "";
  Renew();
  Replica a(*this, "a");
  const auto watch = StartWatching(a);
  clock_.Advance(seconds(1));
  for (const char* type : {"MODIFIED", "DELETED"}) {
    watch->PushEvent(type, before);
    watch->WaitUntilDrained();
    AwaitNextTry(kLease - seconds(1));
  }
  watch->PushEvent("BOOKMARK", {{"metadata", {{"resourceVersion", "9999"}}}});
  watch->WaitUntilDrained();
  AwaitNextTry(kLease - seconds(1));
  Renew();
  watch->PushEvent("MODIFIED", LeaseNow());
  AwaitNextTry(kLease);
  EXPECT_EQ(gets(), 1U);
  EXPECT_EQ(a.elector.holder(), "b");
}

TEST_F(LeaderElectorWatchTest, ForbiddenWatchIsReportedOnceAndTheLeaseIsPolled) {
  RejectWatches(403, "Forbidden");
  ::testing::internal::CaptureStderr();
  Replica a(*this, "a");
  a.StartAcquire();
  Until([&] { return watches() == 1; });
  const SteadyTime rejected = clock_.Now();
  for (std::size_t asked = 1; clock_.Now() < rejected + seconds(55); ++asked) {
    AwaitPolls();
    EXPECT_EQ(gets(), asked);
    EXPECT_EQ(watches(), 1U);
    Renew();
    clock_.AdvanceToNextDeadline();
  }
  while (watches() < 3) {
    AwaitPolls();
    Renew();
    clock_.AdvanceToNextDeadline();
  }
  AwaitPolls();
  EXPECT_GE(clock_.Now(), rejected + minutes(2));
  const std::string log = ::testing::internal::GetCapturedStderr();
  const std::size_t said = log.find("the role lacks a verb");
  ASSERT_NE(said, std::string::npos) << log;
  EXPECT_EQ(log.find("the role lacks a verb", said + 1), std::string::npos) << log;
  EXPECT_NE(log.find(R"(verb="watch" resource="leases.coordination.k8s.io")"), std::string::npos) << log;

  // Now the Role permits the watch.
  TakeWatches();
  for (;;) {
    Until([&] { return Polls() || clock_.NextDeadline() == kLease; });
    if (!Polls()) break;
    Renew();
    clock_.AdvanceToNextDeadline();
  }
  Until([&] { return watches() == 4; });
}

TEST_F(LeaderElectorWatchTest, ExpiredLeaseIsAcquiredWithoutAWatch) {
  RejectWatches(403, "Forbidden");
  Replica a(*this, "a");
  a.StartAcquire();
  EXPECT_EQ(StepToEnd(a, milliseconds(50)), kLease);
  EXPECT_TRUE(a.acquired);
}

TEST_F(LeaderElectorWatchTest, AWatchThatTheServerEndsIsReopenedImmediately) {
  TakeWatches();
  Replica a(*this, "a");
  const auto first = StartWatching(a);
  clock_.Advance(seconds(2));
  first->End();
  const auto second = NextWatch();
  AwaitNextTry(kLease - seconds(2));
  EXPECT_EQ(gets(), 2U);

  second->End();  // The second watch ends without an event.
  AwaitPolls();
  EXPECT_EQ(gets(), 2U);
  EXPECT_EQ(watches(), 2U);
  clock_.AdvanceToNextDeadline();
  NextWatch();
  EXPECT_EQ(gets(), 3U);
}

TEST_F(LeaderElectorWatchTest, AFailedWatchIsRetriedAfterTheNextReadOfTheLease) {
  TakeWatches();
  Replica a(*this, "a");
  const auto cut = StartWatching(a);
  clock_.Advance(seconds(2));
  cut->Fail(Error{Reason::kTransport, "connection reset", 0, {}, {}});
  AwaitPolls();
  EXPECT_EQ(watches(), 1U);
  Renew();
  clock_.AdvanceToNextDeadline();
  const auto expired = NextWatch();
  EXPECT_EQ(gets(), 2U);
  AwaitNextTry(kLease);
  expired->PushEvent("ERROR", {{"kind", "Status"}, {"code", 410}, {"reason", "Expired"}, {"message", "too old"}});
  AwaitPolls();
  Renew();
  clock_.AdvanceToNextDeadline();
  const auto senseless = NextWatch();
  EXPECT_EQ(gets(), 3U);
  EXPECT_EQ(QueryOf(Gets(true).back(), "resourceVersion"), StringAt(LeaseNow(), {"metadata", "resourceVersion"}));
  AwaitNextTry(kLease);
  senseless->PushEvent("MODIFIED", Json::object());
  AwaitPolls();
  EXPECT_TRUE(cut->closed() && expired->closed() && senseless->closed());
}

TEST_F(LeaderElectorWatchTest, AWatchThatThrowsCountsAsFailed) {
  server_->wire().OnOpen(
      [](const HttpRequest&) -> std::shared_ptr<FakeStream> { throw std::runtime_error("out of something"); });
  Replica a(*this, "a");
  a.StartAcquire();
  EXPECT_EQ(StepToEnd(a, milliseconds(50)), kLease);
  EXPECT_TRUE(a.acquired);
}

TEST_F(LeaderElectorWatchTest, StopEndsTheWatch) {
  Replica a(*this, "a");
  const auto watch = StartWatching(a);
  a.Stop();
  EXPECT_FALSE(a.acquired);
  EXPECT_TRUE(watch->closed());
}

}  // namespace
}  // namespace yad
