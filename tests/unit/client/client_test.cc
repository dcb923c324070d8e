// The requests that a Client sends: paths, reads, watches and writes.
#include "operator/client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/unit/client/client_fixture.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(ClientTest, PathsFollowTheApiConventions) {
  EXPECT_EQ(ResourcePath(kPods, ""), "/api/v1/pods");
  EXPECT_EQ(ResourcePath(kPods, "a"), "/api/v1/namespaces/a/pods");
  EXPECT_EQ(ResourcePath(kDeployments, "a", "b", "status"), "/apis/apps/v1/namespaces/a/deployments/b/status");
  EXPECT_EQ(ResourcePath(kPools, "", "p"), "/apis/apps.openyurt.io/v1beta1/nodepools/p");
  EXPECT_EQ(ResourcePath(kPools, "ignored", "p"), "/apis/apps.openyurt.io/v1beta1/nodepools/p");
  EXPECT_EQ(ResourcePath(kPods, "a/b", "c?d#e%\xc3\xa9"), "/api/v1/namespaces/a%2Fb/pods/c%3Fd%23e%25%C3%A9");
}

TEST_F(ClientTest, GetMetaRequestsMetadataOnly) {
  Answer(JsonResponse({{"kind", "PartialObjectMetadata"},
                       {"metadata", {{"namespace", "a"}, {"name", "b"}, {"uid", "u"}, {"generation", 3}}}}));
  const Result<ObjectMeta> meta = client().GetMeta(kDeployments, {"a", "b"});
  ASSERT_TRUE(meta);
  EXPECT_EQ(meta->key, (ObjectKey{"a", "b"}));
  EXPECT_EQ(meta->uid, "u");
  EXPECT_EQ(meta->generation, 3);
  EXPECT_EQ(Last().method, "GET");
  EXPECT_EQ(Last().path, "/apis/apps/v1/namespaces/a/deployments/b");
  EXPECT_EQ(Last().headers.at("Accept"),
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json");
  EXPECT_EQ(client().GetMeta(kDeployments, {"a", ""}).error().reason, Reason::kInvalid);
}

TEST_F(ClientTest, ListOfMetadataRequestsMetadataOnly) {
  Answer(JsonResponse({{"kind", "PartialObjectMetadataList"},
                       {"metadata", {{"resourceVersion", "9"}}},
                       {"items", {{{"metadata", {{"name", "n"}}}}}}}));
  ListOptions options;
  options.metadata_only = true;
  const Result<ListPage> page = client().List(kPods, options);
  ASSERT_TRUE(page) << page.error().ToString();
  ASSERT_EQ(page->items.size(), 1U);
  EXPECT_EQ(StringAt(page->items[0], {"metadata", "name"}), "n");
  EXPECT_EQ(Last().headers.at("Accept"),
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json");
}

TEST_F(ClientTest, GetReadsOneObject) {
  Answer(JsonResponse(Object("a", "b")));
  const Result<Json> object = client().Get(kDeployments, {"a", "b"});
  ASSERT_TRUE(object);
  EXPECT_EQ(*object, Object("a", "b"));
  EXPECT_EQ(Last().method, "GET");
  EXPECT_EQ(Last().path, "/apis/apps/v1/namespaces/a/deployments/b");
  EXPECT_EQ(Last().headers.at("User-Agent"), "test/1");
  EXPECT_EQ(Last().headers.at("Accept"), "application/json");
  EXPECT_EQ(Last().headers.count("Authorization"), 0u);
  EXPECT_EQ(Last().timeout, std::chrono::seconds(30));
}

TEST_F(ClientTest, GetAsProtobufReturnsTheUnchangedResponse) {
  const std::string answer("k8s\0\x01", 5);
  Answer({200, {{"content-type", "application/vnd.kubernetes.protobuf"}}, answer});
  EXPECT_EQ(*client().GetAsProtobuf(kDeployments, {"a", "b"}), answer);
  EXPECT_EQ(Last().method, "GET");
  EXPECT_EQ(Last().path, "/apis/apps/v1/namespaces/a/deployments/b");
  EXPECT_EQ(Last().headers.at("Accept"), "application/vnd.kubernetes.protobuf");
}

TEST_F(ClientTest, UpdateWithTextSendsTheTextOfTheMemberUnchanged) {
  Answer(JsonResponse(Object("a", "b")));
  const std::string text = "{ \"x\": \"a & b\",\n \"n\": 1e3 }";
  const Result<Json> object = client().UpdateWithText(kDeployments, Object("a", "b"), "data", text);
  ASSERT_TRUE(object);
  EXPECT_EQ(*object, Object("a", "b"));
  EXPECT_EQ(Last().method, "PUT");
  EXPECT_TRUE(Last().path.starts_with("/apis/apps/v1/namespaces/a/deployments/b?")) << Last().path;
  EXPECT_TRUE(Last().body.ends_with(",\"data\":" + text + "}")) << Last().body;
  Json sent = Json::parse(Last().body);
  EXPECT_EQ(sent["data"]["x"], "a & b");
  sent.erase("data");
  EXPECT_EQ(sent, Object("a", "b"));
}

TEST_F(ClientTest, KeyThatWouldAddressAnotherObjectIsRejectedWithoutARequest) {
  for (const ObjectKey& key : {ObjectKey{"a", ""}, {"", "b"}, {"a", ".."}, {"a", "."}, {"..", "b"}, {"a", "b/c"}}) {
    EXPECT_EQ(client().Get(kPods, key).error().reason, Reason::kInvalid) << key.ToString();
    EXPECT_EQ(client().Delete(kPods, key).error().reason, Reason::kInvalid) << key.ToString();
    EXPECT_EQ(client().Update(kPods, Object(key.ns, key.name)).error().reason, Reason::kInvalid);
    EXPECT_EQ(client().Create(kPods, Object(key.ns, key.name)).error().reason, Reason::kInvalid);
    EXPECT_EQ(client().Patch(kPods, key, PatchType::kMerge, Json::object()).error().reason, Reason::kInvalid);
  }
  EXPECT_EQ(client().Create(kPods, Json::array()).error().reason, Reason::kInvalid);
  EXPECT_TRUE(transport_->requests().empty());
}

TEST_F(ClientTest, ListSendsAllOptionsEncodedAndFillsInTheItemsTypes) {
  Answer(JsonResponse(Json::parse(R"({"kind":"DeploymentList","apiVersion":"apps/v1",
    "metadata":{"resourceVersion":"77","continue":"tok=="},"items":[{"metadata":{"name":"x"}},{"kind":"Other"}]})")));
  ListOptions options;
  options.ns = "a";
  options.label_selector = "app=x,tier in (a,b)";
  options.field_selector = "metadata.name=\xc3\xa9";
  options.resource_version = "5";
  options.limit = 500;
  options.continue_token = "c+/=";
  const Result<ListPage> page = client().List(kDeployments, options);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->resource_version, "77");
  EXPECT_EQ(page->continue_token, "tok==");
  ASSERT_EQ(page->items.size(), 2u);
  EXPECT_EQ(page->items[0], Json::parse(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"x"}})"));
  EXPECT_EQ(page->items[1]["kind"], "Other");
  EXPECT_EQ(PathOf(Last()), "/apis/apps/v1/namespaces/a/deployments");
  EXPECT_THAT(Last().path, HasSubstr("labelSelector=app%3Dx%2Ctier%20in%20%28a%2Cb%29&"));
  EXPECT_EQ(QueryOf(Last(), "labelSelector"), options.label_selector);
  EXPECT_EQ(QueryOf(Last(), "fieldSelector"), options.field_selector);
  EXPECT_EQ(QueryOf(Last(), "resourceVersion"), "5");
  EXPECT_EQ(QueryOf(Last(), "limit"), "500");
  EXPECT_EQ(QueryOf(Last(), "continue"), "c+/=");
}

TEST_F(ClientTest, ListWithoutOptionsHasNoQuery) {
  Answer(JsonResponse({{"items", nullptr}, {"metadata", {{"resourceVersion", "1"}}}}));
  const Result<ListPage> page = client().List(kPods, {});
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->items.empty());
  EXPECT_EQ(Last().path, "/api/v1/pods");
}

