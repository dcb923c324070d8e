#include "operator/api/yurtappdaemon.h"

#include <gtest/gtest.h>

namespace yad {
namespace {

constexpr char kStatefulSetFault[] =
    "spec.workloadTemplate.statefulSetTemplate.spec: Forbidden: updates to statefulset spec for fields other than "
    "'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
    "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

Json Deployment() {
  return Json::parse(R"({
    "metadata": {"name": "n", "namespace": "ns", "uid": "u", "generation": 4},
    "spec": {
      "selector": {"matchLabels": {"app": "x"}}, "nodepoolSelector": {},
      "workloadTemplate": {"deploymentTemplate": {
        "metadata": {"labels": {"app": "x"}},
        "spec": {"template": {"metadata": {"labels": {"app": "x"}},
                              "spec": {"containers": [{"name": "c", "image": "i:1"}]}}}}}}})");
}

Json StatefulSet() {
  Json object = Deployment();
  Json& workload = object["spec"]["workloadTemplate"];
  workload["statefulSetTemplate"] = workload["deploymentTemplate"];
  workload.erase("deploymentTemplate");
  workload["statefulSetTemplate"]["spec"]["volumeClaimTemplates"] =
      Json::parse(R"([{"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}])");
  return object;
}

std::vector<std::string> UpdateFaults(const Json& object, const Json& old_object) {
  std::vector<std::string> texts;
  for (const FieldError& error : ValidateYurtAppDaemonUpdate(object, old_object)) texts.push_back(error.ToString());
  return texts;
}

Json Changed(Json object, const std::string& pointer, Json value) {
  object[Json::json_pointer(pointer)] = std::move(value);
  return object;
}

TEST(YurtAppDaemonTest, AbsentFieldsHaveTheirDefaults) {
  const Result<YurtAppDaemon> daemon = ParseYurtAppDaemon(Deployment());
  ASSERT_TRUE(daemon.has_value()) << daemon.error().message;
  EXPECT_EQ(daemon->meta.key, (ObjectKey{"ns", "n"}));
  EXPECT_EQ(daemon->kind, WorkloadKind::kDeployment);
  EXPECT_EQ(daemon->revision_history_limit, 10);
  EXPECT_FALSE(daemon->paused);
  EXPECT_EQ(daemon->strategy.type, UpdateStrategyType::kAll);
  EXPECT_EQ(daemon->overrides, Json::array());
  EXPECT_TRUE(daemon->status.is_null());
  ASSERT_TRUE(daemon->pools.selector.has_value());
  EXPECT_TRUE(daemon->pools.selector->empty());
}

