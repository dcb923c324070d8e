// Watches of the Reflector: events, resumed watches, and new lists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "operator/base/metrics.h"
#include "operator/runtime/reflector.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/unit/runtime/reflector_fixture.h"

namespace yad::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST_F(ReflectorTest, EventsChangeTheStoreAndAreReportedOnce) {
  std::shared_ptr<FakeStream> stream = StartWatching({Object("a", "1"), Object("b", "2")}, "10");
  stream->PushEvent("MODIFIED", Object("a", "11"));
  stream->PushEvent("ADDED", Object("c", "12"));
  stream->PushEvent("DELETED", Object("b", "13"));
  stream->PushEvent("MODIFIED", Object("a", "11"));  // repeated
  stream->PushEvent("ADDED", Object("b", "2"));      // out of order
  stream->WaitUntilDrained();
  EXPECT_THAT(TakeChanges(), ElementsAre("a 1->11", "c -->12", "b 2->-"));
  EXPECT_THAT(Names(), UnorderedElementsAre("a", "c"));
}

TEST_F(ReflectorTest, AWatchThatTimesOutIsReopenedImmediatelyFromTheLastVersion) {
  std::shared_ptr<FakeStream> stream = StartWatching({}, "10");
  stream->PushEvent("ADDED", Object("a", "11"));
  stream->WaitUntilDrained();
  clock_.Advance(seconds(90));
  stream->End();
  stream = transport_->TakeStream();  // without a backoff
  stream->PushEvent("BOOKMARK", Bookmark("20"));
  stream->PushEvent("BOOKMARK", Bookmark("15"));  // older than the previous bookmark
  stream->WaitUntilDrained();
  clock_.Advance(seconds(90));
  stream->End();
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_THAT(Requests(), ElementsAre("watch 11", "watch 20"));
}

TEST_F(ReflectorTest, WatchesThatEndImmediatelyCauseNoBusyLoop) {
  AnswerLists({ListOf({}, "10")});
  transport_->OnOpen([](const HttpRequest&) -> Result<std::shared_ptr<FakeStream>> {
    auto stream = std::make_shared<FakeStream>();
    stream->End();
    return stream;
  });
  Start();
  AwaitBackoff();
  const SteadyTime start = clock_.Now();
  while (clock_.Now() - start < std::chrono::minutes(10)) {
    EXPECT_GE(clock_.NextDeadline().value_or(Duration{0}), Duration(milliseconds(800)));
    PassBackoff();
    AwaitBackoff();
  }
  // The backoff doubles from 0.8 s to 30 s.
  EXPECT_LT(transport_->requests().size(), 35u);
  EXPECT_GT(transport_->requests().size(), 10u);
}

TEST_F(ReflectorTest, WatchesThatRepeatOneOldEventAndEndCauseNoBusyLoop) {
  AnswerLists({ListOf({Object("a", "9")}, "10")});
  transport_->OnOpen([](const HttpRequest&) -> Result<std::shared_ptr<FakeStream>> {
    auto stream = std::make_shared<FakeStream>();
    stream->PushEvent("ADDED", Object("a", "9"));
    stream->End();
    return stream;
  });
  Start();
  AwaitBackoff();
  const SteadyTime start = clock_.Now();
  while (clock_.Now() - start < std::chrono::minutes(10)) PassBackoff(), AwaitBackoff();
  EXPECT_LT(transport_->requests().size(), 35u);
  EXPECT_THAT(TakeChanges(), ElementsAre("a -->9"));
}

TEST_F(ReflectorTest, RepeatedlyExpiredVersionsCauseNoBusyLoop) {
  AnswerLists({ListOf({Object("a", "9")}, "10")});
  transport_->OnOpen([](const HttpRequest&) -> Result<std::shared_ptr<FakeStream>> { return Rejecting(Gone()); });
  Start();
  AwaitBackoff();
  const SteadyTime start = clock_.Now();
  while (clock_.Now() - start < std::chrono::minutes(10)) PassBackoff(), AwaitBackoff();
  EXPECT_LT(transport_->requests().size(), 70u);  // Each attempt is a list and a watch.
}

