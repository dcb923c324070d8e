// The data that the dashboard reads from the apiserver when a panel of its page opens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "operator/api/label_selector.h"
#include "operator/api/well_known.h"
#include "plugin/dashboard/actions.h"
#include "plugin/dashboard/queries.h"
#include "plugin/view/console.h"
#include "tests/unit/plugin/session_fixture.h"

namespace yad {
namespace {

using namespace testing;  // NOLINT: the builders

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The pool "a" of daemon ns/web has the Deployment web-a. Its selector is that of a YurtAppDaemon with matchExpressions
// only. The apiserver supports all label selectors for pods.
class DashboardQueriesTest : public SessionTest {
 protected:
  DashboardQueriesTest() {
    const Json expression = {{"key", "app"}, {"operator", "In"}, {"values", {"web"}}};
    const Json selector = {{"matchLabels", {{kPoolNameLabel, "a"}}}, {"matchExpressions", Json::array({expression})}};
    cluster_.Create(kDeploymentType,
                    {{"metadata", {{"namespace", kNs}, {"name", "web-a"}}}, {"spec", {{"selector", selector}}}});
    transport_->OnSend([this](const HttpRequest& request) -> Result<HttpResponse> {
      if (request.method == "POST" && PathOf(request).ends_with("/selfsubjectaccessreviews"))
        return Review(Json::parse(request.body));
      if (PathOf(request) != "/api/v1/namespaces/ns/pods") return Answer(request);
      const auto selector_asked = LabelSelector::ParseText(QueryOf(request, "labelSelector"));
      Json items = Json::array();
      for (const Json& pod : cluster_.List(kPodType)) {
        if (selector_asked && selector_asked->Matches(ParseMeta(pod).labels)) items.push_back(pod);
      }
      return JsonResponse({{"metadata", Json::object()}, {"items", items}});
    });
  }
  // Responds to a SelfSubjectAccessReview from the permissions in `permissions_`, such as "patch nodepools/a".
  HttpResponse Review(Json review) const {
    const Json& asked = review["spec"]["resourceAttributes"];
    const std::string name = StringAt(asked, {"name"});
    review["status"]["allowed"] = permissions_.contains(
        StringAt(asked, {"verb"}) + " " + StringAt(asked, {"resource"}) + (name.empty() ? "" : "/" + name));
    return JsonResponse(review, 201);
  }
  // Adds a pod of pool "a". A ReplicaSet of the Deployment `owner` controls it.
  void AddPod(const std::string& name, const std::string& app, const std::string& owner) {
    const Json controller = {{"apiVersion", "apps/v1"},
                             {"kind", "ReplicaSet"},
                             {"name", owner + "-1"},
                             {"uid", "uid-of-" + owner},
                             {"controller", true}};
    cluster_.Create(kPodType, {{"metadata",
                                {{"namespace", kNs},
                                 {"name", name},
                                 {"labels", {{"app", app}, {kPoolNameLabel, "a"}, {"pod-template-hash", "1"}}},
                                 {"ownerReferences", Json::array({controller})}}}});
  }
  Json Details() {
    const auto details = PoolDetails(client_, {kNs, "web"}, {{"name", "a"}, {"workload", "web-a"}});
    return details ? *details : Json(details.error().message);
  }
  std::vector<std::string> PodsOf(const Json& details) {
    std::vector<std::string> names;
    for (const Json& pod : ListAt(details, {"pods"})) names.push_back(StringAt(pod, {"name"}));
    return names;
  }