TEST(YurtAppDaemonTest, GivenFieldsAreRead) {
  Json object = StatefulSet();
  object["spec"]["revisionHistoryLimit"] = 0;
  object["spec"]["paused"] = true;
  object["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}};
  object["spec"]["overrides"] = {{{"pools", {"*"}}, {"replicas", 1}}};
  object["spec"]["nodepoolSelector"] = nullptr;
  object["spec"]["nodePools"] = {{"names", {"a", "b"}}, {"exclude", {"c"}}, {"type", "Edge"}};
  object["status"] = {{"currentRevision", "r"}};
  const Result<YurtAppDaemon> daemon = ParseYurtAppDaemon(object);
  ASSERT_TRUE(daemon.has_value()) << daemon.error().message;
  EXPECT_EQ(daemon->kind, WorkloadKind::kStatefulSet);
  EXPECT_EQ(daemon->revision_history_limit, 0);
  EXPECT_TRUE(daemon->paused);
  EXPECT_EQ(daemon->strategy.type, UpdateStrategyType::kRollingUpdate);
  EXPECT_EQ(daemon->overrides.size(), 1U);
  EXPECT_FALSE(daemon->pools.selector.has_value());
  EXPECT_EQ(daemon->pools.names, (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(daemon->pools.exclude, std::set<std::string>{"c"});
  EXPECT_EQ(daemon->pools.type, "Edge");
  EXPECT_EQ(daemon->status["currentRevision"], "r");
  EXPECT_EQ(ParseYurtAppDaemon(Json(object))->status, daemon->status);
  EXPECT_TRUE(ParseYurtAppDaemonWithoutStatus(object)->status.is_null());
  EXPECT_EQ(ParseYurtAppDaemon(Changed(Deployment(), "/spec/updateStrategy", {{"type", "OnDelete"}}))->strategy.type,
            UpdateStrategyType::kOnDelete);
}

TEST(YurtAppDaemonTest, TemplateAlwaysGetsTheDaemonsSelector) {
  const std::string own = "/spec/workloadTemplate/deploymentTemplate/spec/selector";
  for (const Json& selector : {Json(), Json::parse(R"({"matchLabels": {"other": "z"}})")}) {
    const Result<YurtAppDaemon> daemon = ParseYurtAppDaemon(Changed(Deployment(), own, selector));
    ASSERT_TRUE(daemon.has_value());
    EXPECT_EQ(daemon->workload_template["spec"]["selector"], daemon->selector);
    EXPECT_EQ(daemon->selector, Json::parse(R"({"matchLabels": {"app": "x"}})"));
    EXPECT_EQ(daemon->workload_template["metadata"]["labels"]["app"], "x");
  }
}

TEST(YurtAppDaemonTest, ErrorsAreReturnedWithTheirCauses) {
  const Result<YurtAppDaemon> daemon = ParseYurtAppDaemon(Changed(Deployment(), "/spec/revisionHistoryLimit", -1));
  ASSERT_FALSE(daemon.has_value());
  EXPECT_EQ(daemon.error().reason, Reason::kInvalid);
  ASSERT_EQ(daemon.error().causes.size(), 1U);
  EXPECT_EQ(daemon.error().causes[0].field, "spec.revisionHistoryLimit");
}

TEST(PoolSelectionTest, ExcludeOverridesNamesAndNamesOverrideSelectorAndType) {
  const NodePool edge{"edge-1", {{"region", "east"}}, "Edge", {}, std::nullopt, false, false};
  const NodePool cloud{"cloud-1", {{"region", "east"}}, "Cloud", {}, std::nullopt, false, false};
  const NodePool west{"edge-2", {{"region", "west"}}, "Edge", {}, std::nullopt, false, false};
  PoolSelection selection;
  selection.selector = *LabelSelector::Parse(Json::parse(R"({"matchLabels": {"region": "east"}})"), "");
  EXPECT_TRUE(selection.Selects(edge));
  EXPECT_TRUE(selection.Selects(cloud));
  EXPECT_FALSE(selection.Selects(west));
  selection.type = "Edge";
  EXPECT_TRUE(selection.Selects(edge));
  EXPECT_FALSE(selection.Selects(cloud));
  selection.names = {"edge-2", "cloud-1"};  // The type does not exclude named pools.
  EXPECT_TRUE(selection.Selects(west));
  EXPECT_TRUE(selection.Selects(cloud));
  selection.exclude = {"edge-1", "edge-2"};
  EXPECT_FALSE(selection.Selects(edge));
  EXPECT_FALSE(selection.Selects(west));

  PoolSelection by_name;
  by_name.names = {"edge-1"};
  EXPECT_TRUE(by_name.Selects(edge));
  EXPECT_FALSE(by_name.Selects(west));
  EXPECT_FALSE(PoolSelection().Selects(edge));
}

TEST(UpdateTest, SelectorIsImmutable) {
  EXPECT_EQ(
      UpdateFaults(Changed(Deployment(), "/spec/selector/matchLabels/app", "y"), Deployment()),
      std::vector<std::string>{"spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"y\"}}: field is immutable: "
                               "restore the old selector, or create a YurtAppDaemon with another name"});
  // The selector means the same in another notation, so it does not block the change of `paused`.
  Json same = Changed(Deployment(), "/spec/selector/matchExpressions", Json::array());
  EXPECT_TRUE(UpdateFaults(Changed(same, "/spec/paused", true), Deployment()).empty());
}

// The CRD has the same rule.
TEST(UpdateTest, InvalidSelectorIsImmutableToo) {
  for (const char* broken : {"{}", R"({"matchExpressions": [{"key": "app", "operator": "In"}]})"}) {
    EXPECT_EQ(UpdateFaults(Deployment(), Changed(Deployment(), "/spec/selector", Json::parse(broken))).size(), 1U);
  }
  EXPECT_TRUE(UpdateFaults(Deployment(), Changed(Deployment(), "/spec/selector", nullptr)).empty());
}

TEST(UpdateTest, KindCannotBeChanged) {
  EXPECT_EQ(UpdateFaults(StatefulSet(), Deployment()),
            std::vector<std::string>{"spec.workloadTemplate: Forbidden: deploymentTemplate can't be replaced by "
                                     "statefulSetTemplate: the workloads would have to be recreated. Create a new "
                                     "YurtAppDaemon instead"});
  EXPECT_EQ(UpdateFaults(Deployment(), StatefulSet()).size(), 1U);
}

TEST(UpdateTest, OnlyMutableFieldsOfAStatefulSetMayChange) {
  const std::string spec = "/spec/workloadTemplate/statefulSetTemplate/spec";
  struct Case {
    std::string pointer;
    Json value;
    bool allowed;
  };
  for (const Case& one : {
           Case{"/replicas", 3, true},
           Case{"/ordinals", {{"start", 1}}, true},
           Case{"/template/spec/containers/0/image", "i:2", true},
           Case{"/updateStrategy", {{"type", "OnDelete"}}, true},
           Case{"/revisionHistoryLimit", 3, true},
           Case{"/persistentVolumeClaimRetentionPolicy", {{"whenDeleted", "Delete"}}, true},
           Case{"/minReadySeconds", 3, true},
           Case{"/selector", {{"matchLabels", {{"app", "x"}}}}, true},
           Case{"/podManagementPolicy", "OrderedReady", true},  // the default
           Case{"/serviceName", "", true},
           Case{"/volumeClaimTemplates/0/spec/volumeMode", "Filesystem", true},
           Case{"/volumeClaimTemplates/0/apiVersion", "v1", true},
           Case{"/podManagementPolicy", "Parallel", false},
           Case{"/serviceName", "s", false},
           Case{"/volumeClaimTemplates/0/spec/volumeMode", "Block", false},
           Case{"/volumeClaimTemplates/0/spec/resources/requests/storage", "2Gi", false},
           Case{"/volumeClaimTemplates", nullptr, false},
           Case{"/somethingNew", 1, false},
       }) {
    EXPECT_EQ(UpdateFaults(Changed(StatefulSet(), spec + one.pointer, one.value), StatefulSet()),
              one.allowed ? std::vector<std::string>{} : std::vector<std::string>{kStatefulSetFault})
        << one.pointer;
  }
}

TEST(UpdateTest, EveryFieldOfADeploymentTemplateMayChange) {
  const std::string spec = "/spec/workloadTemplate/deploymentTemplate/spec";
  for (const char* field : {"/minReadySeconds", "/progressDeadlineSeconds", "/revisionHistoryLimit", "/paused"}) {
    EXPECT_TRUE(UpdateFaults(Changed(Deployment(), spec + field, 1), Deployment()).empty()) << field;
  }
}

TEST(UpdateTest, ObjectsBeingDeletedAreAlwaysAdmitted) {
  Json object = Changed(StatefulSet(), "/spec/selector/matchLabels/app", "y");
  EXPECT_FALSE(UpdateFaults(object, Deployment()).empty());
  object["metadata"]["deletionTimestamp"] = "2026-11-20T10:30:43Z";
  EXPECT_TRUE(UpdateFaults(object, Deployment()).empty());
}

TEST(UpdateTest, UnchangedSpecIsAlwaysAdmitted) {
  const std::string spec = "/spec/workloadTemplate/statefulSetTemplate/spec";
  Json object = Changed(StatefulSet(), spec + "/volumeClaimTemplates/0/status", Json::object());
  object = Changed(object, spec + "/volumeClaimTemplates/0/metadata/creationTimestamp", nullptr);
  object = Changed(object, spec + "/template/spec/securityContext", Json::object());
  object["metadata"]["labels"] = {{"new", "label"}};
  EXPECT_TRUE(UpdateFaults(object, StatefulSet()).empty());
  EXPECT_TRUE(UpdateFaults(StatefulSet(), object).empty());
}

}  // namespace
}  // namespace yad