TEST_F(ReflectorTest, WatchOfAServerThatIsDownIsResumedWithBackoff) {
  std::shared_ptr<FakeStream> stream = StartWatching({Object("a", "1")}, "10");
  std::atomic<bool> down = true;
  transport_->OnOpen([&](const HttpRequest&) -> Result<std::shared_ptr<FakeStream>> {
    if (down) return Fail(Reason::kTransport, "connection refused");
    return std::make_shared<FakeStream>();
  });
  stream->Fail(Error{Reason::kTransport, "connection reset", 0, {}, {}});
  std::vector<Duration> waits;
  for (int i = 0; i < 10; ++i) {
    AwaitBackoff();
    EXPECT_EQ(reflector_->state(), ReflectorState::kWaiting);
    EXPECT_THAT(reflector_->last_error(), HasSubstr("cannot watch widgets.example.com: "));
    waits.push_back(clock_.NextDeadline().value_or(Duration{0}));
    if (i == 9) down = false;
    PassBackoff();
  }
  EXPECT_LE(waits.front(), Duration(milliseconds(1200)));
  EXPECT_GE(waits.back(), Duration(seconds(30)));
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_EQ(Requests().back(), "watch 10") << "no new list is needed";
  EXPECT_EQ(reflector_->last_error(), "");
  EXPECT_THAT(TakeChanges(), ElementsAre());
}

TEST_F(ReflectorTest, AnExpiredVersionCausesANewListThatDeletesMissingObjects) {
  std::shared_ptr<FakeStream> stream = StartWatching({Object("a", "1"), Object("b", "2"), Object("c", "3")}, "10");
  AnswerLists({ListOf({Object("b", "2"), Object("c", "15"), Object("d", "16")}, "20")});
  stream->PushEvent("ERROR", GoneEvent());
  PassBackoff();
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_THAT(Requests(), ElementsAre("list limit=500", "watch 20"));
  EXPECT_THAT(TakeChanges(), UnorderedElementsAre("a 1->-", "c 3->15", "d -->16"));
}

TEST_F(ReflectorTest, AListThatIsOlderThanTheStoreIsIgnored) {
  std::shared_ptr<FakeStream> stream = StartWatching({Object("a", "1")}, "10");
  stream->PushEvent("ADDED", Object("b", "30"));
  stream->WaitUntilDrained();
  AnswerLists({ListOf({}, "20"), ListOf({Object("a", "1"), Object("b", "30")}, "30")});
  stream->PushEvent("ERROR", GoneEvent());
  PassBackoff();
  AwaitBackoff();
  EXPECT_THAT(Names(), UnorderedElementsAre("a", "b")) << "a list of an apiserver that lags must not delete objects";
  EXPECT_THAT(reflector_->last_error(), HasSubstr("is older than an earlier response"));
  PassBackoff();
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_THAT(TakeChanges(), ElementsAre("b -->30"));
}

TEST_F(ReflectorTest, ReflectorEndsAfterAMinuteOfListsOlderThanTheStore) {
  std::shared_ptr<FakeStream> stream = StartWatching({Object("a", "30")}, "30");
  AnswerLists({ListOf({}, "20")});  // etcd was restored from a backup
  stream->PushEvent("ERROR", GoneEvent());
  PassBackoff();
  AwaitBackoff();
  const SteadyTime first = clock_.Now();
  while (clock_.Now() - first < seconds(60)) {
    AwaitBackoff();
    EXPECT_FALSE(ended_);
    EXPECT_THAT(reflector_->last_error(), HasSubstr("if this lasts for a minute, this process exits"));
    clock_.AdvanceToNextDeadline();
  }
  thread_.join();
  ASSERT_FALSE(outcome_);
  EXPECT_THAT(outcome_.error().message, HasSubstr("widgets.example.com: "));
  EXPECT_THAT(outcome_.error().message, HasSubstr("restored from a backup"));
  EXPECT_THAT(Names(), UnorderedElementsAre("a"));
  EXPECT_THAT(TakeChanges(), ElementsAre());
}

