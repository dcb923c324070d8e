// The commands freeze, unfreeze and windows, and the command release for a pool with invalid windows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/commands/commands.h"
#include "plugin/commands/option_values.h"
#include "tests/unit/plugin/session_fixture.h"

namespace yad {
namespace {

using namespace testing;  // NOLINT: the builders

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

const ObjectKey kFreezeKey{"yad-system", kFreezeName};

class GatesTest : public SessionTest {
 protected:
  GatesTest() { options_.reason = "end of year"; }
  std::string Error(Result<int> (*command)(Session&)) {
    const auto ended = Run(command);
    return ended ? "" : ended.error().message;
  }
  void AddOperator(const std::string& ns, const std::string& name = "yad") {
    cluster_.Create(
        kDeploymentType,
        {{"metadata",
          {{"namespace", ns}, {"name", name}, {"labels", {{"app.kubernetes.io/name", "yurtappdaemon-operator"}}}}},
         {"spec", Json::object()}});
  }
  void AddPool(const std::string& name, const Json& annotations) {
    Json pool = PoolJson(name);
    pool["metadata"].erase("resourceVersion");
    if (!annotations.empty()) pool["metadata"]["annotations"] = annotations;
    cluster_.Create(kNodePoolType, std::move(pool));
  }
  void AddNode(const std::string& name, const std::string& pool, const char* condition, const char* status) {
    cluster_.Create(kNodeType, {{"metadata", {{"name", name}, {"labels", {{kNodePoolLabel, pool}}}}},
                                {"status", {{"conditions", {{{"type", condition}, {"status", status}}}}}}});
  }
  void AddDaemon(const Json& rolling, const std::string& type = "RollingUpdate") {
    options_.daemon = "web";
    Json daemon = DaemonJson();
    daemon["spec"]["updateStrategy"] = {{"type", type}};
    if (!rolling.is_null()) daemon["spec"]["updateStrategy"]["rollingUpdate"] = rolling;
    cluster_.Create(kYurtAppDaemonType, std::move(daemon));
  }
  // Responds with an error to all requests with this method for this resource.
  void Reject(const std::string& method, const std::string& resource, int code, const std::string& reason) {
    cluster_.SetFaults([=](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
      if (request.method != method || request.resource != resource) return std::nullopt;
      return FakeCluster::Fault{StatusResponse(code, reason, "no " + resource + " for you")};
    });
  }
  Json Data() {
    const auto object = cluster_.Get(kConfigMapType, kFreezeKey);
    return object ? object->at("data") : Json();
  }
};

TEST(FreezeEndTest, EndIsAFutureTimeOrADurationInWholeSeconds) {
  const WallTime now = ParseTime("2026-01-02T03:04:05.25Z");
  const auto of = [&](const std::string& text) {
    const auto end = FreezeEnd(text, now);
    return end ? FormatMicroTime(*end) : end.error().message;
  };
  EXPECT_EQ(of("2026-01-02T18:00:00Z"), "2026-01-02T18:00:00.000000Z");
  EXPECT_EQ(of("2026-01-02T18:00:00+02:00"), "2026-01-02T16:00:00.000000Z");
  EXPECT_EQ(of("12h"), "2026-01-02T15:04:06.000000Z");
  EXPECT_EQ(of("1h30m"), "2026-01-02T04:34:06.000000Z");
  EXPECT_EQ(of("2026-01-02T03:04:05Z"),
            "\"2026-01-02T03:04:05Z\" is not in the future (the time is 2026-01-02T03:04:05Z): give a later time, or a "
            "duration from now such as 12h");
  EXPECT_THAT(of("0s"), HasSubstr("is not in the future"));
  for (const char* text : {"", "soon", "-1h", "2027", "12", "3d", "2026-01-03", "2026-01-03T00:00:00", "12h later"}) {
    EXPECT_EQ(of(text), "\"" + std::string(text) +
                            "\" is not a valid time: give an RFC 3339 time such as 2026-12-24T18:00:00Z, or a duration "
                            "from now such as 12h");
  }
}

TEST_F(GatesTest, FreezeCreatesTheConfigMapInTheNamespaceOfTheOperator) {
  AddOperator("yad-system");
  EXPECT_EQ(Run(RunFreeze), kDone);
  EXPECT_EQ(out_.str(),
            "configmap/yurtappdaemon-freeze frozen in namespace yad-system: updates of all YurtAppDaemons are frozen "
            "until `kubectl yad unfreeze`\n");
  EXPECT_EQ(Data(), (Json{{"reason", "end of year"}}));
}

TEST_F(GatesTest, SecondFreezeUpdatesTheFirstAndReportsIt) {
  AddOperator("yad-system");
  options_.until = ParseTime("2026-01-02T15:04:05Z");
  EXPECT_EQ(Run(RunFreeze), kDone);
  EXPECT_EQ(Data(), (Json{{"reason", "end of year"}, {"until", "2026-01-02T15:04:05Z"}}));
  EXPECT_THAT(out_.str(), EndsWith("are frozen until 2026-01-02T15:04:05Z\n"));

  cluster_.Edit(kConfigMapType, kFreezeKey, [](Json& object) { object["metadata"]["labels"]["team"] = "a"; });
  options_.until = std::nullopt;
  options_.reason = "incident";
  EXPECT_EQ(Run(RunFreeze), kDone);
  EXPECT_EQ(out_.str(),
            "configmap/yurtappdaemon-freeze updated in namespace yad-system: updates of all YurtAppDaemons stay frozen "
            "until `kubectl yad unfreeze`\n");
  EXPECT_EQ(Data(), (Json{{"reason", "incident"}})) << "the new freeze must replace the end of the earlier freeze";
  EXPECT_EQ(StringAt(*cluster_.Get(kConfigMapType, kFreezeKey), {"metadata", "labels", "team"}), "a");

  options_.output = OutputFormat::kName;
  EXPECT_EQ(Run(RunFreeze), kDone);
  EXPECT_EQ(out_.str(), "configmap/yurtappdaemon-freeze\n");
  options_.output = OutputFormat::kJson;
  EXPECT_EQ(Run(RunFreeze), kDone);
  EXPECT_EQ(Json::parse(out_.str())["data"]["reason"], "incident");
}

TEST_F(GatesTest, ExpiredFreezeDoesNotCountAsAFreeze) {
  AddOperator("yad-system");
  options_.until = ParseTime("2026-01-02T04:04:05Z");
  EXPECT_EQ(Run(RunFreeze), kDone);
  clock_.Advance(std::chrono::hours(1));
  options_.until = ParseTime("2026-01-02T05:04:05Z");
  EXPECT_EQ(Run(RunFreeze), kDone);
  EXPECT_THAT(out_.str(), HasSubstr("frozen in namespace yad-system: updates of all YurtAppDaemons are frozen until "
                                    "2026-01-02T05:04:05Z\n"));
}

TEST_F(GatesTest, FreezeIsWrittenDespiteAConcurrentCreateOrDelete) {
  AddOperator("yad-system");
  const auto meanwhile = [&](const std::string& method, const std::function<void()>& act) {
    cluster_.SetAfterwards([=, this](const WriteRecord& request) {
      if (request.method != method || request.resource != "configmaps") return;
      cluster_.SetAfterwards({});
      act();
    });
  };
  meanwhile("GET", [this] {
    cluster_.Create(kConfigMapType, {{"metadata", {{"namespace", kFreezeKey.ns}, {"name", kFreezeKey.name}}},
                                     {"data", {{"reason", "theirs"}, {"until", "2026-01-03T00:00:00Z"}}}});
  });
  EXPECT_EQ(Run(RunFreeze), kDone);
  EXPECT_EQ(Data(), (Json{{"reason", "end of year"}}));
  meanwhile("GET", [this] { cluster_.Delete(kConfigMapType, kFreezeKey); });
  EXPECT_EQ(Run(RunFreeze), kDone);
  EXPECT_EQ(Data(), (Json{{"reason", "end of year"}}));
}

TEST_F(GatesTest, FreezeThatIsBeingDeletedIsNotUpdated) {
  AddOperator("yad-system");
  EXPECT_EQ(Run(RunFreeze), kDone);
  cluster_.Edit(kConfigMapType, kFreezeKey, [](Json& object) { object["metadata"]["finalizers"] = {"a/b"}; });
  cluster_.Delete(kConfigMapType, kFreezeKey);
  EXPECT_THAT(Error(RunFreeze),
              HasSubstr("is being deleted: try again when it is gone (its finalizers block the deletion)"));
}

TEST_F(GatesTest, ForbiddenWritesAreReportedWithTheServersMessage) {
  AddOperator("yad-system");
  Reject("POST", "configmaps", 403, "Forbidden");
  EXPECT_EQ(Error(RunFreeze), "no configmaps for you");
  Reject("GET", "configmaps", 403, "Forbidden");
  EXPECT_EQ(Error(RunFreeze), "no configmaps for you");
  Reject("DELETE", "configmaps", 403, "Forbidden");
  EXPECT_EQ(Run(RunFreeze), kDone);
  EXPECT_EQ(Error(RunUnfreeze), "no configmaps for you");
}

TEST_F(GatesTest, UnfreezeDeletesTheConfigMapAndSucceedsWithoutOne) {
  AddOperator("yad-system");
  EXPECT_EQ(Run(RunUnfreeze), kDone);
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(err_.str(), "updates are not frozen: namespace yad-system has no configmap/yurtappdaemon-freeze\n");
  EXPECT_EQ(Run(RunFreeze), kDone);
  EXPECT_EQ(Run(RunUnfreeze), kDone);
  EXPECT_EQ(
      out_.str(),
      "configmap/yurtappdaemon-freeze deleted in namespace yad-system: updates of all YurtAppDaemons may start\n");
  EXPECT_FALSE(cluster_.Get(kConfigMapType, kFreezeKey));
  EXPECT_EQ(Run(RunFreeze), kDone);
  options_.output = OutputFormat::kName;
  EXPECT_EQ(Run(RunUnfreeze), kDone);
  EXPECT_EQ(out_.str(), "configmap/yurtappdaemon-freeze\n");
}

TEST_F(GatesTest, NamespaceMustBeGivenUnlessExactlyOneHasTheOperator) {
  for (const auto command : {RunFreeze, RunUnfreeze}) {
    EXPECT_EQ(Error(command),
              "no Deployment has the label app.kubernetes.io/name=yurtappdaemon-operator: give the operator's "
              "namespace with --operator-namespace NAMESPACE");
  }
  AddOperator("b");
  AddOperator("a");
  for (const auto command : {RunFreeze, RunUnfreeze}) {
    EXPECT_EQ(Error(command),
              "the label app.kubernetes.io/name=yurtappdaemon-operator is on Deployments in several namespaces (a, b): "
              "give the operator's namespace with --operator-namespace NAMESPACE");
  }
  Reject("GET", "deployments", 403, "Forbidden");
  for (const auto command : {RunFreeze, RunUnfreeze}) {
    EXPECT_EQ(Error(command),
              "no deployments for you; give the operator's namespace with --operator-namespace NAMESPACE");
  }
  EXPECT_TRUE(cluster_.writes().empty());
  options_.operator_ns = "yad-system";
  EXPECT_EQ(Run(RunFreeze), kDone) << "the flag needs no permission to list Deployments";
  EXPECT_EQ(Data(), (Json{{"reason", "end of year"}}));
}

TEST_F(GatesTest, GivenNamespaceWithoutTheOperatorIsReported) {
  AddOperator("yad-system");
  options_.operator_ns = "elsewhere";
  const std::string warning =
      "Warning: namespace elsewhere has no Deployment with the label app.kubernetes.io/name=yurtappdaemon-operator: "
      "the "
      "operator reads a freeze only from its own namespace\n";
  EXPECT_EQ(Run(RunFreeze), kDone);
  EXPECT_EQ(err_.str(), warning);
  EXPECT_EQ(out_.str(),
            "configmap/yurtappdaemon-freeze written in namespace elsewhere, where no operator was found: updates are "
            "frozen until `kubectl yad unfreeze --operator-namespace=elsewhere` only if an operator runs in this "
            "namespace\n");
  EXPECT_EQ(Run(RunUnfreeze), kDone);
  EXPECT_EQ(err_.str(), warning);
  EXPECT_EQ(out_.str(), "configmap/yurtappdaemon-freeze deleted in namespace elsewhere\n");
  EXPECT_EQ(Run(RunUnfreeze), kDone);
  EXPECT_EQ(err_.str(), warning + "nothing is deleted: namespace elsewhere has no configmap/yurtappdaemon-freeze\n");
  options_.operator_ns = "yad-system";
  EXPECT_EQ(Run(RunFreeze), kDone);
  EXPECT_EQ(err_.str(), "");
  EXPECT_THAT(out_.str(), EndsWith("are frozen until `kubectl yad unfreeze --operator-namespace=yad-system`\n"));
  options_.operator_ns = "elsewhere";
  Reject("GET", "deployments", 403, "Forbidden");
  EXPECT_EQ(Run(RunFreeze), kDone);
  EXPECT_EQ(err_.str(), "");
}

TEST_F(GatesTest, TwoDeploymentsInOneNamespaceAreNotAmbiguous) {
  AddOperator("yad-system", "a");
  AddOperator("yad-system", "b");
  EXPECT_EQ(Run(RunFreeze), kDone);
  EXPECT_EQ(Data(), (Json{{"reason", "end of year"}}));
}

TEST_F(GatesTest, WindowsCommandShowsTheNextOpeningOfEachPool) {
  AddDaemon(R"({"windows": [{"start": "02:00", "duration": "2h"}]})"_json);
  AddPool("a", {});
  AddPool("b", {{"apps.openyurt.io/time-zone", "Europe/Oslo"}});
  AddPool("c", {{"apps.openyurt.io/update-windows",
                 R"([{"days": ["Sat"], "start": "22:00", "duration": "4h", "timeZone": "Asia/Tokyo"},
                     {"days": ["Sun"], "start": "22:00", "duration": "4h"}])"}});
  AddPool("d", {{"apps.openyurt.io/update-windows", "[]"}});
  EXPECT_EQ(Run(RunWindows), kDone);
  EXPECT_THAT(Lines(),
              ElementsAre("POOL   TIME ZONE        WINDOWS   OPEN                                           FAULT",
                          "a      UTC              daemon    now",
                          "b      Europe/Oslo      daemon    2026-01-03T01:00:00Z (Sat 02:00 Europe/Oslo)",
                          "c      Asia/Tokyo,UTC   pool      2026-01-03T13:00:00Z (Sat 22:00 Asia/Tokyo)",
                          "d      UTC              pool      now"));
  EXPECT_EQ(err_.str(), "");
  EXPECT_TRUE(cluster_.writes().empty());
}

TEST_F(GatesTest, WindowsCommandReportsTheErrorOfInvalidAnnotations) {
  AddDaemon(R"({"windows": [{"start": "02:00", "duration": "2h"}]})"_json);
  AddPool("a", {{"apps.openyurt.io/time-zone", "Europe/Atlantis\x1b[31m"}});
  AddPool("b", {{"apps.openyurt.io/update-windows", "at night"}, {"apps.openyurt.io/hold", "stocktaking"}});
  EXPECT_EQ(Run(RunWindows), kDone);
  const auto lines = Lines();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[1], AllOf(HasSubstr("   daemon    no     annotation apps.openyurt.io/time-zone: "),
                              HasSubstr("is not a time zone of the IANA database"), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(lines[2], HasSubstr("   pool      no     annotation apps.openyurt.io/update-windows: must be a list in "
                                  "JSON, such as [{\"start\": \"22:00\", \"duration\": \"4h\"}]"));
}

TEST_F(GatesTest, WindowsAreAlsoPrintedAsJson) {
  AddDaemon(R"({"windows": [{"start": "02:00", "duration": "2h"}]})"_json);
  AddPool("a", {});
  AddPool("b", {{"apps.openyurt.io/time-zone", "Europe/Oslo"}});
  AddPool("c", {{"apps.openyurt.io/update-windows", "{}"}});
  options_.output = OutputFormat::kJson;
  EXPECT_EQ(Run(RunWindows), kDone);
  const Json list = Json::parse(out_.str());
  EXPECT_EQ(list[0], R"({"name": "a", "timeZones": ["UTC"], "windowsFrom": "daemon", "open": true})"_json);
  EXPECT_EQ(list[1], R"({"name": "b", "timeZones": ["Europe/Oslo"], "windowsFrom": "daemon", "open": false,
                         "opens": "2026-01-03T01:00:00Z", "opensLocally": "Sat 02:00 Europe/Oslo"})"_json);
  EXPECT_EQ(list[2]["open"], false);
  EXPECT_EQ(list[2]["windowsFrom"], "pool");
  EXPECT_THAT(StringAt(list[2], {"fault"}), HasSubstr("annotation apps.openyurt.io/update-windows: must be a list"));
}

TEST_F(GatesTest, AllPoolsAreOpenWithoutWindows) {
  AddDaemon(nullptr);
  AddPool("a", {});
  EXPECT_EQ(Run(RunWindows), kDone);
  EXPECT_THAT(Lines(), ElementsAre("POOL   TIME ZONE   WINDOWS   OPEN   FAULT", "a      UTC         none      now"));
  cluster_.Edit(kYurtAppDaemonType, {kNs, "web"}, [](Json& daemon) {
    daemon["spec"]["nodePools"] = {{"exclude", {"a"}}};
  });
  EXPECT_EQ(Run(RunWindows), kDone);
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(err_.str(), "yurtappdaemons.apps.openyurt.io \"web\" selects no pool\n");
}

TEST_F(GatesTest, WindowsCommandWarnsIfTheStrategyHasNoWindows) {
  AddDaemon(nullptr, "OnDelete");
  AddPool("a", {});
  EXPECT_EQ(Run(RunWindows), kDone);
  EXPECT_EQ(err_.str(),
            "Warning: update windows have no effect, because updateStrategy.type of yurtappdaemons.apps.openyurt.io "
            "\"web\" is not RollingUpdate\n");
}

TEST_F(GatesTest, ErrorsOfTheWindowsCommandNameTheFix) {
  options_.daemon = "web";
  EXPECT_THAT(Error(RunWindows), HasSubstr("\"web\" not found in namespace \"ns\" (kubectl yad pools -A lists all)"));
  AddDaemon(R"({"windows": [{"start": "25:00", "duration": "2h"}]})"_json);
  EXPECT_THAT(Error(RunWindows), HasSubstr("spec.updateStrategy.rollingUpdate.windows[0].start: Invalid value"));
}

TEST_F(GatesTest, ReleaseCommandNamesTheAnnotationWithInvalidWindows) {
  AddPool("a", {{"apps.openyurt.io/update-windows", "at night"}});
  AddPool("b", {});
  options_.command = "release";
  options_.pools = {"a"};
  EXPECT_THAT(Error(RunHold),
              HasSubstr("nodepool.apps.openyurt.io/a is held until its update windows are valid: annotation "
                        "apps.openyurt.io/update-windows: must be a list in JSON"));
  options_.pools = {"b"};
  EXPECT_EQ(Error(RunHold), "nodepool.apps.openyurt.io/b is not held");
}

TEST_F(GatesTest, ReleaseCommandNamesTheNodeInMaintenance) {
  AddPool("a", {});
  AddPool("b", {});
  AddNode("n3", "a", "DrainInProgress", "True");
  AddNode("n2", "a", "MaintenancePlanned", "True");
  AddNode("n1", "a", "MaintenanceInProgress", "Unknown");
  options_.command = "release";
  options_.pools = {"a"};
  EXPECT_EQ(Error(RunHold),
            "nodepool.apps.openyurt.io/a is held by a node condition (node n2: MaintenancePlanned): the hold ends when "
            "the condition ends");
  options_.pools = {"b"};
  EXPECT_EQ(Error(RunHold), "nodepool.apps.openyurt.io/b is not held") << "the node is in another pool";
  options_.pools = {"a"};
  Reject("GET", "nodes", 403, "Forbidden");
  EXPECT_EQ(Error(RunHold),
            "nodepool.apps.openyurt.io/a has no hold to release; the conditions of its nodes can't be read: "
            "no nodes for you");
}

TEST_F(GatesTest, HoldAndReleaseCommandsWarnOfANodeInMaintenance) {
  AddPool("a", {});
  AddNode("n1", "a", "DrainInProgress", "True");
  options_.pools = {"a"};
  for (const std::string command : {"hold", "release"}) {
    options_.command = command;
    EXPECT_EQ(Run(RunHold), kDone);
    EXPECT_EQ(out_.str(), std::string("nodepool.apps.openyurt.io/a ") + (command == "hold" ? "held\n" : "released\n"));
    EXPECT_EQ(err_.str(),
              "Warning: a node condition also holds nodepool.apps.openyurt.io/a (node n1: DrainInProgress): that hold "
              "ends when the condition ends\n");
  }
  Reject("GET", "nodes", 403, "Forbidden");
  options_.command = "hold";
  EXPECT_EQ(Run(RunHold), kDone) << "the account of a site may not list Nodes";
  EXPECT_EQ(err_.str(), "");
}

TEST_F(GatesTest, HoldCommandWarnsIfItReplacesAnotherHold) {
  AddPool("a", {{"apps.openyurt.io/hold", "stocktaking\x1b[31m"}});
  options_.command = "hold";
  options_.pools = {"a"};
  EXPECT_EQ(Run(RunHold), kDone);
  EXPECT_EQ(err_.str(),
            "Warning: nodepool.apps.openyurt.io/a was held already, and its earlier reason is replaced: stocktaking "
            "[31m\n");
  EXPECT_EQ(Run(RunHold), kDone) << "a hold with the same reason replaces nothing";
  EXPECT_EQ(err_.str(), "");
  options_.reason = "no time";
  Reject("GET", "nodepools", 403, "Forbidden");
  EXPECT_EQ(Run(RunHold), kDone) << "the account of a site may only patch its pool";
  EXPECT_EQ(err_.str(), "");
  EXPECT_EQ(StringAt(*cluster_.Get(kNodePoolType, {"", "a"}), {"metadata", "annotations", "apps.openyurt.io/hold"}),
            "no time");
}

TEST_F(GatesTest, WindowsCommandWarnsOfHeldPools) {
  AddDaemon(nullptr);
  for (const char* pool : {"a", "b", "c"}) AddPool(pool, {});
  cluster_.Edit(kYurtAppDaemonType, {kNs, "web"}, [](Json& daemon) {
    daemon["status"]["pools"] = {
        {{"name", "a"},
         {"waitingFor", "Hold"},
         {"reason", "NodeMaintenance"},
         {"message", "a node condition holds the pool (node n1: DrainInProgress)"}},
        {{"name", "b"}, {"waitingFor", "Hold"}, {"reason", "InvalidWindow"}, {"message", "is in the table"}},
        {{"name", "c"}, {"waitingFor", "Slot"}, {"message", "is updated later"}}};
  });
  EXPECT_EQ(Run(RunWindows), kDone);
  EXPECT_EQ(err_.str(), "Warning: pool a is held: a node condition holds the pool (node n1: DrainInProgress)\n");
}

TEST_F(GatesTest, WindowsCommandWarnsOfHeldPoolsThatStatusDoesNotShow) {
  AddDaemon(nullptr);
  AddPool("a", {{"apps.openyurt.io/hold", "stocktaking"}});
  AddPool("b", {{"apps.openyurt.io/hold", ""}});
  AddPool("c", {});
  EXPECT_EQ(Run(RunWindows), kDone);
  EXPECT_EQ(err_.str(),
            "Warning: pool a is held: stocktaking (kubectl yad release a)\n"
            "Warning: pool b is held (kubectl yad release b)\n");
  cluster_.Edit(kYurtAppDaemonType, {kNs, "web"},
                [](Json& daemon) { daemon["spec"]["updateStrategy"]["type"] = "OnDelete"; });
  EXPECT_EQ(Run(RunWindows), kDone);
  EXPECT_THAT(err_.str(), Not(HasSubstr("is held"))) << "a hold has no effect on OnDelete";
}

TEST_F(GatesTest, HoldAndReleaseUseALowerVersionIfTheHighestCanNotBeConverted) {
  AddPool("a", {});
  transport_->OnSend([this](const HttpRequest& request) -> Result<HttpResponse> {
    if (request.path == "/apis/apps.openyurt.io") {
      return JsonResponse({{"kind", "APIGroup"}, {"versions", {{{"version", "v1beta2"}}, {{"version", "v1beta1"}}}}});
    }
    if (request.path == "/apis/apps.openyurt.io/v1beta2") {
      HttpRequest same = request;
      same.path = "/apis/apps.openyurt.io/v1beta1";
      return Answer(same);
    }
    if (request.path.starts_with("/apis/apps.openyurt.io/v1beta2/"))
      return StatusResponse(500, "InternalError", "conversion webhook failed");
    return Answer(request);
  });
  options_.pools = {"a"};
  for (const std::string command : {"hold", "release"}) {
    options_.command = command;
    EXPECT_EQ(Error(RunHold), "");
    EXPECT_EQ(StringAt(*cluster_.Get(kNodePoolType, {"", "a"}), {"metadata", "annotations", "apps.openyurt.io/hold"}),
              command == "hold" ? "end of year" : "");
  }
  options_.pools = {"b"};
  for (const std::string command : {"hold", "release"}) {
    options_.command = command;
    EXPECT_EQ(Error(RunHold), "nodepools.apps.openyurt.io \"b\" not found (kubectl get nodepools lists all)");
  }
}

}  // namespace
}  // namespace yad
