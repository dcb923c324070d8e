// The Reflector: types that the server does not serve, writes of this process, stops and errors. Lists and watches are
// in reflector_list_test.cc and reflector_watch_test.cc.
#include "operator/runtime/reflector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "operator/base/metrics.h"
#include "operator/base/synchronized.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/support/object_bytes.h"
#include "tests/unit/runtime/reflector_fixture.h"

namespace yad::testing {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// ---- A type that the server does not serve

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

TEST_F(ReflectorTest, ADeletedTypeDoesNotEmptyTheStore) {
  std::shared_ptr<FakeStream> stream = StartWatching({Object("a", "1")}, "10");
  AnswerLists({Missing(), Missing(), ListOf({}, "50")});
  transport_->OnOpen([&](const HttpRequest& request) -> Result<std::shared_ptr<FakeStream>> {
    return QueryOf(request, "resourceVersion") == "10" ? Rejecting(Missing()) : std::make_shared<FakeStream>();
  });
  clock_.Advance(seconds(10));
  stream->End();
  transport_->TakeStream();  // the rejected watch
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

// ---- Writes of this process

TEST_F(ReflectorTest, ObservedWriteIsReportedByTheWatchAndNotRestoredAfterItsDeletion) {
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

// ---- Stops and errors

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

TEST_F(ReflectorTest, ApiVersionIsResolvedBeforeEachListAndFailedListsAreCounted) {
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
    EXPECT_LT(BytesOf(*object), 2'000U);
    EXPECT_NE(object->projection(), nullptr);
    EXPECT_FALSE(object->meta().uid.empty());
    EXPECT_NE(object->digest(), 0U);
  }
}

TEST_F(ReflectorTest, AStatusThatOnlyTheProjectorReadsIsNotStored) {
  options_.keeps_status = false;
  options_.projected = {{"payload", {}}, {"status", {}}};
  std::size_t projected = 0;
  options_.project = [&](const Json& object) {
    projected += object.contains("status");
    return std::make_unique<Projection>();
  };
  const std::vector<ObjectPtr> objects = ListedAndAdded("small");
  EXPECT_EQ(projected, objects.size());
  for (const ObjectPtr& object : objects) {
    EXPECT_FALSE(object->Parse().contains("status")) << object->meta().key.name;
    EXPECT_TRUE(object->Parse().contains("payload")) << object->meta().key.name;
  }
}

// The projector receives a tree with only the projected fields. The Store keeps all fields, from lists and from
// watches.
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
  EXPECT_THAT(seen, ElementsAre(false, false)) << "the reflector parsed a part that no code reads";
}

}  // namespace
}  // namespace yad::testing