TEST_F(ReflectorTest, OccasionalOlderListsDoNotEndTheReflector) {
  std::shared_ptr<FakeStream> stream = StartWatching({}, "30");
  for (int i = 0; i < 5; ++i) {
    AnswerLists({ListOf({}, "20"), ListOf({}, "31")});
    stream->PushEvent("ERROR", GoneEvent());
    PassBackoff();
    PassBackoff();
    stream = transport_->TakeStream();
    stream->WaitUntilDrained();
    clock_.Advance(seconds(50));
  }
  EXPECT_FALSE(ended_);
}

TEST_F(ReflectorTest, AnOlderObjectInANewerListEndsTheReflector) {
  std::shared_ptr<FakeStream> stream = StartWatching({Object("a", "10"), Object("b", "30")}, "30");
  AnswerLists({ListOf({Object("a", "10"), Object("b", "20")}, "40")});
  stream->PushEvent("ERROR", GoneEvent());
  PassBackoff();
  thread_.join();
  ASSERT_FALSE(outcome_);
  EXPECT_THAT(outcome_.error().message, HasSubstr("b has version 20 in the list of version 40, and had version 30"));
  EXPECT_THAT(outcome_.error().message, HasSubstr("restored from a backup"));
}

// After a restore of etcd, the server may be behind the watch's resourceVersion. The watch then receives no events.
TEST_F(ReflectorTest, AWatchWithoutAnyEventDoesNotConfirmTheVersion) {
  std::shared_ptr<FakeStream> stream = StartWatching({Object("a", "30")}, "30");
  AnswerLists({ListOf({}, "20")});
  clock_.Advance(seconds(90));
  stream->End();
  AwaitBackoff();
  EXPECT_THAT(reflector_->last_error(), HasSubstr("is older than an earlier response"));
  EXPECT_THAT(Names(), UnorderedElementsAre("a"));
}

// If a server disappears and the connection still looks open, neither an event nor an error arrives.
TEST_F(ReflectorTest, ClientsTimeoutOfAWatchIsLongerThanTheServersAndAtMostTwoMinutes) {
  AnswerLists({ListOf({}, "10")});
  Start();
  std::shared_ptr<FakeStream> stream = transport_->TakeStream();
  stream->PushEvent("BOOKMARK", Bookmark("10"));
  stream->WaitUntilDrained();
  transport_->ClearRequests();
  clock_.Advance(seconds(90));
  stream->End();
  transport_->TakeStream()->WaitUntilDrained();
  ASSERT_THAT(Requests(), ElementsAre("watch 10"));
  for (const HttpRequest& request : transport_->requests()) {
    EXPECT_EQ(QueryOf(request, "timeoutSeconds"), "90");
    EXPECT_GT(request.timeout, seconds(90)) << "the server's own end must come first";
    EXPECT_LE(request.timeout, seconds(120));
  }
}

TEST_F(ReflectorTest, MetricHoldsTheTimeOfTheFirstFailureUntilAWatchHasAnEvent) {
  const auto since = [] {
    return metrics::GetGauge("informer_failing_since_timestamp_seconds", "", {{"resource", "widgets.example.com"}})
        .Value();
  };
  std::shared_ptr<FakeStream> stream = StartWatching({}, "10");
  EXPECT_EQ(since(), 0);
  const double now = std::chrono::duration<double>(clock_.WallNow().time_since_epoch()).count();
  AnswerLists({StatusResponse(403, "Forbidden", "no"), StatusResponse(403, "Forbidden", "no"), ListOf({}, "20")});
  stream->PushEvent("ERROR", GoneEvent());
  for (int i = 0; i < 3; ++i) {
    AwaitBackoff();
    EXPECT_EQ(since(), now) << "the time of the first failure, not of the last";
    clock_.AdvanceToNextDeadline();
  }
  stream = transport_->TakeStream();
  stream->WaitUntilDrained();
  EXPECT_EQ(since(), now) << "a list does not show that the watch works";
  stream->PushEvent("BOOKMARK", Bookmark("21"));
  stream->WaitUntilDrained();
  EXPECT_EQ(since(), 0);
}

