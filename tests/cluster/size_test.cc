// Large and deep objects.
#include "tests/cluster/fixture.h"

namespace yad::testing {
namespace {

class SizeTest : public BothKinds {
 protected:
  Json Complete(Json object) {
    object["apiVersion"] = kYurtAppDaemonType.ApiVersion();
    object["kind"] = kYurtAppDaemonType.kind;
    return object;
  }
  // Creates a daemon with an unknown field of `levels` levels in the pod template. Uses kubectl, because the operator's
  // client rejects very deep objects.
  void CreateDeep(const std::string& name, int levels) {
    Json object = Complete(Daemon(name));
    object["metadata"]["namespace"] = ns();
    object["spec"]["workloadTemplate"][TemplateField(kind())]["spec"]["template"]["spec"]["unknown"] = "HERE";
    std::string text = object.dump();
    std::string deep;
    for (int i = 0; i < levels; ++i) deep += i % 2 == 0 ? R"({"a":)" : "[";
    deep += "1";
    for (int i = levels; i-- > 0;) deep += i % 2 == 0 ? "}" : "]";
    text.replace(text.find("\"HERE\""), 6, deep);
    Kubectl({"create", "--validate=false", "-f", "-"}, text);
  }
};
INSTANTIATE_ONE_KIND(SizeTest, WorkloadKind::kDeployment);

TEST_P(SizeTest, ATemplateOfOneMegabyteIsAppliedByServerSideApply) {
  StartOperator();
  const std::string a = AddPool("a");
  Json object = Complete(Daemon("web"));
  Json& container =
      object["spec"]["workloadTemplate"][TemplateField(kind())]["spec"]["template"]["spec"]["containers"][0];
  container["env"] = Json::array();
  for (int i = 0; i < 10; ++i) {
    container["env"].push_back(
        {{"name", "BIG_" + std::to_string(i)}, {"value", std::string(100'000, static_cast<char>('a' + i))}});
  }
  ASSERT_GT(object.dump().size(), 1'000'000U);
  Kubectl({"apply", "--server-side", "-f", "-"}, object.dump());
  WaitUntilReady("web");
  const Json workload = WorkloadOf("web", a);
  EXPECT_EQ(At(*Container(workload, "main"), "/env"), container["env"]);
  container["env"][3]["value"] = "small";
  Kubectl({"apply", "--server-side", "-f", "-"}, object.dump());
  Eventually("the workload has the changed variable",
             [&] { return At(*Container(WorkloadOf("web", a), "main"), "/env/3/value") == "small"; });
  WaitUntilReady("web");
}

TEST_P(SizeTest, AnUnknownFieldWithAHundredLevelsIsRolledOut) {
  StartOperator();
  const std::string a = AddPool("a");
  CreateDeep("deep", 100);
  WaitUntilReady("deep");
  WaitForPools("deep", {a});
  EXPECT_EQ(Revisions("deep").size(), 1U);
}

TEST_P(SizeTest, ATooDeepDaemonBlocksNoOtherDaemon) {
  StartOperator();
  const std::string a = AddPool("a");
  CreateDeep("deep", 3000);
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  WaitForPools("web", {a});
  // The deep object does not block the start of the next process.
  StopOperator();
  StartOperator();
  SetImage("web", "example.org/app:2");
  Eventually("the workload has the new image", [&] { return ImageOf(WorkloadOf("web", a)) == "example.org/app:2"; });
}

TEST_P(SizeTest, OneDaemonCreatesWorkloadsInThreeHundredPools) {
  StartOperator();
  const auto pools = AddPools(300);
  CreateDaemon(Daemon("web"));
  const Json daemon =
      WaitForStatus("web", "all pools are Ready", [](const Json& status) { return At(status, "/readyPools") == 300; });
  EXPECT_EQ(At(daemon, "/status/nodepools"), Json(pools));
  EXPECT_EQ(At(daemon, "/status/pools").size(), 300U);
  WaitForPools("web", pools);
}

}  // namespace
}  // namespace yad::testing