TEST_F(ClientTest, InvalidListIsAnErrorAndNotAnEmptyList) {
  for (const char* body :
       {"{}", "[]", "null", "", "<html>", R"({"items":{}})", R"({"items":[1]})", R"({"items":"x"})"}) {
    Answer({200, {}, body});
    const Result<ListPage> page = client().List(kPods, {});
    ASSERT_FALSE(page) << body;
    EXPECT_EQ(page.error().reason, Reason::kDecode) << body;
  }
}

TEST_F(ClientTest, WatchRequestsBookmarksAndATimeout) {
  WatchOptions options;
  options.ns = "a";
  options.resource_version = "9";
  options.label_selector = "x=y";
  options.timeout = std::chrono::seconds(120);
  const auto watch = client().OpenWatch(kPods, options);
  ASSERT_TRUE(watch);
  EXPECT_EQ(PathOf(Last()), "/api/v1/namespaces/a/pods");
  EXPECT_EQ(QueryOf(Last(), "watch"), "true");
  EXPECT_EQ(QueryOf(Last(), "allowWatchBookmarks"), "true");
  EXPECT_EQ(QueryOf(Last(), "timeoutSeconds"), "120");
  EXPECT_EQ(QueryOf(Last(), "resourceVersion"), "9");
  EXPECT_EQ(QueryOf(Last(), "labelSelector"), "x=y");
  EXPECT_GT(Last().timeout, options.timeout);
}

