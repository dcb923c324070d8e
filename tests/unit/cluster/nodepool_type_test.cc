#include "operator/cluster/nodepool_type.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/well_known.h"
#include "tests/support/fake_transport.h"

namespace yad {
namespace {

using testing::FakeTransport;

HttpResponse Answer(const Json& body) { return {200, {{"content-type", "application/json"}}, body.dump()}; }

// Responds to discovery requests. The group has four versions, and all versions except v1 serve NodePools.
Result<HttpResponse> Serve(const HttpRequest& request) {
  if (request.path == "/apis/apps.openyurt.io") {
    return Answer(
        {{"kind", "APIGroup"},
         {"name", "apps.openyurt.io"},
         {"versions",
          {{{"version", "v1"}}, {{"version", "v1beta2"}}, {{"version", "v1beta1"}}, {{"version", "v1alpha1"}}}}});
  }
  const std::string version = request.path.substr(request.path.rfind('/') + 1);
  Json resources = {{{"name", "yurtappsets"}, {"kind", "YurtAppSet"}, {"namespaced", true}}};
  if (version != "v1") {
    resources.push_back({{"name", "nodepools"}, {"kind", "NodePool"}, {"namespaced", false}});
    resources.push_back({{"name", "nodepools/status"}, {"kind", "NodePool"}, {"namespaced", false}});
  }
  return Answer(
      {{"kind", "APIResourceList"}, {"groupVersion", "apps.openyurt.io/" + version}, {"resources", resources}});
}

struct Events : EventSink {
  void Record(const ObjectReference& regarding, EventType type, const std::string& reason, const std::string&,
              const std::string& note) override {
    EXPECT_EQ(regarding.kind, "CustomResourceDefinition");
    EXPECT_EQ(regarding.key.name, "nodepools.apps.openyurt.io");
    EXPECT_EQ(type, EventType::kWarning);
    EXPECT_EQ(reason, "ConversionUnavailable");
    notes.push_back(note);
  }
  std::vector<std::string> notes;
};

FailedLists Failed(int count, const std::string& message) {
  return {count, Error{Reason::kInternalError, message, 500, {}, {}}};
}

TEST(NodePoolTypeTest, TheHighestVersionThatServesNodePoolsIsUsed) {
  Client client(std::make_shared<FakeTransport>(Serve), {});
  Events events;
  const auto type = NodePoolTypeChoice(client, events).Next({}, {});
  ASSERT_TRUE(type) << type.error().ToString();
  EXPECT_EQ(type->version, "v1beta2");
  EXPECT_EQ(type->resource, "nodepools");
  EXPECT_FALSE(type->namespaced);
}

TEST(NodePoolTypeTest, EachFailedConversionSelectsTheNextLowerVersion) {
  Client client(std::make_shared<FakeTransport>(Serve), {});
  Events events;
  NodePoolTypeChoice choice(client, events);
  const std::string down = "conversion webhook for apps.openyurt.io/v1beta1, Kind=NodePool failed: no";
  std::vector<std::string> versions;
  for (int failures = 0; failures < 4; ++failures) versions.push_back(choice.Next(Failed(failures, down), {})->version);
  EXPECT_EQ(versions, (std::vector<std::string>{"v1beta2", "v1beta1", "v1alpha1", "v1beta2"}));
  ASSERT_TRUE(choice.Next(Failed(5, down), {}));
  EXPECT_EQ(choice.Next({}, {})->version, "v1beta2") << "the next list after a success";
}

TEST(NodePoolTypeTest, OtherFailuresSelectNoLowerVersion) {
  Client client(std::make_shared<FakeTransport>(Serve), {});
  Events events;
  NodePoolTypeChoice choice(client, events);
  for (int failures = 0; failures < 4; ++failures)
    EXPECT_EQ(choice.Next(Failed(failures, "etcdserver: leader changed"), {})->version, "v1beta2");
}

TEST(NodePoolTypeTest, FailedConversionIsReportedOnceAndAgainAfterASuccess) {
  Client client(std::make_shared<FakeTransport>(Serve), {});
  Events events;
  NodePoolTypeChoice choice(client, events);
  const std::string down =
      "conversion webhook for apps.openyurt.io/v1beta1, Kind=NodePool failed: Post \"https://yurt-manager\"";
  ASSERT_TRUE(choice.Next({}, {}));
  ASSERT_TRUE(choice.Next(Failed(1, "etcdserver: leader changed"), {}));
  EXPECT_TRUE(events.notes.empty());
  ASSERT_TRUE(choice.Next(Failed(2, down), {}));
  ASSERT_TRUE(choice.Next(Failed(3, "etcdserver: leader changed"), {}));
  ASSERT_TRUE(choice.Next(Failed(4, down), {}));
  ASSERT_EQ(events.notes.size(), 1U);
  EXPECT_NE(events.notes[0].find(down), std::string::npos);
  ASSERT_TRUE(choice.Next({}, {}));
  ASSERT_TRUE(choice.Next(Failed(1, down), {}));
  EXPECT_EQ(events.notes.size(), 2U);
}

TEST(NodePoolTypeTest, TypeIsNotFoundIfItsGroupIsNotServed) {
  Client client(std::make_shared<FakeTransport>(), {});
  Events events;
  const auto type = NodePoolTypeChoice(client, events).Next({}, {});
  ASSERT_FALSE(type);
  EXPECT_EQ(type.error().reason, Reason::kNotFound);
}

HttpResponse Page(const std::string& pool, const std::string& next) {
  return Answer({{"kind", "NodePoolList"},
                 {"apiVersion", "apps.openyurt.io/v1beta1"},
                 {"metadata", {{"resourceVersion", "9"}, {"continue", next}}},
                 {"items", {{{"metadata", {{"name", pool}}}}}}});
}

TEST(ReadPoolsTest, NamedPoolsAreReadFromAllPages) {
  Client client(std::make_shared<FakeTransport>([](const HttpRequest& request) -> Result<HttpResponse> {
                  const std::string from = testing::QueryOf(request, "continue");
                  return from.empty() ? Page("a", "1") : from == "1" ? Page("b", "2") : Page("c", "");
                }),
                {});
  const auto pools = ReadPools(client, kNodePoolType, {"a", "c", "d"}, true, {});
  ASSERT_TRUE(pools) << pools.error().ToString();
  EXPECT_EQ(pools->size(), 2u);
  EXPECT_EQ(pools->count("a") + pools->count("c"), 2u);
}

TEST(ReadPoolsTest, AListThatEndsEarlyIsAnError) {
  Client client(std::make_shared<FakeTransport>([](const HttpRequest& request) -> Result<HttpResponse> {
                  const bool first = testing::QueryOf(request, "continue").empty();
                  return first ? Page("a", "1") : testing::StatusResponse(410, "Expired", "too old");
                }),
                {});
  const auto pools = ReadPools(client, kNodePoolType, {"a", "b"}, true, {});
  ASSERT_FALSE(pools);
  EXPECT_EQ(pools.error().reason, Reason::kExpired);
}

}  // namespace
}  // namespace yad
