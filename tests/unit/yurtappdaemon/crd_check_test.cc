#include "operator/yurtappdaemon/crd_check.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/support/process.h"
#include "tests/support/yaml.h"

namespace yad {
namespace {

using testing::FakeTransport;
using testing::ParseYaml;
using testing::ReadFile;

Json ShippedCrd() { return ParseYaml(ReadFile(YAD_CRDS "/apps.openyurt.io_yurtappdaemons.yaml")).at(0); }
Json& SchemaOf(Json& crd) { return crd.at("spec").at("versions").at(0).at("schema").at("openAPIV3Schema"); }

// The fields that the CRD has in every version of OpenYurt.
const std::set<std::string> kOfEveryOpenYurt = {
    "spec.selector",
    "spec.workloadTemplate",
    "spec.workloadTemplate.deploymentTemplate",
    "spec.workloadTemplate.deploymentTemplate.metadata",
    "spec.workloadTemplate.deploymentTemplate.spec",
    "spec.nodepoolSelector",
    "spec.revisionHistoryLimit",
    "status.observedGeneration",
    "status.collisionCount",
    "status.currentRevision",
    "status.templateType",
    "status.overriderRef",  // no program reads or writes this field
    "status.nodepools",
    "status.conditions",
    "status.conditions.type",
    "status.conditions.status",
    "status.conditions.lastTransitionTime",
    "status.conditions.reason",
    "status.conditions.message",
};

// Calls `visit` with the path of each field below `schema`. A label selector counts as one field.
void ForEachField(const Json& schema, const std::string& path,
                  const std::function<void(const std::string& path)>& visit) {
  if (schema.value("x-kubernetes-map-type", "") == "atomic") return;
  const Json& object = schema.contains("items") ? schema.at("items") : schema;
  if (!object.contains("properties")) return;
  for (const auto& [name, field] : object.at("properties").items()) {
    visit(path + "." + name);
    ForEachField(field, path + "." + name, visit);
  }
}

void EraseField(Json& schema, std::string_view path) {
  Json& properties = (schema.contains("items") ? schema.at("items") : schema).at("properties");
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) {
    properties.erase(std::string(path));
  } else {
    EraseField(properties.at(std::string(path.substr(0, dot))), path.substr(dot + 1));
  }
}

// Finds the paths of the arrays below `schema` that have no merge rule for server-side apply.
void FindUntypedLists(const Json& schema, const std::string& path, std::vector<std::string>& found) {
  if (schema.value("type", "") == "array" && !schema.contains("x-kubernetes-list-type")) found.push_back(path);
  if (schema.contains("items")) FindUntypedLists(schema.at("items"), path, found);
  if (!schema.contains("properties")) return;
  for (const auto& [name, field] : schema.at("properties").items()) FindUntypedLists(field, path + "." + name, found);
}

// Returns a CRD with two versions. The operator checks only the schema of v1alpha1.
Json Crd(const Json& spec_properties, const Json& status_properties) {
  const Json schema = {
      {"properties", {{"spec", {{"properties", spec_properties}}}, {"status", {{"properties", status_properties}}}}}};
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "yurtappdaemons.apps.openyurt.io"}, {"uid", "u1"}, {"resourceVersion", "7"}}},
          {"spec",
           {{"versions",
             {{{"name", "v1alpha0"}, {"schema", {{"openAPIV3Schema", Json::object()}}}},
              {{"name", "v1alpha1"}, {"schema", {{"openAPIV3Schema", schema}}}}}}}}};
}

Json Properties(const std::vector<std::string>& names) {
  Json properties = Json::object();
  for (const std::string& name : names) properties[name] = {{"x-kubernetes-preserve-unknown-fields", true}};
  return properties;
}