  std::set<std::string> permissions_;
};

TEST_F(DashboardQueriesTest, PanelShowsOnlyThePodsThatMatchTheExpressionsOfTheSelector) {
  AddPod("other-1", "other", "other");
  AddPod("web-1", "web", "web-a");
  EXPECT_THAT(PodsOf(Details()), ElementsAre("web-1"));
}

TEST_F(DashboardQueriesTest, PodsOfAnotherWorkloadWithTheSameLabelsAreNeitherShownNorCounted) {
  for (int i = 0; i < 60; ++i) AddPod("copy-" + std::to_string(i), "web", "web-a-copy");
  AddPod("web-1", "web", "web-a");
  const Json details = Details();
  EXPECT_THAT(PodsOf(details), ElementsAre("web-1"));
  EXPECT_EQ(details["podsOmitted"], 0);
}

TEST_F(DashboardQueriesTest, PodsBeyondFiftyAreCounted) {
  for (int i = 0; i < 53; ++i) AddPod("web-" + std::to_string(i), "web", "web-a");
  const Json details = Details();
  EXPECT_EQ(PodsOf(details).size(), 50U);
  EXPECT_EQ(details["podsOmitted"], 3);
}

TEST_F(DashboardQueriesTest, RevisionThatFailedHasTheReason) {
  cluster_.Create(kYurtAppDaemonType, DaemonJson());
  const auto daemon = ParseYurtAppDaemon(*cluster_.Get(kYurtAppDaemonType, {kNs, "web"}));
  const RevisionContent content = ContentOf(*daemon);
  Json revision = MakeControllerRevision(*daemon, content, RevisionHash(content, 0), 1);
  revision["metadata"]["annotations"].update(
      {{kFailedAnnotation, "2026-01-02T03:00:05Z"}, {kFailureAnnotation, "pool a: ImagePullBackOff"}});
  cluster_.Create(kControllerRevisionType, revision);
  const auto list = ListRevisions(client_, {kNs, "web"});
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ((*list)["revisions"][0]["failed"], "2026-01-02T03:00:05Z");
  EXPECT_EQ((*list)["revisions"][0]["failure"], "pool a: ImagePullBackOff");
}

TEST_F(DashboardQueriesTest, ButtonsOfAPoolNeedThePermissionsOfTheirCommands) {
  EXPECT_EQ(Details()["permissions"], Json({{"hold", false}, {"restart", false}}));
  permissions_ = {"patch nodepools/b", "update yurtappdaemons/web", "patch deployments/web-a"};
  EXPECT_EQ(Details()["permissions"], Json({{"hold", false}, {"restart", false}}));
  permissions_ = {"patch nodepools/a", "list statefulsets", "patch deployments/web-a"};
  EXPECT_EQ(Details()["permissions"], Json({{"hold", true}, {"restart", false}}));
  permissions_ = {"list deployments", "patch deployments/web-a"};
  EXPECT_EQ(Details()["permissions"], Json({{"hold", false}, {"restart", true}}));
}

TEST_F(DashboardQueriesTest, FreezeAndUnfreezeNeedThePermissionsOfTheirCommands) {
  const auto permissions = [&] {
    const auto read = ReadPermissions(client_, {}, "sys");
    return read ? StringMap{{"freeze", (*read)["freeze"].dump()}, {"unfreeze", (*read)["unfreeze"].dump()}}
                : StringMap{};
  };
  permissions_ = {"create configmaps", "delete configmaps/yurtappdaemon-freeze"};
  EXPECT_EQ(permissions(), (StringMap{{"freeze", "false"}, {"unfreeze", "true"}}))
      << "freeze reads the ConfigMap first";
  permissions_ = {"create configmaps", "get configmaps/yurtappdaemon-freeze"};
  EXPECT_EQ(permissions(), (StringMap{{"freeze", "true"}, {"unfreeze", "false"}}));
}

TEST_F(DashboardQueriesTest, WarningsOfTheServerBelongToTheOutputOfTheCommand) {
  cluster_.Create(kYurtAppDaemonType, DaemonJson());
  transport_->OnSend([this](const HttpRequest& request) -> Result<HttpResponse> {
    auto answer = Answer(request);
    if (answer && request.method != "GET") answer->headers["warning"] = R"(299 - "a window never opens")";
    return answer;
  });
  ClientOptions options;
  options.on_warning = [this](const std::string& text) { PrintWarning(text, err_); };
  Client client{transport_, options};
  const auto paused = RunCommand({"pause", "web", "-n", kNs}, client);
  ASSERT_TRUE(paused) << paused.error().message;
  EXPECT_THAT(paused->out, HasSubstr("paused"));
  EXPECT_EQ(paused->server_warnings, "Warning: a window never opens\n");
  EXPECT_EQ(paused->warnings, "");
  EXPECT_EQ(err_.str(), "");
  (void)client.Delete(kYurtAppDaemonType, {kNs, "web"});
  EXPECT_EQ(err_.str(), "Warning: a window never opens\n") << "no command runs that collects warnings";
}

}  // namespace
}  // namespace yad