TEST_F(ClientTest, ClientWithoutThePermissionToWriteReadsAndSendsNoWrite) {
  bool may = true;
  const std::unique_ptr<Client> leader = client().WithWriteGuard([&] { return may; });
  EXPECT_TRUE(leader->Create(kDeployments, Object("a", "b")));
  may = false;
  const std::size_t sent = transport_->requests().size();
  const ObjectKey key{"a", "b"};
  for (const Status& rejected : {leader->Delete(kDeployments, key)}) {
    ASSERT_FALSE(rejected);
    EXPECT_EQ(rejected.error().reason, Reason::kCancelled);
  }
  for (const Result<Json>& rejected :
       {leader->Create(kDeployments, Object("a", "b")), leader->Update(kDeployments, Object("a", "b")),
        leader->Patch(kDeployments, key, PatchType::kMerge, Json::object())}) {
    ASSERT_FALSE(rejected);
    EXPECT_EQ(rejected.error().reason, Reason::kCancelled);
  }
  EXPECT_EQ(transport_->requests().size(), sent);
  EXPECT_TRUE(leader->Get(kDeployments, key));
  EXPECT_TRUE(client().Create(kDeployments, Object("a", "b"))) << "the guard must not affect the original client";
}

TEST_F(ClientTest, OnlyWritesUnderAGuardHaveAGracePeriod) {
  const std::unique_ptr<Client> leader = client().WithWriteGuard([] { return true; });
  ASSERT_TRUE(leader->Create(kDeployments, Object("a", "b")));
  ASSERT_TRUE(leader->Get(kDeployments, {"a", "b"}));
  ASSERT_TRUE(client().Create(kDeployments, Object("a", "b")));
  const std::vector<HttpRequest> sent = transport_->requests();
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_GT(sent[0].grace_after_stop.count(), 0);
  EXPECT_EQ(sent[1].grace_after_stop.count(), 0) << "a read has no grace period";
  EXPECT_EQ(sent[2].grace_after_stop.count(), 0) << "a write without a guard has no grace period";
}

// Another replica may become the leader while a write waits for the rate limit.
TEST_F(ClientTest, PermissionToWriteIsCheckedAfterTheRateLimit) {
  options_.qps = 1;
  options_.burst = 1;
  std::atomic<bool> may = true;
  const std::unique_ptr<Client> leader = client().WithWriteGuard([&] { return may.load(); });
  ASSERT_TRUE(leader->Create(kDeployments, Object("a", "b")));
  Result<Json> second = Json();
  std::thread writer([&] { second = leader->Create(kDeployments, Object("a", "c")); });
  clock_.AwaitWaiters(1);
  may = false;
  clock_.Advance(std::chrono::seconds(2));
  writer.join();
  EXPECT_FALSE(second);
  EXPECT_EQ(transport_->requests().size(), 1U);
}

