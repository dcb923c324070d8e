#include "operator/runtime/event_recorder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "operator/api/names.h"
#include "operator/base/metrics.h"
#include "tests/support/fake_clock.h"
#include "tests/unit/runtime/fake_api_server.h"

namespace yad {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::FakeApiServer;
using testing::StatusResponse;
using testing::Until;

const char kPath[] = "/apis/events.k8s.io/v1/namespaces/shop/events";

class EventRecorderTest : public ::testing::Test {
 protected:
  void Start(std::size_t capacity = 1000) {
    EventRecorderOptions options{"test-operator", "pod-0"};
    options.capacity = capacity;
    recorder_ = std::make_unique<EventRecorder>(client_, options, clock_);
  }
  void Run() {
    thread_ = std::jthread([this](std::stop_token stop) {
      recorder_->Run(stop);
      ended_ = true;
    });
    Settle();
  }
  // Blocks until the recorder has written all due events. The recorder and its timer then wait.
  void Settle() { clock_.AwaitWaiters(2); }
  void Advance(Duration by) {
    Settle();
    clock_.Advance(by);
  }
  void Record(const std::string& note = "Created deployment web", const std::string& ns = "shop") {
    recorder_->Record({"apps/v1", "Deployment", {ns, "web"}, "uid-1", "42"}, EventType::kNormal, "Created", "Create",
                      note);
  }
  // Blocks until the server has received `count` requests with this method.
  void AwaitCount(const std::string& method, int count) {
    Until([&] { return server_->Count(method) >= count; });
    Settle();
  }
  std::vector<Json> Events(const std::string& path = kPath) const { return server_->All(path); }
  static double Dropped() { return metrics::GetCounter("event_recorder_dropped_total", "").Value(); }