// Returns a CRD that is complete, because these properties preserve unknown fields.
Json WholeCrd() {
  const Json spec =
      Properties({"nodePools", "overrides", "paused", "serviceTemplate", "updateStrategy", "workloadTemplate"});
  return Crd(spec, Properties({"updateRevision", "completedRevision", "begunGroups", "desiredPools", "updatedPools",
                               "readyPools", "failedPools", "offlinePools", "replicas", "readyReplicas", "images",
                               "workloadSummary", "pools", "poolsTruncated", "conditions"}));
}

struct Recorded : EventSink {
  void Record(const ObjectReference& regarding, EventType, const std::string& reason, const std::string&,
              const std::string& note) override {
    EXPECT_EQ(regarding.kind, kind);
    EXPECT_EQ(regarding.uid, "u1");
    EXPECT_EQ(reason, "OutdatedCRD");
    notes.push_back(note);
  }
  std::string kind = "CustomResourceDefinition";
  std::vector<std::string> notes;
};

// A server that responds to each request with one CRD, or with an error.
struct Server {
  Json crd = WholeCrd();
  int status = 200;
  std::vector<std::string> paths;
  Recorded daemon_events;
  Client client{std::make_shared<FakeTransport>([this](const HttpRequest& request) -> Result<HttpResponse> {
                  paths.push_back(request.path);
                  return HttpResponse{status, {{"content-type", "application/json"}}, crd.dump()};
                }),
                {}};
};