TEST_F(ClientTest, WriteAfterALiveReadTakesItsTokenWithoutWaiting) {
  options_.qps = 1;
  options_.burst = 1;
  ASSERT_TRUE(client().Get(kDeployments, {"a", "b"}));
  DeleteOptions deletion;
  deletion.skips_rate_limit = true;
  ASSERT_TRUE(client().Delete(kDeployments, {"a", "b"}, deletion));
  WriteOptions write;
  write.skips_rate_limit = true;
  ASSERT_TRUE(client().Update(kDeployments, Object("a", "c"), write));
  std::stop_source stopped;
  stopped.request_stop();
  const Status after_stop = client().Delete(kDeployments, {"a", "d"}, deletion, stopped.get_token());
  ASSERT_FALSE(after_stop);
  EXPECT_EQ(after_stop.error().reason, Reason::kCancelled);
  EXPECT_EQ(transport_->requests().size(), 3U);
  std::jthread reader([&] { EXPECT_TRUE(client().Get(kDeployments, {"a", "b"})); });
  clock_.AwaitWaiters(1);
  EXPECT_EQ(clock_.NextDeadline(), std::chrono::seconds(3)) << "the average rate stays the same";
  clock_.Advance(std::chrono::seconds(10));
}

TEST_F(ClientTest, UnlimitedClientDoesNotWaitForTheRateLimit) {
  options_.qps = 1;
  options_.burst = 1;
  const std::unique_ptr<Client> unlimited = client().WithoutLimit(std::chrono::seconds(5));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(unlimited->Create(kDeployments, Object("a", "b")));
  EXPECT_EQ(transport_->requests().back().timeout, std::chrono::seconds(5));
  ASSERT_TRUE(client().Create(kDeployments, Object("a", "c"))) << "the unlimited client must not have used tokens";
  EXPECT_EQ(transport_->requests().size(), 4U);
}

TEST_F(ClientTest, WatchReturnsEventsUntilTheServerEndsIt) {
  const auto watch = client().OpenWatch(kPods, {});
  ASSERT_TRUE(watch);
  auto stream = transport_->TakeStream();
  stream->PushEvent("ADDED", Object("a", "b"));
  stream->End();
  const auto event = (*watch)->Next();
  ASSERT_TRUE(event && *event);
  EXPECT_EQ((*event)->type, WatchEventType::kAdded);
  EXPECT_EQ((*event)->object.TreeOfObject(), Object("a", "b"));
  const auto end = (*watch)->Next();
  ASSERT_TRUE(end);
  EXPECT_FALSE(*end);
}

TEST_F(ClientTest, WatchIsCancelledByItsStopToken) {
  std::stop_source stop;
  const auto watch = client().OpenWatch(kPods, {}, stop.get_token());
  ASSERT_TRUE(watch);
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_EQ((*watch)->Next().error().reason, Reason::kCancelled);
}

TEST_F(ClientTest, RejectedWatchReturnsTheStatusError) {
  transport_->OnOpen([](const HttpRequest&) -> Result<std::shared_ptr<FakeStream>> {
    return std::make_shared<FakeStream>(StatusResponse(410, "Expired", "too old"));
  });
  const auto watch = client().OpenWatch(kPods, {});
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error().reason, Reason::kExpired);
  EXPECT_EQ(watch.error().message, "too old");
}

TEST_F(ClientTest, CreatePostsToTheCollection) {
  ASSERT_TRUE(client().Create(kDeployments, Object("a", "b")));
  EXPECT_EQ(Last().method, "POST");
  EXPECT_EQ(Last().path, "/apis/apps/v1/namespaces/a/deployments?fieldManager=yurtappdaemon-operator");
  EXPECT_EQ(Last().headers.at("Content-Type"), "application/json");
  EXPECT_EQ(Json::parse(Last().body), Object("a", "b"));
}

TEST_F(ClientTest, CreateMayOmitTheNameIfTheServerGeneratesIt) {
  Json object = Object("a", "");
  object["metadata"].erase("name");
  object["metadata"]["generateName"] = "b-";
  ASSERT_TRUE(client().Create(kDeployments, object));
  EXPECT_EQ(PathOf(Last()), "/apis/apps/v1/namespaces/a/deployments");
}

