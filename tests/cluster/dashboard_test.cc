// kubectl yad dashboard as a process: its page, its events, and the commands that a browser sends.
#include <map>

#include "tests/cluster/dashboard_fixture.h"

namespace yad::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

INSTANTIATE_TEST_SUITE_P(Kind, DashboardTest, ::testing::Values(WorkloadKind::kDeployment), KindName);

// Merges the server's events as the page does: each event contains only the changed pools.
class PagePools {
 public:
  void Take(const std::string& data) {
    const Json change = Json::parse(data);
    if (change["reset"] == true) pools_.clear();
    for (const Json& pool : change["pools"]) pools_[pool["name"]] = pool;
  }
  const Json& operator[](const std::string& name) { return pools_[name]; }
  std::size_t size() const { return pools_.size(); }

 private:
  std::map<std::string, Json> pools_;
};

TEST_P(DashboardTest, EventsFollowARolloutAndAnActionApprovesAGroup) {
  StartTwoPools();
  UseCanaryAndNorth({Pool("b")});
  WaitUntilObserved("web");
  StartDashboard();
  EventStream events = Events();
  ASSERT_EQ(events.status(), 200);
  EXPECT_EQ(events.Next().data, R"({"connected":true,"error":""})");
  const Json fleet = Json::parse(events.Await("fleet", [](const std::string&) { return true; }));
  EXPECT_EQ(fleet["namespace"], ns());
  ASSERT_EQ(fleet["daemons"].size(), 1u);
  EXPECT_EQ(fleet["daemons"][0]["name"], "web");
  const Json daemon = Json::parse(events.Await("daemon", [](const std::string&) { return true; }));
  EXPECT_EQ(daemon["groups"].size(), 2u) << daemon;
  EXPECT_EQ(daemon["strategy"], "RollingUpdate");
  PagePools pools;
  pools.Take(events.Await("pools", [](const std::string&) { return true; }));
  EXPECT_EQ(pools.size(), 2u);
  EXPECT_EQ(pools[Pool("a")]["group"], "canary");
  EXPECT_EQ(pools[Pool("a")]["derived"], false);

  SetImage("web", "example.org/app:2");
  events.Await("daemon", [](const std::string& data) {
    const Json now = Json::parse(data);
    return now["reason"] == "WaitingForApproval" && now["groups"][1]["state"] == "WaitingForApproval" &&
           now["groups"][0]["state"] == "Done";
  });
  const Json request = {{"action", "approve"},
                        {"daemon", Key()},
                        {"group", "north"},
                        {"revision", StringAt(GetDaemon("web"), {"status", "updateRevision"})}};
  EXPECT_THAT(Post("api/command", request)["command"].get<std::string>(),
              HasSubstr("kubectl yad approve web north --revision=" + request["revision"].get<std::string>() + " -n " +
                        ns() + " --kubeconfig="));
  EXPECT_EQ(Annotation(GetDaemon("web"), "apps.openyurt.io/approve"), "");
  EXPECT_THAT(Post("api/action", request)["message"].get<std::string>(),
              HasSubstr(Subject() + " approved: revision web-"));
  std::string state;  // the last two events have no fixed order
  while (state != "Complete" || pools[Pool("b")]["current"] != true || pools[Pool("b")]["phase"] != "Ready") {
    const ServerEvent event = events.Next();
    if (event.name == "daemon") state = Json::parse(event.data)["state"];
    if (event.name == "pools") pools.Take(event.data);
  }
  kube().Delete(kYurtAppDaemonType, "web");
  events.Await("gone", [](const std::string&) { return true; });
}

