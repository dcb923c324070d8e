// The Reflector's reads of lists in pages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/runtime/reflector.h"
#include "tests/support/fake_transport.h"
#include "tests/unit/runtime/reflector_fixture.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

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

TEST_F(ReflectorTest, PagesHaveFewerObjectsIfTheirTextIsLong) {
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

// The apiserver closes the connection after a minute, also while the client still reads.
TEST_F(ReflectorTest, PageThatBreaksAfterAMinuteIsRequestedAgainWithFewerObjects) {
  transport_->OnSend([this](const HttpRequest& request) -> Result<HttpResponse> {
    if (std::stoi(QueryOf(request, "limit")) > 200) {
      clock_.Advance(std::chrono::seconds(60));
      return Fail(Reason::kTransport, "the connection broke");
    }
    const bool last = QueryOf(request, "continue") == "t1";
    return last ? ListOf({Object("b", "2")}, "10") : ListOf({Object("a", "1")}, "10", "t1");
  });
  Start();
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_THAT(Requests(), ElementsAre("list limit=500", "list limit=250", "list limit=125",
                                      "list limit=125 continue=t1", "watch 10"));
  EXPECT_THAT(Names(), UnorderedElementsAre("a", "b"));
}

TEST_F(ReflectorTest, PageOfAServerThatCannotBeReachedIsNotRequestedAgainWithFewerObjects) {
  AnswerLists({Fail(Reason::kTransport, "connection refused")});
  Start();
  AwaitBackoff();
  EXPECT_THAT(Requests(), ElementsAre("list limit=500"));
}

TEST_F(ReflectorTest, AnObjectThatIsLargerThanAPageFailsTheList) {
  options_.page_size = 1;
  Json large = Object("large", "1");
  large["metadata"]["annotations"]["text"] = std::string(std::size_t{17} << 20, 'x');
  AnswerLists({ListOf({large}, "10")});
  Start();
  AwaitBackoff();
  EXPECT_FALSE(store_.synced());
  EXPECT_THAT(reflector_->last_error(), HasSubstr("cannot list widgets.example.com: TooLarge"));
}

TEST_F(ReflectorTest, NextPageIsRequestedBeforeTheObjectsOfAPageAreRead) {
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

TEST_F(ReflectorTest, ExpiredContinueTokenRestartsTheListAndASecondOneDisablesPaging) {
  AnswerLists({ListOf({Object("old", "1")}, "10", "t1"), Gone(), ListOf({Object("old", "1")}, "12", "t2"), Gone(),
               ListOf({Object("a", "11")}, "13")});
  Start();
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_THAT(Requests(), ElementsAre("list limit=500", "list limit=500 continue=t1", "list limit=500",
                                      "list limit=500 continue=t2", "list", "watch 13"));
  EXPECT_THAT(Names(), UnorderedElementsAre("a")) << "no object of the discarded pages may be stored";
}

TEST_F(ReflectorTest, ARepeatedContinueTokenIsAnError) {
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

TEST_F(ReflectorTest, ALaterFailedListLeavesTheStoreUnchanged) {
  std::shared_ptr<FakeStream> stream = StartWatching({Object("a", "1")}, "10");
  AnswerLists({StatusResponse(500, "InternalError", "etcd is down"), ListOf({}, "20", "next"),
               Fail(Reason::kTransport, "connection reset"), ListOf({}, "20")});
  stream->PushEvent("ERROR", GoneEvent());
  PassBackoff();  // the backoff after the 410
  for (int failure = 0; failure < 2; ++failure) {
    AwaitBackoff();
    EXPECT_THAT(Names(), UnorderedElementsAre("a"));
    EXPECT_THAT(TakeChanges(), ElementsAre());
    PassBackoff();
  }
  transport_->TakeStream()->WaitUntilDrained();
  EXPECT_THAT(TakeChanges(), ElementsAre("a 1->-"));
}

}  // namespace
}  // namespace yad::testing
