// The data that the dashboard reads from the apiserver when a panel of its page opens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/api/label_selector.h"
#include "operator/api/well_known.h"
#include "plugin/dashboard/queries.h"
#include "tests/unit/plugin/session_fixture.h"

namespace yad {
namespace {

using namespace testing;  // NOLINT: the builders

using ::testing::ElementsAre;

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
      if (PathOf(request) != "/api/v1/namespaces/ns/pods") return Answer(request);
      const auto selector_asked = LabelSelector::ParseText(QueryOf(request, "labelSelector"));
      Json items = Json::array();
      for (const Json& pod : cluster_.List(kPodType)) {
        if (selector_asked && selector_asked->Matches(ParseMeta(pod).labels)) items.push_back(pod);
      }
      return JsonResponse({{"metadata", Json::object()}, {"items", items}});
    });
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

}  // namespace
}  // namespace yad