TEST_P(DashboardTest, ApiReturnsPermissionsHistoryDiffsPoolsAndSimulations) {
  StartTwoPools();
  SetImage("web", "example.org/app:2");
  WaitUntilReady("web");
  StartDashboard();
  const Json permissions = GetJson("api/permissions?daemon=" + Key());
  for (const char* action : {"approve", "pause", "undo", "restart"}) EXPECT_EQ(permissions[action], true) << action;
  const Json history = GetJson("api/history?daemon=" + Key())["revisions"];
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[0]["update"], true);
  EXPECT_EQ(history[0]["pools"], 2);
  EXPECT_EQ(history[1]["pools"], 0);
  const Json diff = GetJson("api/diff?daemon=" + Key() + "&from=" + history[1]["name"].get<std::string>() +
                            "&to=" + history[0]["name"].get<std::string>());
  EXPECT_THAT(diff["diff"].get<std::string>(), HasSubstr("+          - image: example.org/app:2\n"));
  const Json pool = GetJson("api/pool?daemon=" + Key() + "&pool=" + Pool("a"));
  EXPECT_EQ(pool["pool"]["phase"], "Ready");
  EXPECT_THAT(pool["workload"]["yaml"].get<std::string>(), HasSubstr("kind: Deployment"));
  EXPECT_THAT(pool["explain"].dump(), HasSubstr(Pool("a")));
  EXPECT_EQ(pool["errors"], Json::array());
  EXPECT_EQ(pool["hold"], Json());
  EXPECT_EQ(pool["permissions"], Json({{"hold", true}, {"restart", true}}));
  EXPECT_EQ(Get("api/pool?daemon=" + Key() + "&pool=elsewhere").status, 404);
  PatchSpec("web", {{"updateStrategy", {{"type", "RollingUpdate"}}}});
  EXPECT_EQ(GetJson("api/simulation?daemon=" + Key() + "&failing=true&duration=60")["end"], "Complete");
  EXPECT_THAT(Post("api/action", {{"action", "undo"}, {"daemon", Key()}, {"revision", 7}}, 400)["error"].dump(),
              HasSubstr("unable to find specified revision 7"));
  Post("api/action", {{"action", "hold"}, {"pool", Pool("a")}, {"reason", "it's <b>"}});
  EXPECT_EQ(Annotation(kube().Get(kNodePoolType, Pool("a")), "apps.openyurt.io/hold"), "it's <b>");
  EXPECT_EQ(GetJson("api/pool?daemon=" + Key() + "&pool=" + Pool("a"))["hold"], Json({{"reason", "it's <b>"}}));
  Post("api/action", {{"action", "release"}, {"pool", Pool("a")}});
}

TEST_P(DashboardTest, EachActionHasTheEffectOfItsCommand) {
  StartTwoPools();
  SetImage("web", "example.org/app:2");
  WaitUntilReady("web");
  StartDashboard();
  const auto act = [&](Json request) {
    const std::string action = request["action"];
    request["daemon"] = Key();
    EXPECT_THAT(Post("api/command", request)["command"].get<std::string>(),
                StartsWith("kubectl yad " + action + " web "));
    EXPECT_THAT(Post("api/action", request)["message"].get<std::string>(), HasSubstr("/web")) << action;
    return GetDaemon("web");
  };
  EXPECT_EQ(At(act({{"action", "pause"}}), "/spec/paused"), true);
  EXPECT_NE(At(act({{"action", "resume"}}), "/spec/paused"), true);
  const std::string container = std::string("/spec/workloadTemplate/") + TemplateField(kind()) + "/spec/template";
  EXPECT_EQ(At(act({{"action", "undo"}, {"revision", 0}}), container + "/spec/containers/0/image"),
            "example.org/app:1");
  EXPECT_EQ(At(GetDaemon("web"), container + "/metadata/annotations"), Json());
  EXPECT_TRUE(At(act({{"action", "restart"}, {"pools", Json::array()}}), container + "/metadata/annotations")
                  .contains(kRestartedAt));
  WaitUntilReady("web");
  Post("api/action", {{"action", "restart"}, {"daemon", Key()}, {"pools", {Pool("a")}}});
  Eventually("the pods of the pool restart", [&] {
    return At(PodTemplate(WorkloadOf("web", Pool("a"))), "/metadata/annotations").contains(kPoolRestartedAt);
  });
  EXPECT_FALSE(At(PodTemplate(WorkloadOf("web", Pool("b"))), "/metadata/annotations").contains(kPoolRestartedAt));
}

