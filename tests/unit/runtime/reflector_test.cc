#include "operator/runtime/reflector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "operator/base/metrics.h"
#include "operator/base/synchronized.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"

namespace yad {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using testing::FakeStream;
using testing::FakeTransport;
using ::testing::HasSubstr;
using testing::JsonResponse;
using testing::QueryOf;
using testing::StatusResponse;
using ::testing::UnorderedElementsAre;

const ResourceType kType{"example.com", "v1", "widgets", "Widget", true};

Json Object(const std::string& name, const std::string& version, const std::string& uid = "u") {
  return {{"apiVersion", "example.com/v1"},
          {"kind", "Widget"},
          {"metadata", {{"namespace", "ns"}, {"name", name}, {"uid", uid}, {"resourceVersion", version}}}};
}

Json Bookmark(const std::string& version) {
  return {{"apiVersion", "example.com/v1"}, {"kind", "Widget"}, {"metadata", {{"resourceVersion", version}}}};
}

HttpResponse ListOf(const std::vector<Json>& items, const std::string& version, const std::string& more = "") {
  Json metadata{{"resourceVersion", version}};
  if (!more.empty()) metadata["continue"] = more;
  return JsonResponse(
      {{"apiVersion", "example.com/v1"}, {"kind", "WidgetList"}, {"metadata", metadata}, {"items", items}});
}

HttpResponse Gone() { return StatusResponse(410, "Expired", "the provided continue parameter is too old"); }
HttpResponse Missing() { return StatusResponse(404, "NotFound", "the server could not find the requested resource"); }

Json GoneEvent() {
  return {{"apiVersion", "v1"}, {"kind", "Status"}, {"status", "Failure"}, {"reason", "Expired"}, {"code", 410}};
}

bool IsWatch(const HttpRequest& request) { return QueryOf(request, "watch") == "true"; }

std::shared_ptr<FakeStream> Refusing(HttpResponse response) {
  return std::make_shared<FakeStream>(std::move(response));
}

// A real Client over a fake transport, a fake clock, and the reflector on a thread of its own.
class ReflectorTest : public ::testing::Test {
 protected:
  ReflectorTest() { options_.type = kType; }
  ~ReflectorTest() override { Stop(); }

  void Start() {
    reflector_ = std::make_unique<Reflector>(
        client_, options_, store_,
        [this](const Store::Change& change) {
          const ObjectPtr& any = change.after ? change.after : change.before;
          changes_.With([&](std::vector<std::string>& said) {
            said.push_back(any->meta().key.name + " " + (change.before ? change.before->meta().resource_version : "-") +
                           "->" + (change.after ? change.after->meta().resource_version : "-"));
          });
        },
        clock_);
    thread_ = std::jthread([this](const std::stop_token& stop) {
      outcome_ = reflector_->Run(stop);
      ended_ = true;
    });
  }
  void Stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

  // Answers each list with the next answer; the last one repeats.
  void AnswerLists(std::vector<Result<HttpResponse>> answers) {
    transport_->OnSend([answers, next = std::make_shared<std::atomic<std::size_t>>(0)](const HttpRequest&) {
      const std::size_t index = next->fetch_add(1);
      return answers[std::min(index, answers.size() - 1)];
    });
  }

  // Blocks until the reflector backs off (waits for the clock).
  void AwaitBackoff() { clock_.AwaitWaiters(1); }
  void PassBackoff() {
    AwaitBackoff();
    clock_.AdvanceToNextDeadline();
  }
  // Returns two objects of the Store with this payload: one from a list, one from a watch.
  std::vector<ObjectPtr> ListedAndAdded(const Json& payload) {
    Json listed = Object("a", "1"), added = Object("b", "6");
    listed["payload"] = added["payload"] = payload;
    std::shared_ptr<FakeStream> watch = StartWatching({listed}, "5");
    watch->PushEvent("ADDED", added);
    watch->WaitUntilDrained();
    return {store_.Get({"ns", "a"}).value(), store_.Get({"ns", "b"}).value()};
  }