TEST(CrdCheckTest, FieldsThatTheSchemaLacksAreReportedWithTheirPath) {
  EXPECT_EQ(FieldsMissingFrom(WholeCrd()), std::vector<std::string>{});
  Json crd = WholeCrd();
  Json& schema = crd["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["properties"];
  schema["spec"]["properties"].erase("overrides");
  schema["spec"]["properties"]["workloadTemplate"] = {{"properties", {{"deploymentTemplate", Json::object()}}}};
  schema["status"]["properties"].erase("pools");
  EXPECT_EQ(FieldsMissingFrom(crd),
            (std::vector<std::string>{"spec.workloadTemplate.statefulSetTemplate", "spec.overrides", "status.pools"}));
}

TEST(CrdCheckTest, EveryOwnFieldThatTheCrdLacksIsReported) {
  const Json whole = ShippedCrd();
  EXPECT_EQ(FieldsMissingFrom(whole), std::vector<std::string>{});
  int fields = 0;
  for (const char* root : {"spec", "status"}) {
    Json crd = whole;
    ForEachField(SchemaOf(crd).at("properties").at(root), root, [&](const std::string& path) {
      if (kOfEveryOpenYurt.contains(path)) return;
      Json older = whole;
      EraseField(SchemaOf(older), path);
      EXPECT_EQ(FieldsMissingFrom(older), std::vector<std::string>{path});
      ++fields;
    });
  }
  EXPECT_GT(fields, 60);
}

// Calls ConfirmSpecIsComplete with a daemon of this generation and spec.
Status Confirm(Server& server, KnownSpec& known, int generation, const Json& spec, const std::string& label = "") {
  const Json daemon = {
      {"metadata", {{"name", "web"}, {"uid", "u1"}, {"generation", generation}, {"labels", {{"l", label}}}}},
      {"spec", spec}};
  server.daemon_events.kind = "YurtAppDaemon";
  return ConfirmSpecIsComplete(server.client, server.daemon_events, StoredObject(daemon, nullptr), daemon, known, {});
}

TEST(ConfirmSpecIsCompleteTest, SpecThatShrinksWithoutANewGenerationIsRejectedIfTheCrdLacksFields) {
  Server server;
  KnownSpec known;
  const Json whole = {{"overrides", Json::array()}, {"revisionHistoryLimit", 1}};
  const Json pruned = {{"revisionHistoryLimit", 1}};
  ASSERT_TRUE(Confirm(server, known, 1, whole));
  server.crd["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"].erase("overrides");
  for (int i = 0; i < 2; ++i) {
    const Status rejected = Confirm(server, known, 1, pruned);
    ASSERT_FALSE(rejected);
    EXPECT_NE(rejected.error().message.find("lacks these fields: spec.overrides"), std::string::npos)
        << rejected.error().message;
    EXPECT_EQ(server.daemon_events.notes, std::vector<std::string>{rejected.error().message});
  }
  server.crd = WholeCrd();
  EXPECT_FALSE(Confirm(server, known, 1, pruned)) << "the field of the daemon is still lost";
  EXPECT_TRUE(Confirm(server, known, 1, whole));
  EXPECT_TRUE(Confirm(server, known, 2, pruned)) << "a user has edited the spec";
  EXPECT_EQ(server.paths.size(), 1U);
  server.status = 403;
  EXPECT_TRUE(Confirm(server, known, 2, whole)) << "the operator has no permission to read the CRD";
}

TEST(ConfirmSpecIsCompleteTest, SpecThatChangesWithoutANewGenerationIsAcceptedIfTheCrdIsComplete) {
  Server server;
  KnownSpec known;
  ASSERT_TRUE(Confirm(server, known, 1, {{"revisionHistoryLimit", 1}}));
  EXPECT_TRUE(Confirm(server, known, 1, {{"revisionHistoryLimit", 1}, {"paused", false}})) << "a new default";
  EXPECT_EQ(server.paths.size(), 1U);
  EXPECT_TRUE(server.daemon_events.notes.empty());
}

TEST(ConfirmSpecIsCompleteTest, OtherChangesCauseNoRequest) {
  Server server;
  KnownSpec known;
  const Json spec = {{"revisionHistoryLimit", 1}};
  ASSERT_TRUE(Confirm(server, known, 1, spec));
  EXPECT_TRUE(Confirm(server, known, 1, spec, "a"));
  EXPECT_TRUE(Confirm(server, known, 2, {{"revisionHistoryLimit", 2}}));
  EXPECT_TRUE(server.paths.empty());
}

TEST(CrdSchemaTest, EveryListHasAListType) {
  int crds = 0;
  for (const auto& file : std::filesystem::directory_iterator(YAD_CRDS)) {
    Json crd = ParseYaml(ReadFile(file.path())).at(0);
    std::vector<std::string> found;
    FindUntypedLists(SchemaOf(crd), file.path().filename(), found);
    EXPECT_EQ(found, std::vector<std::string>{});
    ++crds;
  }
  EXPECT_EQ(crds, 3);
}

TEST(CrdSchemaTest, PoolsAndConditionsAreListMaps) {
  Json crd = ShippedCrd();
  const Json& status = SchemaOf(crd).at("properties").at("status").at("properties");
  EXPECT_EQ(status.at("pools").value("x-kubernetes-list-map-keys", Json()), Json({"name"}));
  EXPECT_EQ(status.at("conditions").value("x-kubernetes-list-map-keys", Json()), Json({"type"}));
}

// The webhook also enforces the limits of windows and checks, but only the apiserver enforces the limit of groups.
TEST(CrdSchemaTest, GroupsWindowsAndChecksAreLimited) {
  Json crd = ShippedCrd();
  const Json& rolling =
      SchemaOf(crd).at("/properties/spec/properties/updateStrategy/properties/rollingUpdate"_json_pointer);
  for (const auto& [list, limit] : {std::pair("groups", 20), std::pair("windows", 20), std::pair("checks", 10)})
    EXPECT_EQ(rolling.at("properties").at(list).at("maxItems"), limit) << list;
}

TEST(CrdCheckTest, ASchemaThatPreservesUnknownFieldsLacksNoField) {
  Json crd = Crd(Json::object(), Json::object());
  Json& schema = crd["spec"]["versions"][1]["schema"]["openAPIV3Schema"];
  schema["x-kubernetes-preserve-unknown-fields"] = true;
  EXPECT_EQ(FieldsMissingFrom(crd), std::vector<std::string>{});
}

TEST(CrdCheckTest, ReportsMissingFieldsOnceAndAgainWhenTheyChange) {
  Server server;
  Recorded events;
  CrdCheck check(server.client, events);
  Json& schema = server.crd["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["properties"];
  schema["spec"]["properties"].erase("paused");
  ASSERT_TRUE(check.Check({}));
  ASSERT_TRUE(check.Check({}));
  ASSERT_EQ(events.notes.size(), 1u);
  EXPECT_NE(events.notes[0].find("spec.paused. Apply the CRD"), std::string::npos) << events.notes[0];
  schema["status"]["properties"].erase("pools");
  ASSERT_TRUE(check.Check({}));
  ASSERT_EQ(events.notes.size(), 2u);
  EXPECT_NE(events.notes[1].find("spec.paused, status.pools"), std::string::npos) << events.notes[1];
  server.crd = WholeCrd();
  ASSERT_TRUE(check.Check({}));
  EXPECT_EQ(events.notes.size(), 2u);
  EXPECT_EQ(server.paths[0], "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/yurtappdaemons.apps.openyurt.io");
}

TEST(CrdCheckTest, CallbackIsCalledWhenTheMissingFieldsChange) {
  Server server;
  Recorded events;
  const auto missing = std::make_shared<MissingFields>();
  std::vector<std::string> found;
  CrdCheck check(server.client, events, Clock::Real(), missing,
                 [&] { found.push_back(missing->With([](const auto& known) { return known.value_or("unknown"); })); });
  ASSERT_TRUE(check.Check({}));
  ASSERT_TRUE(check.Check({}));
  EXPECT_EQ(missing->With([](const auto& known) { return known; }), "");
  server.crd["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"].erase("paused");
  ASSERT_TRUE(check.Check({}));
  ASSERT_TRUE(check.Check({}));
  server.crd = WholeCrd();
  ASSERT_TRUE(check.Check({}));
  EXPECT_EQ(found, (std::vector<std::string>{"spec.paused", ""}));
}

TEST(CrdCheckTest, CallbackIsCalledIfTheFirstCheckFindsMissingFields) {
  Server server;
  Recorded events;
  server.crd["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"].erase("paused");
  int calls = 0;
  CrdCheck check(server.client, events, Clock::Real(), std::make_shared<MissingFields>(), [&] { ++calls; });
  ASSERT_TRUE(check.Check({}));
  EXPECT_EQ(calls, 1);
}

TEST(CrdCheckTest, CrdThatCannotBeReadCountsAsComplete) {
  Server server;
  Recorded events;
  const auto missing = std::make_shared<MissingFields>();
  CrdCheck check(server.client, events, Clock::Real(), missing, [] { FAIL() << "the callback must not be called"; });
  server.crd = {{"kind", "Status"}, {"status", "Failure"}, {"reason", "Forbidden"}, {"code", 403}};
  server.status = 403;
  EXPECT_TRUE(check.Check({}));
  server.crd = {{"kind", "Status"}, {"status", "Failure"}, {"reason", "InternalError"}, {"code", 500}};
  server.status = 500;
  EXPECT_FALSE(check.Check({}));
  EXPECT_FALSE(missing->With([](const auto& known) { return known; }));
  EXPECT_TRUE(events.notes.empty());
}

TEST(CrdCheckTest, RepeatsTheCheckEveryTenMinutesAlsoAfterAFailure) {
  Server server;
  Recorded events;
  FakeClock clock;
  CrdCheck check(server.client, events, clock);
  server.crd = {{"kind", "Status"}, {"status", "Failure"}, {"reason", "InternalError"}, {"code", 500}};
  server.status = 500;
  std::jthread thread([&](const std::stop_token& stop) { EXPECT_TRUE(check.Run(stop)); });
  for (int i = 0; i < 2; ++i) {
    while (clock.NextDeadline() != Duration(std::chrono::minutes(10))) std::this_thread::yield();
    clock.Advance(std::chrono::minutes(10));
  }
  while (clock.NextDeadline() != Duration(std::chrono::minutes(10))) std::this_thread::yield();
  thread.request_stop();
  thread.join();
  EXPECT_EQ(server.paths.size(), 3U);
}

}  // namespace
}  // namespace yad