TEST_P(DashboardTest, UserWithoutPermissionsSeesADaemonAndChangesNothing) {
  StartTwoPools();
  Kubectl({"create", "serviceaccount", "viewer"});
  Kubectl({"create", "role", "viewer", "--verb=get,list,watch", "--resource=yurtappdaemons.apps.openyurt.io"});
  Kubectl({"create", "rolebinding", "viewer", "--role=viewer", "--serviceaccount=" + ns() + ":viewer"});
  StartDashboard(plane().TokenKubeconfig(ns(), "viewer"));
  EventStream events = Events();
  PagePools pools;
  pools.Take(events.Await("pools", [](const std::string& data) { return !Json::parse(data)["pools"].empty(); }));
  EXPECT_EQ(pools.size(), 2u);
  const Json permissions = GetJson("api/permissions?daemon=" + Key());
  for (const auto& [action, given] : permissions.items()) EXPECT_EQ(given, false) << action;
  const Json pool = GetJson("api/pool?daemon=" + Key() + "&pool=" + Pool("a"));
  EXPECT_FALSE(pool.contains("hold")) << "a user who may not read NodePools must not see a hold";
  EXPECT_EQ(pool["permissions"], Json({{"hold", false}, {"restart", false}}));
  const Json before = GetDaemon("web");
  for (Json request : std::vector<Json>{{{"action", "pause"}},
                                        {{"action", "restart"}, {"pools", Json::array()}},
                                        {{"action", "restart"}, {"pools", {Pool("a")}}},
                                        {{"action", "undo"}, {"revision", 0}},
                                        {{"action", "hold"}, {"pool", Pool("a")}, {"reason", "x"}}}) {
    request["daemon"] = Key();
    EXPECT_THAT(Post("api/action", request, 403)["error"].get<std::string>(), HasSubstr("forbidden")) << request;
  }
  EXPECT_EQ(GetDaemon("web"), before);
}

TEST_P(DashboardTest, MarkupFromTheClusterIsDeliveredAsText) {
  StartTwoPools();
  StopOperator();
  const std::string markup = "<img src=x onerror=alert(1)>\n\nevent: gone\ndata: {}\n\n</script>\xE2\x80\xA8";
  Json status = GetDaemon("web")["status"];
  status["pools"][0]["message"] = markup;
  kube().MergePatch(kYurtAppDaemonType, "web", {{"status", {{"pools", status["pools"]}}}}, "status");
  StartDashboard();
  EventStream events = Events();
  const Json change = Json::parse(events.Await("pools", [](const std::string&) { return true; }));
  EXPECT_EQ(change["pools"][0]["message"], markup);
  EXPECT_THAT(Get("").headers.at("content-security-policy"), Not(HasSubstr("unsafe")));
}

TEST_P(DashboardTest, RequestsWithAnotherTokenHostOrOriginAreRejected) {
  StartTwoPools();
  StartDashboard();
  const std::string ours = "Host: " + host() + "\r\n";
  EXPECT_EQ(Ask("GET " + root_, ours).status, 200);
  EXPECT_EQ(Ask("GET /", ours).status, 404);
  EXPECT_EQ(Ask("GET /" + std::string(64, '0') + "/", ours).status, 404);
  EXPECT_EQ(Ask("GET " + root_, "Host: evil.example:" + std::to_string(port_) + "\r\n").status, 421);
  EXPECT_EQ(Ask("GET " + root_ + "api/permissions", ours + "Origin: http://evil.example\r\n").status, 403);
  const std::string pause = Json{{"action", "pause"}, {"daemon", Key()}}.dump();
  EXPECT_EQ(
      Ask("POST " + root_ + "api/action", ours + "Content-Type: text/plain\r\nOrigin: http://" + host() + "\r\n", pause)
          .status,
      415);
  EXPECT_EQ(Ask("POST " + root_ + "api/action", ours + "Content-Type: application/json\r\n", pause).status, 403);
  EXPECT_EQ(Ask("GET " + root_ + "api/action", ours).status, 405);
  EXPECT_EQ(At(GetDaemon("web"), "/spec/paused"), Json());
}

TEST_P(DashboardTest, UnreachableApiserverIsShownUntilItResponds) {
  StartTwoPools();
  StartDashboard();
  EventStream events = Events();
  events.Await("pools", [](const std::string&) { return true; });
  plane().RunScript("stop-apiserver");
  events.Await("connection", [](const std::string& data) { return Json::parse(data)["connected"] == false; });
  EXPECT_EQ(Get("api/permissions?daemon=" + Key()).status, 502);
  plane().RunScript("start-apiserver");
  events.Await("connection", [](const std::string& data) { return Json::parse(data)["connected"] == true; });
  SetImage("web", "example.org/app:2");
  events.Await("pools", [](const std::string& data) { return Json::parse(data)["reset"] == false; });
}

}  // namespace
}  // namespace yad::testing
