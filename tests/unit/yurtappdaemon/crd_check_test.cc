#include "operator/yurtappdaemon/crd_check.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/fake_transport.h"

namespace yad {
namespace {

using testing::FakeTransport;

// A CRD with the schemas of two versions, of which only v1alpha1 counts.
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
  for (const std::string& name : names) properties[name] = {{"type", "string"}};
  return properties;
}

Json WholeCrd() {
  Json spec = Properties({"nodePools", "overrides", "paused", "serviceTemplate", "updateStrategy"});
  spec["workloadTemplate"] = {{"x-kubernetes-preserve-unknown-fields", true}};
  return Crd(spec, Properties({"updateRevision", "desiredPools", "updatedPools", "readyPools", "failedPools",
                               "offlinePools", "replicas", "readyReplicas", "images", "pools", "poolsTruncated"}));
}

struct Recorded : EventSink {
  void Record(const ObjectReference& regarding, EventType, const std::string& reason, const std::string&,
              const std::string& note) override {
    EXPECT_EQ(regarding.kind, "CustomResourceDefinition");
    EXPECT_EQ(regarding.uid, "u1");
    EXPECT_EQ(reason, "OutdatedCRD");
    notes.push_back(note);
  }
  std::vector<std::string> notes;
};

// A server with one CRD, or with an error.
struct Server {
  Json crd = WholeCrd();
  int status = 200;
  std::vector<std::string> paths;
  Client client{std::make_shared<FakeTransport>([this](const HttpRequest& request) -> Result<HttpResponse> {
                  paths.push_back(request.path);
                  return HttpResponse{status, {{"content-type", "application/json"}}, crd.dump()};
                }),
                {}};
};

TEST(CrdCheckTest, FieldsThatTheSchemaLacksAreNamedByTheirPath) {
  EXPECT_EQ(FieldsMissingFrom(WholeCrd()), std::vector<std::string>{});
  Json crd = WholeCrd();
  Json& schema = crd["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["properties"];
  schema["spec"]["properties"].erase("overrides");
  schema["spec"]["properties"]["workloadTemplate"] = {{"properties", {{"deploymentTemplate", Json::object()}}}};
  schema["status"]["properties"].erase("pools");
  EXPECT_EQ(FieldsMissingFrom(crd),
            (std::vector<std::string>{"spec.workloadTemplate.statefulSetTemplate", "spec.overrides", "status.pools"}));
}

TEST(CrdCheckTest, ASchemaThatPreservesUnknownFieldsLacksNone) {
  Json crd = Crd(Json::object(), Json::object());
  Json& schema = crd["spec"]["versions"][1]["schema"]["openAPIV3Schema"];
  schema["x-kubernetes-preserve-unknown-fields"] = true;
  EXPECT_EQ(FieldsMissingFrom(crd), std::vector<std::string>{});
}

TEST(CrdCheckTest, WhatIsMissingIsToldOnceAndAgainWhenItChanges) {
  Server server;
  Recorded events;
  CrdCheck check(server.client, events);
  Json& schema = server.crd["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["properties"];
  schema["spec"]["properties"].erase("paused");
  ASSERT_TRUE(check.Run({}));
  ASSERT_TRUE(check.Run({}));
  ASSERT_EQ(events.notes.size(), 1u);
  EXPECT_NE(events.notes[0].find("spec.paused. Apply the CRD"), std::string::npos) << events.notes[0];
  schema["status"]["properties"].erase("pools");
  ASSERT_TRUE(check.Run({}));
  ASSERT_EQ(events.notes.size(), 2u);
  EXPECT_NE(events.notes[1].find("spec.paused, status.pools"), std::string::npos) << events.notes[1];
  server.crd = WholeCrd();
  ASSERT_TRUE(check.Run({}));
  EXPECT_EQ(events.notes.size(), 2u);
  EXPECT_EQ(server.paths[0], "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/yurtappdaemons.apps.openyurt.io");
}

TEST(CrdCheckTest, ACrdThatMayNotBeReadIsTakenForAGoodOne) {
  Server server;
  Recorded events;
  CrdCheck check(server.client, events);
  server.crd = {{"kind", "Status"}, {"status", "Failure"}, {"reason", "Forbidden"}, {"code", 403}};
  server.status = 403;
  EXPECT_TRUE(check.Run({}));
  server.crd = {{"kind", "Status"}, {"status", "Failure"}, {"reason", "InternalError"}, {"code", 500}};
  server.status = 500;
  EXPECT_FALSE(check.Run({}));
  EXPECT_TRUE(events.notes.empty());
}

}  // namespace
}  // namespace yad
