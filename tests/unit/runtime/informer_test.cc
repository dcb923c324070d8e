#include "operator/runtime/informer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "operator/base/synchronized.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"

namespace yad {
namespace {

using ::testing::ElementsAre;
using testing::FakeStream;
using testing::FakeTransport;
using testing::JsonResponse;
using testing::StatusResponse;

Json Object(const std::string& name, const std::string& version) {
  return {{"metadata", {{"namespace", "ns"}, {"name", name}, {"uid", "u"}, {"resourceVersion", version}}}};
}

class InformerTest : public ::testing::Test {
 protected:
  InformerTest() {
    ReflectorOptions options;
    options.type = {"example.com", "v1", "widgets", "Widget", true};
    informer_ = std::make_unique<Informer>(client_, options, clock_);
  }
  ~InformerTest() override {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }
  // Runs the informer with a list of `objects`. Returns the stream of its watch.
  std::shared_ptr<FakeStream> Start(const std::vector<Json>& objects) {
    AnswerLists(objects);
    thread_ = std::jthread([this](const std::stop_token& stop) { informer_->Run(stop); });
    return TakeStream();
  }
  void AnswerLists(const std::vector<Json>& objects) {
    transport_->OnSend([list = JsonResponse({{"metadata", {{"resourceVersion", "10"}}}, {"items", objects}})](
                           const HttpRequest&) { return list; });
  }
  std::shared_ptr<FakeStream> TakeStream() {
    std::shared_ptr<FakeStream> stream = transport_->TakeStream();
    stream->WaitUntilDrained();
    return stream;
  }

  FakeClock clock_;
  std::shared_ptr<FakeTransport> transport_ = std::make_shared<FakeTransport>();
  Client client_{transport_, ClientOptions{}, clock_};
  std::unique_ptr<Informer> informer_;
  std::jthread thread_;
};

TEST_F(InformerTest, EveryHandlerGetsEveryEventAfterTheStoreHasChanged) {
  Synchronized<std::vector<std::string>> heard;
  for (const char* who : {"first", "second"}) {
    informer_->AddHandler([this, who, &heard](const Event& event) {
      const std::string size = std::to_string(informer_->store().size());
      const std::string what = !event.before ? "added " : !event.after ? "deleted " : "changed ";
      heard.With([&](auto& said) { said.push_back(who + (" " + what) + size); });
    });
  }
  EXPECT_FALSE(informer_->synced());
  std::shared_ptr<FakeStream> stream = Start({Object("a", "1")});
  EXPECT_TRUE(informer_->synced());
  stream->PushEvent("MODIFIED", Object("a", "11"));
  stream->PushEvent("DELETED", Object("a", "12"));
  stream->WaitUntilDrained();
  EXPECT_THAT(heard.With([](auto& said) { return said; }),
              ElementsAre("first added 1", "second added 1", "first changed 1", "second changed 1", "first deleted 0",
                          "second deleted 0"));
}

TEST_F(InformerTest, HandlerThatThrowsDoesNotAffectOthers) {
  Synchronized<int> heard;
  informer_->AddHandler([](const Event&) { throw std::runtime_error("a bug"); });
  informer_->AddHandler([](const Event&) { throw 3; });
  informer_->AddHandler([&](const Event&) { heard.With([](int& count) { ++count; }); });
  std::shared_ptr<FakeStream> stream = Start({Object("a", "1")});
  stream->PushEvent("ADDED", Object("b", "11"));
  stream->WaitUntilDrained();
  EXPECT_EQ(heard.With([](int& count) { return count; }), 2);
}

TEST_F(InformerTest, DescribeNamesTheReasonOfTheWait) {
  EXPECT_EQ(informer_->Describe(), "widgets: Empty");
  transport_->OnSend([](const HttpRequest&) { return StatusResponse(403, "Forbidden", "no"); });
  thread_ = std::jthread([this](const std::stop_token& stop) { informer_->Run(stop); });
  clock_.AwaitWaiters(1);
  EXPECT_THAT(informer_->Describe(),
              ::testing::StartsWith("widgets: Waiting: cannot list widgets.example.com: Forbidden"));
}

TEST_F(InformerTest, OnDemandInformerListsOnlyAfterDemand) {
  ReflectorOptions options = informer_->options();
  options.on_demand = true;
  informer_ = std::make_unique<Informer>(client_, options, clock_);
  EXPECT_FALSE(informer_->awaited());
  thread_ = std::jthread([this](const std::stop_token& stop) { informer_->Run(stop); });
  clock_.AwaitWaiters(1);
  EXPECT_THAT(transport_->requests(), ::testing::IsEmpty());
  AnswerLists({Object("a", "1")});
  informer_->Demand();
  informer_->Demand();
  TakeStream();
  EXPECT_TRUE(informer_->synced());
  EXPECT_EQ(informer_->store().size(), 1U);
}

TEST_F(InformerTest, OnDemandInformerWithoutDemandEndsOnStop) {
  ReflectorOptions options = informer_->options();
  options.on_demand = true;
  informer_ = std::make_unique<Informer>(client_, options, clock_);
  thread_ = std::jthread([this](const std::stop_token& stop) { EXPECT_TRUE(informer_->Run(stop)); });
  clock_.AwaitWaiters(1);
  thread_.request_stop();
  thread_.join();
}

using InformerDeathTest = InformerTest;

TEST_F(InformerDeathTest, HandlerAddedAfterRunEndsTheProgram) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(
      {
        std::stop_source stopped;
        stopped.request_stop();
        informer_->Run(stopped.get_token());
        informer_->AddHandler([](const Event&) {});
      },
      "running informer");
}

}  // namespace
}  // namespace yad