// For example, a load balancer that closes idle connections after 35 s, before the first bookmark.
TEST_F(ReflectorTest, IdleWatchThatIsCutIsResumedAndDoesNotCountAsAFailure) {
  const auto since = [] {
    return metrics::GetGauge("informer_failing_since_timestamp_seconds", "", {{"resource", "widgets.example.com"}})
        .Value();
  };
  const Error cut{Reason::kTransport, "the connection broke", 0, {}, {}};
  std::shared_ptr<FakeStream> stream = StartWatching({}, "10");
  for (int i = 0; i < 3; ++i) {
    clock_.Advance(seconds(35));
    stream->Fail(cut);
    stream = transport_->TakeStream();  // without a backoff
    stream->WaitUntilDrained();
    EXPECT_EQ(since(), 0);
    EXPECT_EQ(reflector_->last_error(), "");
  }
  EXPECT_THAT(Requests(), ElementsAre("watch 10", "watch 10", "watch 10"));
  stream->Fail(cut);
  AwaitBackoff();
  EXPECT_GT(since(), 0) << "a watch that breaks immediately has failed";
  clock_.AdvanceToNextDeadline();
  stream = transport_->TakeStream();
  stream->PushEvent("BOOKMARK", Bookmark("11"));
  stream->WaitUntilDrained();
  EXPECT_EQ(since(), 0);
  clock_.Advance(seconds(35));
  stream->Fail(cut);
  stream = transport_->TakeStream();
  stream->WaitUntilDrained();
  clock_.Advance(seconds(120));
  stream->Fail(cut);
  AwaitBackoff();
  EXPECT_GT(since(), 0) << "a watch that hung has failed";
}

// Watches may receive no events because etcd was restored from a backup, and the server has not reached their
// resourceVersion yet. The list finds this.
TEST_F(ReflectorTest, ListFollowsTenMinutesOfCutWatchesWithoutEvents) {
  const Error cut{Reason::kTransport, "the connection broke", 0, {}, {}};
  std::shared_ptr<FakeStream> stream = StartWatching({}, "10");
  for (int passed = 35; passed < 630; passed += 35) {
    clock_.Advance(seconds(35));
    stream->Fail(cut);
    stream = transport_->TakeStream();
    stream->WaitUntilDrained();
    EXPECT_EQ(Requests().back(), "watch 10");
    EXPECT_EQ(Requests().size(), static_cast<std::size_t>(passed / 35));
  }
  clock_.Advance(seconds(35));
  stream->Fail(cut);
  stream = transport_->TakeStream();
  stream->WaitUntilDrained();
  EXPECT_THAT(Requests().at(17), ::testing::StartsWith("list"));
}

TEST_F(ReflectorTest, MetricOfAReflectorThatStoppedDoesNotStayFailing) {
  const std::shared_ptr<FakeStream> stream = StartWatching({}, "10");
  AnswerLists({StatusResponse(403, "Forbidden", "no")});
  stream->PushEvent("ERROR", GoneEvent());
  AwaitBackoff();
  const metrics::Gauge& since =
      metrics::GetGauge("informer_failing_since_timestamp_seconds", "", {{"resource", "widgets.example.com"}});
  EXPECT_GT(since.Value(), 0);
  Stop();
  EXPECT_EQ(since.Value(), 0);
}