  // Starts with this list and an open watch behind it.
  std::shared_ptr<FakeStream> StartWatching(const std::vector<Json>& items, const std::string& version) {
    AnswerLists({ListOf(items, version)});
    Start();
    std::shared_ptr<FakeStream> stream = transport_->TakeStream();
    stream->WaitUntilDrained();
    transport_->ClearRequests();
    changes_.With([](std::vector<std::string>& said) { said.clear(); });
    return stream;
  }

  std::vector<std::string> TakeChanges() {
    return changes_.With([](std::vector<std::string>& said) { return std::exchange(said, {}); });
  }
  std::set<std::string> Names() const {
    std::set<std::string> names;
    Result<std::vector<ObjectPtr>> objects = store_.List();
    if (!objects) return {"(not synced)"};
    for (const ObjectPtr& object : *objects) names.insert(object->meta().key.name);
    return names;
  }
  // Returns each "list" and "watch" with its version, in order of arrival.
  std::vector<std::string> Requests() const {
    std::vector<std::string> said;
    for (const HttpRequest& request : transport_->requests()) {
      if (IsWatch(request)) {
        said.push_back("watch " + QueryOf(request, "resourceVersion"));
      } else {
        said.push_back("list" + (QueryOf(request, "limit").empty() ? "" : " limit=" + QueryOf(request, "limit")) +
                       (QueryOf(request, "continue").empty() ? "" : " continue=" + QueryOf(request, "continue")));
      }
    }
    return said;
  }

