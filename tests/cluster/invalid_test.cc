// Daemons that the CRD accepts although they cannot work. No webhook reviews them here, so the operator reports them in
// status and events.
#include <regex>

#include "tests/cluster/fixture.h"

namespace yad::testing {
namespace {

class InvalidTest : public BothKinds {
 protected:
  // Blocks until the messages of a condition and of a Warning event contain `field`.
  void WaitForInvalidField(const std::string& daemon, const std::string& field) {
    WaitForStatus(daemon, "a condition contains " + field, [&](const Json& status) {
      for (const Json& condition : At(status, "/conditions")) {
        if (StringAt(condition, {"message"}).find(field) != std::string::npos &&
            !StringAt(condition, {"reason"}).empty()) {
          return true;
        }
      }
      return false;
    });
    const Json object = GetDaemon(daemon);
    EXPECT_NE(ConditionStatus(object, "Ready"), "True");
    Eventually("an event contains " + field, [&]() -> std::string {
      std::string seen;
      for (const Json& event : EventsAbout(daemon)) {
        const std::string note = StringAt(event, {"note"});
        if (StringAt(event, {"type"}) == "Warning" && note.find(field) != std::string::npos) return "";
        seen += note + "; ";
      }
      return "events: " + seen;
    });
  }
};
INSTANTIATE_BOTH_KINDS(InvalidTest);

// Tests of rules that do not depend on the kind.
class InvalidOnceTest : public InvalidTest {};
INSTANTIATE_ONE_KIND(InvalidOnceTest, WorkloadKind::kDeployment);

TEST_P(InvalidOnceTest, AMismatchOfSelectorAndTemplateIsReportedAndRunningWorkloadsAreKept) {
  StartOperator();
  const std::string a = AddPool("a");
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  const Json before = WorkloadOf("web", a);
  PatchTemplate("web", R"({"spec": {"template": {"metadata": {"labels": {"app": "another"}}}}})"_json);
  WaitForInvalidField("web", std::string("spec.workloadTemplate.") + TemplateField(kind()));
  // The running workload also stays when a pool is added.
  AddPool("b");
  Barrier();
  const Json after = WorkloadOf("web", a);
  EXPECT_EQ(UidOf(after), UidOf(before));
  EXPECT_EQ(At(after, "/metadata/generation"), At(before, "/metadata/generation"));
  EXPECT_EQ(Revisions("web").size(), 1U);
  // A corrected daemon is reconciled again.
  PatchTemplate("web", R"({"spec": {"template": {"metadata": {"labels": {"app": "web", "new": "label"}}}}})"_json);
  WaitUntilReady("web");
  WaitForPools("web", {a, Pool("b")});
  EXPECT_EQ(At(WorkloadOf("web", a), "/spec/template/metadata/labels/new"), "label");
}

TEST_P(InvalidOnceTest, ASelectorWithoutValuesIsReportedAndDeletesNoWorkload) {
  StartOperator();
  const std::string a = AddPool("a");
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  const Json before = WorkloadOf("web", a);
  PatchSpec("web", R"({"nodepoolSelector": {"matchExpressions": [{"key": "x", "operator": "In"}]}})"_json);
  WaitForInvalidField("web", "spec.nodepoolSelector");
  Unselect(a);
  Barrier();
  EXPECT_EQ(UidOf(WorkloadOf("web", a)), UidOf(before));
  Select(a);
  PatchSpec("web", {{"nodepoolSelector", {{"matchExpressions", nullptr}}}});
  WaitUntilReady("web");
  EXPECT_EQ(UidOf(WorkloadOf("web", a)), UidOf(before));
}

TEST_P(InvalidOnceTest, AnInvalidLabelInTheTemplateIsReported) {
  StartOperator();
  AddPool("a");
  Json daemon = Daemon("web");
  daemon["spec"]["workloadTemplate"][TemplateField(kind())]["metadata"]["labels"]["bad key!"] = "x";
  CreateDaemon(daemon);
  WaitForInvalidField("web", std::string("spec.workloadTemplate.") + TemplateField(kind()) + ".metadata.labels");
  EXPECT_TRUE(kube().List(type()).empty());
}

TEST_P(InvalidTest, TheApiserversErrorForATemplateIsReportedAndRunningWorkloadsAreKept) {
  StartOperator();
  if (kind() == WorkloadKind::kStatefulSet && plane().minor() < 34) {
    GTEST_SKIP() << "this apiserver validates the pod template of a StatefulSet only at its creation";
  }
  const std::string a = AddPool("a");
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  const Json before = WorkloadOf("web", a);
  // Only the apiserver checks this rule. The CRD and the operator do not.
  kube().Edit(kYurtAppDaemonType, "web", [&](Json& object) {
    object["spec"]["workloadTemplate"][TemplateField(kind())]["spec"]["template"]["spec"]["containers"][0]
          ["livenessProbe"] = R"({"httpGet": {"path": "/", "port": 99999}})"_json;
  });
  const Json daemon = WaitForStatus("web", "the rejection is reported", [](const Json& status) {
    return ConditionStatus({{"status", status}}, "WorkLoadFailure") == "True" && At(status, "/failedPools") == 1;
  });
  EXPECT_THAT(StringAt(PoolStatus(daemon, a), {"message"}), ::testing::HasSubstr("livenessProbe"));
  EXPECT_EQ(At(WorkloadOf("web", a), "/metadata/generation"), At(before, "/metadata/generation"));
  kube().Edit(kYurtAppDaemonType, "web", [&](Json& object) {
    object["spec"]["workloadTemplate"][TemplateField(kind())]["spec"]["template"]["spec"]["containers"][0]
          ["livenessProbe"] = R"({"httpGet": {"path": "/", "port": 9999}})"_json;
  });
  WaitUntilReady("web");
  EXPECT_EQ(At(*Container(WorkloadOf("web", a), "main"), "/livenessProbe/httpGet/port"), 9999);
}

TEST_P(InvalidOnceTest, AnInvalidDaemonDoesNotBlockAValidDaemon) {
  StartOperator();
  const std::string a = AddPool("a");
  Json bad = Daemon("bad");
  bad["spec"]["selector"]["matchLabels"]["app"] = "absent";
  CreateDaemon(bad);
  WaitForInvalidField("bad", "spec.");
  CreateDaemon(Daemon("good"));
  WaitUntilReady("good");
  WaitForPools("good", {a});
  EXPECT_TRUE(Workloads("bad").empty());
}

TEST_P(InvalidTest, TheCrdRejectsInvalidObjectsAndChangesOfImmutableFields) {
  const Json good = Daemon("web");
  const auto rejected = [&](const Json& object, const std::string& word) {
    Json complete = object;
    complete["apiVersion"] = kYurtAppDaemonType.ApiVersion();
    complete["kind"] = kYurtAppDaemonType.kind;
    complete["metadata"]["namespace"] = ns();
    Result<Json> result = kube().client().Create(kYurtAppDaemonType, complete);
    ASSERT_FALSE(result.has_value()) << object;
    EXPECT_EQ(result.error().reason, Reason::kInvalid);
    EXPECT_THAT(result.error().message, ::testing::HasSubstr(word));
  };
  Json both = good;
  both["spec"]["workloadTemplate"]["deploymentTemplate"] = good["spec"]["workloadTemplate"][TemplateField(kind())];
  both["spec"]["workloadTemplate"]["statefulSetTemplate"] = good["spec"]["workloadTemplate"][TemplateField(kind())];
  rejected(both, "workloadTemplate");
  Json none = good;
  none["spec"]["workloadTemplate"] = Json::object();
  rejected(none, "workloadTemplate");
  Json no_selector = good;
  no_selector["spec"].erase("selector");
  rejected(no_selector, "selector");
  Json negative = good;
  negative["spec"]["revisionHistoryLimit"] = -1;
  rejected(negative, "revisionHistoryLimit");
  Json no_pools = good;
  no_pools["spec"].erase("nodepoolSelector");
  rejected(no_pools, "nodepoolSelector");
  // An update cannot change the selector or the kind.
  CreateDaemon(good);
  const auto update_rejected = [&](const Json& patch, const std::string& word) {
    Result<Json> result =
        kube().client().Patch(kYurtAppDaemonType, {ns(), "web"}, PatchType::kMerge, {{"spec", patch}});
    ASSERT_FALSE(result.has_value()) << patch;
    EXPECT_EQ(result.error().reason, Reason::kInvalid);
    EXPECT_THAT(result.error().message, ::testing::HasSubstr(word));
  };
  update_rejected({{"selector", {{"matchLabels", {{"app", "web2"}}}}}}, "selector");
  const char* mine = TemplateField(kind());
  const char* other = kind() == WorkloadKind::kDeployment ? "statefulSetTemplate" : "deploymentTemplate";
  update_rejected({{"workloadTemplate", {{mine, nullptr}, {other, good["spec"]["workloadTemplate"][mine]}}}},
                  "workloadTemplate");
}

TEST_P(InvalidTest, ChangesOfImmutableFieldsAreRejectedOrReportedAndNothingIsRecreated) {
  if (kind() == WorkloadKind::kDeployment)
    GTEST_SKIP() << "the only immutable field of a Deployment is its selector, which the CRD protects";
  StartOperator();
  const std::string a = AddPool("a");
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  const Json before = WorkloadOf("web", a);
  const Json patch = {
      {"spec", {{"workloadTemplate", {{"statefulSetTemplate", {{"spec", {{"serviceName", "another"}}}}}}}}}};
  const Result<Json> result = kube().client().Patch(kYurtAppDaemonType, {ns(), "web"}, PatchType::kMerge, patch);
  if (result.has_value()) {
    WaitForStatus("web", "the rejection is reported", [](const Json& status) {
      for (const Json& condition : At(status, "/conditions")) {
        if (StringAt(condition, {"message"}).find("serviceName") != std::string::npos ||
            StringAt(condition, {"message"}).find("updates to statefulset spec") != std::string::npos) {
          return true;
        }
      }
      return false;
    });
  } else {
    EXPECT_EQ(result.error().reason, Reason::kInvalid);
    EXPECT_THAT(result.error().message, ::testing::HasSubstr("serviceName"));
  }
  Barrier();
  const Json after = WorkloadOf("web", a);
  EXPECT_EQ(UidOf(after), UidOf(before));
  EXPECT_EQ(At(after, "/metadata/generation"), At(before, "/metadata/generation"));
}

TEST_P(InvalidOnceTest, ReasonsAndActionsOfEventsAreCamelCase) {
  StartOperator();
  const std::string a = AddPool("a");
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  SetImage("web", "example.org/app:2");
  WaitUntilReady("web");
  AddPoolNamed(Pool("x") + std::string(70, 'a'));
  Unselect(a);
  WaitForPools("web", {});
  // Events about a created, an updated and a removed workload, and about a pool that cannot be served.
  Eventually("four events about the daemon exist", [&] { return EventsAbout("web").size() >= 4; });
  bool warned = false;
  for (const Json& event : EventsAbout("web")) {
    EXPECT_TRUE(std::regex_match(StringAt(event, {"reason"}), std::regex("[A-Z][A-Za-z]+"))) << event;
    EXPECT_TRUE(std::regex_match(StringAt(event, {"action"}), std::regex("[A-Z][A-Za-z]+"))) << event;
    EXPECT_NE(StringAt(event, {"note"}), "") << event;
    EXPECT_EQ(StringAt(event, {"reportingController"}), "yurtappdaemon-operator");
    EXPECT_NE(StringAt(event, {"reportingInstance"}), "");
    EXPECT_EQ(At(event, "/regarding/uid"), UidOf(GetDaemon("web")));
    EXPECT_EQ(At(event, "/regarding/apiVersion"), "apps.openyurt.io/v1alpha1");
    if (StringAt(event, {"reason"}) == "InvalidPoolName") warned = StringAt(event, {"type"}) == "Warning";
  }
  EXPECT_TRUE(warned) << "a Warning with reason InvalidPoolName";
  EXPECT_THAT(Kubectl({"describe", "yad", "web"}), ::testing::HasSubstr("InvalidPoolName"));
}

}  // namespace
}  // namespace yad::testing