TEST_F(ReflectorTest, ReflectorsOfAResourceWithDifferentSelectorsHaveSeparateMetrics) {
  const auto since = [](metrics::Labels labels) {
    labels["resource"] = "widgets.example.com";
    return metrics::GetGauge("informer_failing_since_timestamp_seconds", "", labels).Value();
  };
  ReflectorOptions selected = options_;
  selected.label_selector = "site";
  selected.field_selector = "metadata.name!=x";
  const auto forbidden =
      std::make_shared<FakeTransport>([](const HttpRequest&) { return StatusResponse(403, "Forbidden", "no"); });
  Client client(forbidden, ClientOptions{}, clock_);
  Store store;
  Reflector failing(
      client, selected, store, [](const Store::Change&) {}, clock_);
  const std::jthread thread([&](const std::stop_token& stop) { EXPECT_TRUE(failing.Run(stop)); });
  AwaitBackoff();

  const std::shared_ptr<FakeStream> stream = StartWatching({}, "10");
  stream->PushEvent("BOOKMARK", Bookmark("11"));
  stream->WaitUntilDrained();
  EXPECT_EQ(since({}), 0);
  EXPECT_GT(since({{"selector", "site,metadata.name!=x"}}), 0);
}

TEST_F(ReflectorTest, AMalformedStreamIsResumedTwiceBeforeANewList) {
  std::shared_ptr<FakeStream> stream = StartWatching({Object("a", "1")}, "10");
  transport_->OnOpen([](const HttpRequest&) -> Result<std::shared_ptr<FakeStream>> {
    auto broken = std::make_shared<FakeStream>();
    broken->Push("{\"type\": \"ADDED\", \"obj\x01\n");
    return broken;
  });
  stream->PushEvent("ADDED", Object("b", "11"));
  stream->Push("garbage\n");
  for (int i = 0; i < 3; ++i) PassBackoff();
  AwaitBackoff();
  EXPECT_THAT(Requests(), ElementsAre("watch 11", "watch 11", "list limit=500")) << "the list is older than event 11";
  EXPECT_THAT(Names(), UnorderedElementsAre("a", "b"));
}

TEST_F(ReflectorTest, AnEventWithoutAVersionIsMalformed) {
  std::shared_ptr<FakeStream> stream = StartWatching({}, "10");
  stream->PushEvent("ADDED", {{"metadata", {{"name", "a"}}}});
  AwaitBackoff();
  EXPECT_THAT(reflector_->last_error(), HasSubstr("Decode"));
  EXPECT_THAT(Names(), UnorderedElementsAre());
}

TEST_F(ReflectorTest, AnEventWithoutANameIsSkipped) {
  std::shared_ptr<FakeStream> stream = StartWatching({}, "10");
  stream->PushEvent("ADDED", {{"metadata", {{"resourceVersion", "11"}}}});
  stream->PushEvent("ADDED", Object("a", "12"));
  stream->WaitUntilDrained();
  EXPECT_THAT(TakeChanges(), ElementsAre("a -->12"));
}

TEST_F(ReflectorTest, RepeatedErrorEventsCauseANewList) {
  std::shared_ptr<FakeStream> stream = StartWatching({}, "10");
  for (int i = 0; i < 3; ++i) {
    stream->PushEvent("ERROR", {{"kind", "Status"}, {"reason", "InternalError"}, {"code", 500}, {"message", "oops"}});
    PassBackoff();
    stream = transport_->TakeStream();
  }
  EXPECT_THAT(Requests(), ElementsAre("watch 10", "watch 10", "list limit=500", "watch 10"));
}

TEST_F(ReflectorTest, TheServersRetryAfterIsHonoured) {
  HttpResponse busy = StatusResponse(429, "TooManyRequests", "too many requests");
  busy.headers["retry-after"] = "120";
  AnswerLists({busy, ListOf({}, "10")});
  Start();
  AwaitBackoff();
  EXPECT_EQ(clock_.NextDeadline(), Duration(seconds(120)));
  PassBackoff();
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_TRUE(store_.synced());
}

TEST_F(ReflectorTest, ForbiddenListIsRetriedAndReported) {
  AnswerLists({StatusResponse(403, "Forbidden", "widgets.example.com is forbidden"), ListOf({}, "10")});
  Start();
  AwaitBackoff();
  EXPECT_EQ(reflector_->state(), ReflectorState::kWaiting);
  EXPECT_THAT(reflector_->last_error(), HasSubstr("cannot list widgets.example.com: Forbidden"));
  PassBackoff();
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_TRUE(store_.synced());
}

}  // namespace
}  // namespace yad::testing