  FakeClock clock_;
  std::shared_ptr<FakeTransport> transport_ = std::make_shared<FakeTransport>();
  Client client_{transport_, ClientOptions{}, clock_};
  ReflectorOptions options_;
  Store store_;
  Synchronized<std::vector<std::string>> changes_;
  std::unique_ptr<Reflector> reflector_;
  Status outcome_;  // once ended_
  std::atomic<bool> ended_ = false;
  std::jthread thread_;
};

// ---- Lists in pages

TEST_F(ReflectorTest, ListsInPagesAndWatchesFromTheListsVersion) {
  options_.page_size = 2;
  options_.ns = "ns";
  options_.label_selector = "a=b,c in (d,e)";
  options_.field_selector = "metadata.name!=x";
  AnswerLists({ListOf({Object("a", "1"), Object("b", "2")}, "10", "next"), ListOf({Object("c", "3")}, "10")});
  Start();
  transport_->TakeStream()->WaitUntilDrained();
  const std::vector<HttpRequest> requests = transport_->requests();
  EXPECT_THAT(Requests(), ElementsAre("list limit=2", "list limit=2 continue=next", "watch 10"));
  for (const HttpRequest& request : requests) {
    EXPECT_EQ(testing::PathOf(request), "/apis/example.com/v1/namespaces/ns/widgets");
    EXPECT_EQ(QueryOf(request, "labelSelector"), "a=b,c in (d,e)");
    EXPECT_EQ(QueryOf(request, "fieldSelector"), "metadata.name!=x");
  }
  EXPECT_EQ(QueryOf(requests[0], "resourceVersion"), "") << "a list must be a consistent read";
  EXPECT_EQ(QueryOf(requests[2], "allowWatchBookmarks"), "true");
  EXPECT_EQ(QueryOf(requests[2], "timeoutSeconds"), "90");
  EXPECT_THAT(Names(), UnorderedElementsAre("a", "b", "c"));
  EXPECT_THAT(TakeChanges(), UnorderedElementsAre("a -->1", "b -->2", "c -->3"));
  EXPECT_EQ(reflector_->state(), ReflectorState::kWatching);
  EXPECT_EQ(reflector_->last_error(), "");
}

TEST_F(ReflectorTest, PagesHaveFewerObjectsWhereTheirTextIsLong) {
  Json large = Object("large", "1");
  large["metadata"]["annotations"]["text"] = std::string(std::size_t{17} << 20, 'x');
  Json half = Object("half", "2");
  half["metadata"]["annotations"]["text"] = std::string(std::size_t{9} << 20, 'x');
  AnswerLists({ListOf({large}, "10", "never"), ListOf({half}, "10", "t1"), ListOf({Object("a", "3")}, "10", "t2"),
               ListOf({Object("b", "4")}, "10", "t3"), ListOf({Object("c", "5")}, "10")});
  Start();
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_THAT(Requests(), ElementsAre("list limit=500", "list limit=250", "list limit=125 continue=t1",
                                      "list limit=250 continue=t2", "list limit=500 continue=t3", "watch 10"));
  EXPECT_THAT(Names(), UnorderedElementsAre("half", "a", "b", "c"));
}

TEST_F(ReflectorTest, AnObjectThatFitsIntoNoPageIsAFailedList) {
  options_.page_size = 1;
  Json large = Object("large", "1");
  large["metadata"]["annotations"]["text"] = std::string(std::size_t{17} << 20, 'x');
  AnswerLists({ListOf({large}, "10")});
  Start();
  AwaitBackoff();
  EXPECT_FALSE(store_.synced());
  EXPECT_THAT(reflector_->last_error(), HasSubstr("cannot list widgets.example.com: TooLarge"));
}

TEST_F(ReflectorTest, NextPageIsRequestedBeforeThisOneIsRead) {
  options_.project = [this](const Json&) {
    EXPECT_EQ(transport_->WaitForRequests(2).size(), 2U);
    return nullptr;
  };
  AnswerLists({ListOf({Object("a", "1")}, "10", "next"), ListOf({}, "10")});
  Start();
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_THAT(Names(), UnorderedElementsAre("a"));
}

TEST_F(ReflectorTest, InvalidItemFailsTheList) {
  std::string broken = ListOf({Object("a", "1"), Object("b", "2")}, "10").body;
  broken.replace(broken.find("\"b\""), 3, " b ");
  AnswerLists({HttpResponse{200, {}, broken}, ListOf({Object("a", "1")}, "10")});
  Start();
  AwaitBackoff();
  EXPECT_FALSE(store_.synced());
  EXPECT_THAT(reflector_->last_error(), HasSubstr("cannot list widgets.example.com: Decode: an item of a list is no"));
  PassBackoff();
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_THAT(Names(), UnorderedElementsAre("a"));
}

TEST_F(ReflectorTest, ExpiredContinueTokenRestartsTheListAndThenOneWithoutPages) {
  AnswerLists({ListOf({Object("old", "1")}, "10", "t1"), Gone(), ListOf({Object("old", "1")}, "12", "t2"), Gone(),
               ListOf({Object("a", "11")}, "13")});
  Start();
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_THAT(Requests(), ElementsAre("list limit=500", "list limit=500 continue=t1", "list limit=500",
                                      "list limit=500 continue=t2", "list", "watch 13"));
  EXPECT_THAT(Names(), UnorderedElementsAre("a")) << "nothing of the pages before may be left";
}

TEST_F(ReflectorTest, AServerThatGivesTheSameContinueTokenForEverIsAnError) {
  AnswerLists({ListOf({Object("a", "1")}, "10", "again")});
  Start();
  AwaitBackoff();
  EXPECT_EQ(transport_->requests().size(), 2u);
  EXPECT_FALSE(store_.synced());
}

TEST_F(ReflectorTest, DuplicatesAndNamelessObjectsInAListAreTolerated) {
  Json nameless = Object("", "4");
  nameless["metadata"].erase("name");
  AnswerLists({ListOf({Object("a", "9"), Object("b", "2"), Object("a", "3"), nameless, Json::object()}, "10")});
  Start();
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_THAT(TakeChanges(), UnorderedElementsAre("a -->9", "b -->2"));
}

TEST_F(ReflectorTest, AFailedListLeavesTheStoreUnsynced) {
  AnswerLists({StatusResponse(500, "InternalError", "etcd is down"), ListOf({Object("a", "1")}, "10", "next"),
               Fail(Reason::kTransport, "connection refused"), ListOf({}, ""), JsonResponse({{"kind", "Nonsense"}}),
               ListOf({Object("a", "1")}, "10")});
  Start();
  for (int failure = 0; failure < 4; ++failure) {
    AwaitBackoff();
    EXPECT_FALSE(store_.synced());
    EXPECT_EQ(reflector_->state(), ReflectorState::kWaiting);
    EXPECT_THAT(reflector_->last_error(), HasSubstr("cannot list widgets.example.com: "));
    PassBackoff();
  }
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_THAT(Names(), UnorderedElementsAre("a"));
  EXPECT_EQ(reflector_->last_error(), "");
}

TEST_F(ReflectorTest, AFailedListLaterLeavesTheStoreUnchanged) {
  std::shared_ptr<FakeStream> stream = StartWatching({Object("a", "1")}, "10");
  AnswerLists({StatusResponse(500, "InternalError", "etcd is down"), ListOf({}, "20", "next"),
               Fail(Reason::kTransport, "connection reset"), ListOf({}, "20")});
  stream->PushEvent("ERROR", GoneEvent());
  PassBackoff();  // the one after the 410
  for (int failure = 0; failure < 2; ++failure) {
    AwaitBackoff();
    EXPECT_THAT(Names(), UnorderedElementsAre("a"));
    EXPECT_THAT(TakeChanges(), ElementsAre());
    PassBackoff();
  }
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_THAT(TakeChanges(), ElementsAre("a 1->-"));
}

// ---- Watches

TEST_F(ReflectorTest, EventsChangeTheStoreAndAreThenReported) {
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

TEST_F(ReflectorTest, AWatchThatTimesOutIsReopenedAtOnceFromTheLastVersion) {
  std::shared_ptr<FakeStream> stream = StartWatching({}, "10");
  stream->PushEvent("ADDED", Object("a", "11"));
  stream->WaitUntilDrained();
  clock_.Advance(seconds(90));
  stream->End();
  stream = transport_->TakeStream();  // without any waiting
  stream->PushEvent("BOOKMARK", Bookmark("20"));
  stream->PushEvent("BOOKMARK", Bookmark("15"));  // an old one
  stream->WaitUntilDrained();
  clock_.Advance(seconds(90));
  stream->End();
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_THAT(Requests(), ElementsAre("watch 11", "watch 20"));
}

TEST_F(ReflectorTest, WatchesThatEndAsSoonAsTheyBeginAreNeverABusyLoop) {
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

TEST_F(ReflectorTest, WatchesThatRepeatOneOldEventAndEndAreNeverABusyLoop) {
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

TEST_F(ReflectorTest, AVersionThatIsTooOldAgainAndAgainIsNeverABusyLoop) {
  AnswerLists({ListOf({Object("a", "9")}, "10")});
  transport_->OnOpen([](const HttpRequest&) -> Result<std::shared_ptr<FakeStream>> { return Refusing(Gone()); });
  Start();
  AwaitBackoff();
  const SteadyTime start = clock_.Now();
  while (clock_.Now() - start < std::chrono::minutes(10)) PassBackoff(), AwaitBackoff();
  EXPECT_LT(transport_->requests().size(), 70u);  // a list and a watch each
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

TEST_F(ReflectorTest, AVersionThatIsTooOldIsFollowedByANewListAndWhatVanishedIsDeleted) {
  std::shared_ptr<FakeStream> stream = StartWatching({Object("a", "1"), Object("b", "2"), Object("c", "3")}, "10");
  AnswerLists({ListOf({Object("b", "2"), Object("c", "15"), Object("d", "16")}, "20")});
  stream->PushEvent("ERROR", GoneEvent());
  PassBackoff();
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_THAT(Requests(), ElementsAre("list limit=500", "watch 20"));
  EXPECT_THAT(TakeChanges(), UnorderedElementsAre("a 1->-", "c 3->15", "d -->16"));
}

TEST_F(ReflectorTest, ListOlderThanTheStoreIsIgnored) {
  std::shared_ptr<FakeStream> stream = StartWatching({Object("a", "1")}, "10");
  stream->PushEvent("ADDED", Object("b", "30"));
  stream->WaitUntilDrained();
  AnswerLists({ListOf({}, "20"), ListOf({Object("a", "1"), Object("b", "30")}, "30")});
  stream->PushEvent("ERROR", GoneEvent());
  PassBackoff();
  AwaitBackoff();
  EXPECT_THAT(Names(), UnorderedElementsAre("a", "b"))
      << "an apiserver that lags must not make us believe in deletions";
  EXPECT_THAT(reflector_->last_error(), HasSubstr("older than what it showed before"));
  PassBackoff();
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_THAT(TakeChanges(), ElementsAre("b -->30"));
}

TEST_F(ReflectorTest, ListsThatStayOlderForAMinuteEndIt) {
  std::shared_ptr<FakeStream> stream = StartWatching({Object("a", "30")}, "30");
  AnswerLists({ListOf({}, "20")});  // etcd was restored from a backup
  stream->PushEvent("ERROR", GoneEvent());
  PassBackoff();
  AwaitBackoff();
  const SteadyTime first = clock_.Now();
  while (clock_.Now() - first < seconds(60)) {
    AwaitBackoff();
    EXPECT_FALSE(ended_);
    EXPECT_THAT(reflector_->last_error(), HasSubstr("if that lasts, this process ends"));
    clock_.AdvanceToNextDeadline();
  }
  thread_.join();
  ASSERT_FALSE(outcome_);
  EXPECT_THAT(outcome_.error().message, HasSubstr("widgets.example.com: "));
  EXPECT_THAT(outcome_.error().message, HasSubstr("restored from a backup"));
  EXPECT_THAT(Names(), UnorderedElementsAre("a"));
  EXPECT_THAT(TakeChanges(), ElementsAre());
}

TEST_F(ReflectorTest, OlderListsNowAndThenEndNothing) {
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

TEST_F(ReflectorTest, AnObjectThatIsOlderInANewerListEndsIt) {
  std::shared_ptr<FakeStream> stream = StartWatching({Object("a", "10"), Object("b", "30")}, "30");
  AnswerLists({ListOf({Object("a", "10"), Object("b", "20")}, "40")});
  stream->PushEvent("ERROR", GoneEvent());
  PassBackoff();
  thread_.join();
  ASSERT_FALSE(outcome_);
  EXPECT_THAT(outcome_.error().message, HasSubstr("b has version 20 in the list of version 40, and had version 30"));
  EXPECT_THAT(outcome_.error().message, HasSubstr("restored from a backup"));
}

// A watch from a version that the server has not reached gets no event, for instance after etcd was restored from a
// backup.
TEST_F(ReflectorTest, AWatchWithoutEvenABookmarkProvesNothing) {
  std::shared_ptr<FakeStream> stream = StartWatching({Object("a", "30")}, "30");
  AnswerLists({ListOf({}, "20")});
  clock_.Advance(seconds(90));
  stream->End();
  AwaitBackoff();
  EXPECT_THAT(reflector_->last_error(), HasSubstr("older than what it showed before"));
  EXPECT_THAT(Names(), UnorderedElementsAre("a"));
}

// A server may vanish silently: no event comes, and the connection looks open.
TEST_F(ReflectorTest, NoWatchMayBeSilentForMoreThanTwoMinutes) {
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

TEST_F(ReflectorTest, MetricHoldsTheTimeOfTheFirstFailure) {
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
    EXPECT_EQ(since(), now) << "the beginning, not the last failure";
    clock_.AdvanceToNextDeadline();
  }
  stream = transport_->TakeStream();
  stream->WaitUntilDrained();
  EXPECT_EQ(since(), now) << "a list alone is not yet a watch that works";
  stream->PushEvent("BOOKMARK", Bookmark("21"));
  stream->WaitUntilDrained();
  EXPECT_EQ(since(), 0);
}

TEST_F(ReflectorTest, GarbageOnTheStreamIsResumedAFewTimesAndThenListedAgain) {
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

TEST_F(ReflectorTest, AnEventWithoutAVersionIsGarbage) {
  std::shared_ptr<FakeStream> stream = StartWatching({}, "10");
  stream->PushEvent("ADDED", {{"metadata", {{"name", "a"}}}});
  AwaitBackoff();
  EXPECT_THAT(reflector_->last_error(), HasSubstr("Decode"));
  EXPECT_THAT(Names(), UnorderedElementsAre());
}

TEST_F(ReflectorTest, AnEventWithoutANameIsLeftOut) {
  std::shared_ptr<FakeStream> stream = StartWatching({}, "10");
  stream->PushEvent("ADDED", {{"metadata", {{"resourceVersion", "11"}}}});
  stream->PushEvent("ADDED", Object("a", "12"));
  stream->WaitUntilDrained();
  EXPECT_THAT(TakeChanges(), ElementsAre("a -->12"));
}

TEST_F(ReflectorTest, ErrorEventsThatPersistAreFollowedByANewList) {
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

// ---- A type that is not there

TEST_F(ReflectorTest, MissingTypeIsRetriedAndReadWhenItAppears) {
  std::atomic<bool> installed = false;
  transport_->OnSend([&](const HttpRequest&) { return installed ? ListOf({Object("a", "5")}, "10") : Missing(); });
  Start();
  for (int i = 0; i < 8; ++i) {
    AwaitBackoff();
    EXPECT_EQ(reflector_->state(), ReflectorState::kTypeMissing);
    EXPECT_FALSE(store_.synced());
    EXPECT_LE(clock_.NextDeadline().value_or(seconds(99)), Duration(seconds(10)));
    if (i == 7) {
      EXPECT_EQ(clock_.NextDeadline(), Duration(seconds(10)));
      installed = true;
    }
    PassBackoff();
  }
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_THAT(Names(), UnorderedElementsAre("a"));
  EXPECT_EQ(reflector_->state(), ReflectorState::kWatching);
}

TEST_F(ReflectorTest, ATypeThatVanishesEmptiesNoStore) {
  std::shared_ptr<FakeStream> stream = StartWatching({Object("a", "1")}, "10");
  AnswerLists({Missing(), Missing(), ListOf({}, "50")});
  transport_->OnOpen([&](const HttpRequest& request) -> Result<std::shared_ptr<FakeStream>> {
    return QueryOf(request, "resourceVersion") == "10" ? Refusing(Missing()) : std::make_shared<FakeStream>();
  });
  clock_.Advance(seconds(10));
  stream->End();
  transport_->TakeStream();  // refused
  PassBackoff();
  for (int i = 0; i < 2; ++i) {
    AwaitBackoff();
    EXPECT_EQ(reflector_->state(), ReflectorState::kTypeMissing);
    EXPECT_THAT(Names(), UnorderedElementsAre("a")) << "a failed read must never look like an empty list";
    PassBackoff();
  }
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_THAT(TakeChanges(), ElementsAre("a 1->-"));
}

// ---- Our own writes

TEST_F(ReflectorTest, ObservedWriteIsReportedByTheWatchAndStaysDeleted) {
  std::shared_ptr<FakeStream> stream = StartWatching({}, "10");
  const auto written = std::make_shared<const StoredObject>(Object("a", "11"), nullptr);
  store_.Observe(written);
  EXPECT_THAT(Names(), UnorderedElementsAre("a"));
  stream->PushEvent("ADDED", Object("a", "11"));
  stream->PushEvent("DELETED", Object("a", "12"));
  stream->WaitUntilDrained();
  store_.Observe(written);
  EXPECT_THAT(Names(), UnorderedElementsAre());
  EXPECT_THAT(TakeChanges(), ElementsAre("a -->11", "a 11->-"));
}

// ---- Ends and accidents

TEST_F(ReflectorTest, StopEndsAWatch) {
  StartWatching({}, "10");
  Stop();
  EXPECT_TRUE(ended_);
  EXPECT_EQ(reflector_->state(), ReflectorState::kStopped);
}

TEST_F(ReflectorTest, StopEndsABackoff) {
  AnswerLists({Fail(Reason::kTransport, "connection reset")});
  Start();
  AwaitBackoff();
  Stop();
  EXPECT_EQ(reflector_->state(), ReflectorState::kStopped);
}

TEST_F(ReflectorTest, AProjectorThatThrowsEndsNoThread) {
  std::atomic<int> calls = 0;
  options_.project = [&](const Json&) -> std::unique_ptr<const Projection> {
    if (calls++ == 0) throw std::runtime_error("a bug");
    return nullptr;
  };
  std::shared_ptr<FakeStream> stream = StartWatching({}, "10");
  AnswerLists({ListOf({Object("a", "11")}, "11")});
  stream->PushEvent("ADDED", Object("a", "11"));
  PassBackoff();
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_THAT(Names(), UnorderedElementsAre("a"));
}

TEST_F(ReflectorTest, VersionIsResolvedBeforeEachListAndFailuresAreCounted) {
  auto last = std::make_shared<Synchronized<std::string>>();
  options_.resolve = [last](const FailedLists& failed, const std::stop_token&) -> Result<ResourceType> {
    last->With([&](std::string& text) { text = failed.last.message; });
    ResourceType type = kType;
    type.version = "v" + std::to_string(9 - failed.count);
    return type;
  };
  AnswerLists({StatusResponse(500, "InternalError", "conversion webhook failed"), ListOf({Object("a", "1")}, "5")});
  Start();
  PassBackoff();
  transport_->TakeStream()->WaitUntilDrained();
  std::vector<std::string> paths;
  for (const HttpRequest& request : transport_->requests()) paths.push_back(request.path.substr(0, 21));
  EXPECT_THAT(paths, ElementsAre("/apis/example.com/v9/", "/apis/example.com/v8/", "/apis/example.com/v8/"));
  EXPECT_EQ(last->With([](const std::string& text) { return text; }), "conversion webhook failed");
  EXPECT_THAT(Names(), ElementsAre("a"));
}

TEST_F(ReflectorTest, TypeWithoutAServedVersionIsMissingAndRetried) {
  auto asked = std::make_shared<std::atomic<int>>(0);
  options_.resolve = [asked](const FailedLists&, const std::stop_token&) -> Result<ResourceType> {
    if (asked->fetch_add(1) == 0) return Fail(Error{Reason::kNotFound, "no such group", 404, {}, {}});
    return kType;
  };
  AnswerLists({ListOf({Object("a", "1")}, "5")});
  Start();
  AwaitBackoff();
  EXPECT_EQ(reflector_->state(), ReflectorState::kTypeMissing);
  EXPECT_THAT(Names(), ElementsAre("(not synced)"));
  clock_.AdvanceToNextDeadline();
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_THAT(Names(), ElementsAre("a"));
}

TEST_F(ReflectorTest, FieldsThatATransformRemovesAreNeitherProjectedNorKept) {
  struct Seen : Projection {
    bool had_payload = false;
  };
  options_.transform = [](Json& object) { object.erase("payload"); };
  options_.project = [](const Json& object) {
    auto seen = std::make_unique<Seen>();
    seen->had_payload = object.contains("payload");
    return seen;
  };
  for (const ObjectPtr& object : ListedAndAdded("large")) {
    EXPECT_FALSE(object->Parse().contains("payload")) << object->meta().key.name;
    EXPECT_FALSE(static_cast<const Seen*>(object->projection())->had_payload) << object->meta().key.name;
  }
}

TEST_F(ReflectorTest, ObjectsWhoseContentNoControllerReadsAreStoredWithoutIt) {
  options_.keeps_content = [](const ObjectMeta& meta) { return meta.key.name == "none"; };
  options_.project = [](const Json& object) {
    EXPECT_TRUE(object.contains("payload"));
    return std::make_unique<Projection>();
  };
  for (const ObjectPtr& object : ListedAndAdded(std::string(100'000, 'x'))) {
    EXPECT_TRUE(object->Parse().is_null());
    EXPECT_LT(object->bytes(), 2'000U);
    EXPECT_NE(object->projection(), nullptr);
    EXPECT_FALSE(object->meta().uid.empty());
    EXPECT_NE(object->digest(), 0U);
  }
}

// The projector gets no tree of the other fields, but the Store keeps them. Lists and watches are treated alike.
TEST_F(ReflectorTest, UnprojectedFieldsAreKept) {
  options_.projected = {{"payload", {{"small"}}}};
  const Json payload = {{"large", "x"}, {"small", "y"}};
  std::vector<bool> seen;
  options_.project = [&](const Json& object) {
    EXPECT_EQ(StringAt(object, {"payload", "small"}), "y");
    seen.push_back(Find(object, {"payload", "large"}) != nullptr);
    return nullptr;
  };
  for (const ObjectPtr& object : ListedAndAdded(payload)) {
    EXPECT_EQ(object->Parse()["payload"], payload) << object->meta().key.name;
  }
  EXPECT_THAT(seen, ElementsAre(false, false)) << "a tree was made of what nobody reads";
}

}  // namespace
}  // namespace yad