TEST_F(ClientTest, CreateOfAReviewNeedsNoName) {
  const ResourceType reviews{"authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview",
                             false};
  ASSERT_TRUE(client().Create(reviews, {{"spec", Json::object()}}));
  EXPECT_EQ(PathOf(Last()), "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
  EXPECT_FALSE(client().Create(kDeployments, {{"metadata", {{"namespace", "a"}}}}));
}

TEST_F(ClientTest, UpdatePutsTheObjectOrItsStatus) {
  ASSERT_TRUE(client().Update(kDeployments, Object("a", "b")));
  EXPECT_EQ(Last().method, "PUT");
  EXPECT_EQ(PathOf(Last()), "/apis/apps/v1/namespaces/a/deployments/b");
  WriteOptions options;
  options.subresource = "status";
  options.dry_run = true;
  ASSERT_TRUE(client().Update(kDeployments, Object("a", "b"), options));
  EXPECT_EQ(PathOf(Last()), "/apis/apps/v1/namespaces/a/deployments/b/status");
  EXPECT_EQ(QueryOf(Last(), "dryRun"), "All");
}

TEST_F(ClientTest, PatchSendsItsContentType) {
  const std::pair<PatchType, const char*> types[] = {
      {PatchType::kMerge, "application/merge-patch+json"},
      {PatchType::kJson, "application/json-patch+json"},
      {PatchType::kStrategicMerge, "application/strategic-merge-patch+json"},
      {PatchType::kApply, "application/apply-patch+yaml"}};
  for (const auto& [type, content_type] : types) {
    ASSERT_TRUE(client().Patch(kPools, {"", "p"}, type, Json{{"a", 1}}));
    EXPECT_EQ(Last().method, "PATCH");
    EXPECT_EQ(PathOf(Last()), "/apis/apps.openyurt.io/v1beta1/nodepools/p");
    EXPECT_EQ(Last().headers.at("Content-Type"), content_type);
    EXPECT_EQ(QueryOf(Last(), "fieldManager"), "yurtappdaemon-operator");
    EXPECT_EQ(Last().body, "{\"a\":1}");
  }
}

TEST_F(ClientTest, DeleteSendsPropagationAndPreconditions) {
  ASSERT_TRUE(client().Delete(kDeployments, {"a", "b"}));
  EXPECT_EQ(Last().method, "DELETE");
  EXPECT_EQ(Last().path, "/apis/apps/v1/namespaces/a/deployments/b");
  EXPECT_EQ(Json::parse(Last().body),
            Json::parse(R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"})"));
  ASSERT_TRUE(client().Delete(kDeployments, {"a", "b"}, {Propagation::kOrphan, "u", "5"}));
  EXPECT_EQ(Json::parse(Last().body), Json::parse(R"({"apiVersion":"v1","kind":"DeleteOptions",
    "propagationPolicy":"Orphan","preconditions":{"uid":"u","resourceVersion":"5"}})"));
}

TEST_F(ClientTest, DiscoveryOmitsSubresources) {
  Answer(JsonResponse(Json::parse(R"({"kind":"APIResourceList","groupVersion":"apps/v1","resources":[
    {"name":"deployments","kind":"Deployment","namespaced":true},{"name":"deployments/status","kind":"Deployment"},
    {"name":"nodepools","kind":"NodePool","namespaced":false},{"kind":"NoName"},5]})")));
  const auto types = client().DiscoverResources("apps", "v1");
  ASSERT_TRUE(types);
  EXPECT_EQ(Last().path, "/apis/apps/v1");
  EXPECT_THAT(*types, ElementsAre(kDeployments, ResourceType{"apps", "v1", "nodepools", "NodePool", false}));
  ASSERT_TRUE(client().DiscoverResources("", "v1"));
  EXPECT_EQ(Last().path, "/api/v1");
}

TEST_F(ClientTest, VersionsAreInTheServersOrderOfPriority) {
  Answer(JsonResponse(Json::parse(R"({"kind":"APIGroup","versions":[{"version":"v1beta2"},{"version":"v1beta1"},
    {"version":"v1alpha1"}],"preferredVersion":{"version":"v1beta2"}})")));
  const auto versions = client().DiscoverVersions("apps.openyurt.io");
  ASSERT_TRUE(versions);
  EXPECT_EQ(Last().path, "/apis/apps.openyurt.io");
  EXPECT_THAT(*versions, ElementsAre("v1beta2", "v1beta1", "v1alpha1"));
  Answer({404, {}, "404 page not found\n"});
  EXPECT_EQ(client().DiscoverVersions("none").error().reason, Reason::kNotFound);
}

}  // namespace
}  // namespace yad::testing