  FakeClock clock_;
  std::shared_ptr<FakeApiServer> server_ = std::make_shared<FakeApiServer>();
  Client client_{server_, {}, clock_};
  std::unique_ptr<EventRecorder> recorder_;
  std::atomic<bool> ended_ = false;
  std::jthread thread_;
};

TEST_F(EventRecorderTest, WritesAnEventOfEventsV1) {
  Start();
  Record();
  Run();
  AwaitCount("POST", 1);
  ASSERT_EQ(Events().size(), 1u);
  Json event = Events()[0];
  EXPECT_EQ(event["metadata"]["namespace"], "shop");
  // The suffix is 2026-01-02T03:04:05Z in nanoseconds.
  EXPECT_EQ(event["metadata"]["name"], "web.1886caf21c963200");
  event.erase("metadata");
  EXPECT_EQ(event, Json({{"apiVersion", "events.k8s.io/v1"},
                         {"kind", "Event"},
                         {"eventTime", "2026-01-02T03:04:05.000000Z"},
                         {"reportingController", "test-operator"},
                         {"reportingInstance", "pod-0"},
                         {"action", "Create"},
                         {"reason", "Created"},
                         {"note", "Created deployment web"},
                         {"type", "Normal"},
                         {"regarding",
                          {{"apiVersion", "apps/v1"},
                           {"kind", "Deployment"},
                           {"namespace", "shop"},
                           {"name", "web"},
                           {"uid", "uid-1"},
                           {"resourceVersion", "42"}}}}));
}

TEST_F(EventRecorderTest, EventOfAClusterScopedObjectIsInNamespaceDefault) {
  Start();
  Record("note", "");
  Run();
  AwaitCount("POST", 1);
  EXPECT_EQ(Events("/apis/events.k8s.io/v1/namespaces/default/events").size(), 1u);
}

TEST_F(EventRecorderTest, NamesAreValidAndDistinctHoweverLongTheObjectsName) {
  Start();
  const std::vector<std::string> names = {std::string(253, 'a'), std::string(235, 'a') + ".b" + std::string(16, 'c'),
                                          "system:node:a", "web"};
  for (const std::string& name : names) {
    for (const char* note : {"one", "two"}) {
      recorder_->Record({"v1", "Thing", {"shop", name}, "u", ""}, EventType::kWarning, "R", "A", note);
    }
  }
  Run();
  AwaitCount("POST", 8);
  ASSERT_EQ(Events().size(), 8u);
  for (const Json& event : Events()) EXPECT_EQ(CheckDns1123Subdomain(event["metadata"]["name"].get<std::string>()), "");
}

TEST_F(EventRecorderTest, LongAndInvalidTextIsTruncatedAtACharacterBoundary) {
  Start();
  Record(std::string(1023, 'x') + "\xC3\xA9");  // The limit is in the middle of the last character.
  Record(std::string("broken \xFF byte"));
  Run();
  AwaitCount("POST", 2);
  std::vector<std::string> notes;
  for (const Json& event : Events()) notes.push_back(event["note"]);
  EXPECT_EQ(notes, (std::vector<std::string>{std::string(1023, 'x'), "broken \xEF\xBF\xBD byte"}));
}

TEST_F(EventRecorderTest, RepeatsBecomeOneSeriesThatIsWrittenOncePerRefresh) {
  Start();
  Record();
  Run();
  AwaitCount("POST", 1);
  clock_.Advance(seconds(1));
  Record();  // the first repeat is written immediately
  AwaitCount("PATCH", 1);
  EXPECT_EQ(Events()[0]["series"], Json({{"count", 2}, {"lastObservedTime", "2026-01-02T03:04:06.000000Z"}}));

  for (int i = 0; i < 10; ++i) {
    Advance(seconds(2));
    Record();
  }
  Settle();
  EXPECT_EQ(server_->Count("PATCH"), 1);
  Advance(seconds(10));
  AwaitCount("PATCH", 2);
  EXPECT_EQ(Events()[0]["series"], Json({{"count", 12}, {"lastObservedTime", "2026-01-02T03:04:26.000000Z"}}));
  for (int i = 0; i < 10; ++i) Advance(minutes(1));
  Settle();
  EXPECT_EQ(server_->Count("PATCH"), 2);
  EXPECT_EQ(server_->Count("POST"), 1);
}

TEST_F(EventRecorderTest, RepeatsBeforeTheFirstWriteAreCountedInTheCreate) {
  Start();
  for (int i = 0; i < 5; ++i) Record();
  Run();
  AwaitCount("POST", 1);
  EXPECT_EQ(Events()[0]["series"]["count"], 5);
  EXPECT_EQ(server_->Count("PATCH"), 0);
}

TEST_F(EventRecorderTest, RepeatAfterTheWindowCreatesANewEvent) {
  Start();
  Record();
  Run();
  AwaitCount("POST", 1);
  clock_.Advance(minutes(6));
  Record();
  AwaitCount("PATCH", 1);
  Advance(minutes(6) + seconds(1));
  Record();
  AwaitCount("POST", 2);
  EXPECT_EQ(Events().size(), 2u);
}

TEST_F(EventRecorderTest, EventsOutsideTheWindowOfRepeatsAreRemovedFromMemory) {
  Start();
  Run();
  for (int i = 0; i < 50; ++i) Record("note " + std::to_string(i));
  AwaitCount("POST", 50);
  Advance(minutes(5));
  Record("later");
  AwaitCount("POST", 51);
  EXPECT_EQ(recorder_->remembered(), 51u);
  Advance(minutes(2));
  Record("later");
  AwaitCount("PATCH", 1);
  EXPECT_EQ(recorder_->remembered(), 1u);
}

TEST_F(EventRecorderTest, AnotherNoteCreatesAnotherEvent) {
  Start();
  Record("a");
  Record("b");
  Run();
  AwaitCount("POST", 2);
  EXPECT_EQ(Events().size(), 2u);
}

TEST_F(EventRecorderTest, SeriesOfAnExpiredEventIsRecreated) {
  Start();
  Record();
  Run();
  AwaitCount("POST", 1);
  server_->Erase(std::string(kPath) + "/" + Events()[0]["metadata"]["name"].get<std::string>());
  Record();
  AwaitCount("POST", 2);
  ASSERT_EQ(Events().size(), 1u);
  EXPECT_EQ(Events()[0]["series"]["count"], 2);
}

TEST_F(EventRecorderTest, FullQueueDropsEventsAndCountsThem) {
  const double before = Dropped();
  Start(3);
  for (int i = 0; i < 5; ++i) Record("note " + std::to_string(i));
  EXPECT_EQ(Dropped() - before, 2);
  Record("note 0");  // a repeat does not need room
  EXPECT_EQ(Dropped() - before, 2);
  Run();
  AwaitCount("POST", 3);
  Record("note 4");
  AwaitCount("POST", 4);
  EXPECT_EQ(Events().size(), 4u);
}

TEST_F(EventRecorderTest, FailedWriteIsRetriedWithBackoffForTwoMinutes) {
  const double before = Dropped();
  server_->OnRequest([](const HttpRequest&) -> std::optional<Result<HttpResponse>> {
    return StatusResponse(503, "ServiceUnavailable", "restarting");
  });
  Start();
  Record();
  Run();
  for (const int delay : {1, 2, 4, 8, 16, 32, 64}) {
    Until([&] { return clock_.NextDeadline() == Duration(seconds(delay)); });
    clock_.Advance(seconds(delay));
  }
  Until([&] { return Dropped() - before == 1; });
  EXPECT_EQ(server_->Count("POST"), 8);
}

TEST_F(EventRecorderTest, EventWhoseWriteFailedOnceIsWrittenLater) {
  server_->OnRequest([done = false](const HttpRequest&) mutable -> std::optional<Result<HttpResponse>> {
    if (std::exchange(done, true)) return std::nullopt;
    return Fail(Reason::kTransport, "connection refused");
  });
  Start();
  Record();
  Run();
  Until([&] { return clock_.NextDeadline() == Duration(seconds(1)); });
  Record();  // joins the waiting event
  clock_.Advance(seconds(1));
  AwaitCount("POST", 2);
  ASSERT_EQ(Events().size(), 1u);
  EXPECT_EQ(Events()[0]["series"]["count"], 2);
}

TEST_F(EventRecorderTest, CreateWhoseResponseWasLostCreatesNoSecondEvent) {
  server_->OnRequest([this, done = false](const HttpRequest& request) mutable -> std::optional<Result<HttpResponse>> {
    if (std::exchange(done, true)) return std::nullopt;
    const Json event = Json::parse(request.body);
    server_->Put(std::string(kPath) + "/" + event["metadata"]["name"].get<std::string>(), event);
    return Fail(Reason::kTransport, "connection reset");
  });
  Start();
  Record();
  Run();
  Until([&] { return clock_.NextDeadline() == Duration(seconds(1)); });
  Record();
  clock_.Advance(seconds(1));
  AwaitCount("PATCH", 1);
  ASSERT_EQ(Events().size(), 1u);
  EXPECT_EQ(Events()[0]["series"]["count"], 2);
}

TEST_F(EventRecorderTest, ForbiddenWriteIsNotRetried) {
  const double before = Dropped();
  server_->OnRequest([](const HttpRequest&) -> std::optional<Result<HttpResponse>> {
    return StatusResponse(403, "Forbidden", "events.events.k8s.io is forbidden");
  });
  Start();
  Record();
  Run();
  Until([&] { return Dropped() - before == 1; });
  Settle();
  EXPECT_EQ(server_->Count("POST"), 1);
  EXPECT_FALSE(clock_.NextDeadline());
}

TEST_F(EventRecorderTest, EventsOfATerminatingNamespaceAreNotCountedAsDropped) {
  const double before = Dropped();
  server_->OnRequest([n = 0](const HttpRequest&) mutable -> std::optional<Result<HttpResponse>> {
    if (n++ > 0) return StatusResponse(404, "NotFound", "namespaces \"shop\" not found");
    Json answer = Json::parse(StatusResponse(403, "Forbidden", "unable to create new content").body);
    answer["details"]["causes"] = Json::array({{{"reason", "NamespaceTerminating"}, {"field", "metadata.namespace"}}});
    return testing::JsonResponse(answer, 403);
  });
  Start();
  Record("one");
  Record("two");
  Run();
  AwaitCount("POST", 2);
  EXPECT_FALSE(clock_.NextDeadline());
  EXPECT_EQ(Dropped() - before, 0);
}

TEST_F(EventRecorderTest, RecordDoesNotWaitForAWriteThatHangs) {
  server_->Hang(true);
  Start();
  Record();
  thread_ = std::jthread([this](std::stop_token stop) { recorder_->Run(stop); });
  for (int i = 0; i < 100; ++i) Record("note " + std::to_string(i));  // hangs if Record waits for the write
  server_->Hang(false);
  AwaitCount("POST", 101);
}

TEST_F(EventRecorderTest, StopWritesQueuedEvents) {
  Start();
  Record();
  Run();
  AwaitCount("POST", 1);
  Record();
  AwaitCount("PATCH", 1);
  Record();         // written at the next refresh
  Record("other");  // may already be written
  thread_.request_stop();
  thread_.join();
  ASSERT_EQ(Events().size(), 2u);
  EXPECT_EQ(Events()[0]["series"]["count"], 3);
}

TEST_F(EventRecorderTest, StopWaitsTwoSecondsForAWriteThatHangs) {
  server_->Hang(true);
  Start();
  Record();
  thread_ = std::jthread([this](std::stop_token stop) {
    recorder_->Run(stop);
    ended_ = true;
  });
  thread_.request_stop();
  // The timer of the stop runs now. The recorder is in its write, or has not begun it.
  Until([&] { return clock_.NextDeadline() == Duration(seconds(2)); });
  EXPECT_FALSE(ended_);
  clock_.Advance(seconds(2));
  thread_.join();
  EXPECT_TRUE(Events().empty());
}

}  // namespace
}  // namespace yad
