#include "operator/workload/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/well_known.h"

namespace yad {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Json J(const std::string& text) { return Json::parse(text); }

YurtAppDaemon DaemonWithService() {
  YurtAppDaemon daemon;
  daemon.meta.key = {"ns", "web"};
  daemon.meta.uid = "u-1";
  return daemon;
}

RevisionContent ContentWithService(const std::string& service_template) {
  RevisionContent content;
  content.workload_template = J(R"({"spec":{"selector":{"matchLabels":{"app":"web"}}}})");
  content.service_template = J(service_template);
  return content;
}

Json Render(const std::string& service_template) { return RenderService(ContentWithService(service_template), "shop"); }

// Returns the Service that the server has after a write of `rendered`.
Json Live(const Json& rendered, const std::string& filled_in) {
  Json live = NewService(rendered, DaemonWithService(), "web-shop-abcde");
  live["metadata"]["resourceVersion"] = "7";
  live["spec"].merge_patch(J(filled_in));
  return live;
}

constexpr char kFilledIn[] = R"({"clusterIP":"10.0.0.7","clusterIPs":["10.0.0.7"],"type":"ClusterIP",
  "ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack","sessionAffinity":"None","internalTrafficPolicy":"Cluster",
  "ports":[{"name":"http","port":80,"protocol":"TCP","targetPort":8080}]})";
constexpr char kHttp[] = R"({"spec":{"ports":[{"name":"http","port":80,"targetPort":8080}]}})";

TEST(ServiceNameTest, EqualsTheWorkloadsNameIfThatIsValidForAService) {
  EXPECT_EQ(ServiceName("web-shop-b4xk9"), "web-shop-b4xk9");
}

TEST(ServiceNameTest, InvalidNamesOfWorkloadsAreAdapted) {
  EXPECT_EQ(ServiceName("2web-shop-b4xk9"), "s-2web-shop-b4xk9");
  EXPECT_EQ(ServiceName("web.eu-shop.1-b4xk9"), "web-eu-shop-1-b4xk9");
  const std::string longest = "9" + std::string(56, 'a') + "-b4xk9";
  EXPECT_THAT(ServiceName(longest), AllOf(StartsWith("s-9aaa"), EndsWith("-b4xk9")));
  EXPECT_EQ(ServiceName(longest).size(), 63U);
}

TEST(RenderServiceTest, SelectsOnlyThePodsOfThePool) {
  const Json service = Render(R"({"metadata":{"labels":{"a":"b"},"annotations":{"dns":"{{nodepool-name}}.example"}},
                                  "spec":{"ports":[{"port":80}],"selector":{"role":"front"},"newField":{"x":1}}})");
  EXPECT_EQ(service, J(R"({"metadata":{"labels":{"a":"b","apps.openyurt.io/pool-name":"shop"},
                            "annotations":{"dns":"shop.example","apps.openyurt.io/ref-nodepool":"shop"}},
                           "spec":{"ports":[{"port":80}],"newField":{"x":1},
                            "selector":{"app":"web","role":"front","apps.openyurt.io/pool-name":"shop"}}})"));
}

TEST(RenderServiceTest, ServiceIsNotRenderedWithoutATemplate) { EXPECT_TRUE(Render("null").is_null()); }

TEST(RenderServiceTest, AnExpressionWithOneValueBecomesALabel) {
  RevisionContent content = ContentWithService(kHttp);
  content.workload_template["spec"]["selector"] =
      J(R"({"matchExpressions":[{"key":"app","operator":"In","values":["web"]}]})");
  EXPECT_EQ(RenderService(content, "shop")["spec"]["selector"]["app"], "web");
}

TEST(MergeServiceTest, FieldsThatTheServerFillsInAreKeptWithoutAWrite) {
  const Json rendered = Render(kHttp);
  const Json live = Live(rendered, kFilledIn);
  EXPECT_EQ(MergeService(rendered, DaemonWithService(), live), live);
  EXPECT_FALSE(IsAnotherService(rendered, live));
}

TEST(MergeServiceTest, DriftIsRevertedAndFieldsOfOthersAreKept) {
  const Json rendered = Render(kHttp);
  const Json live = Live(rendered, kFilledIn);
  Json changed = live;
  changed["spec"]["selector"] = {{"app", "other"}};
  changed["spec"]["ports"][0]["targetPort"] = 1;
  changed["spec"]["ports"].push_back({{"port", 99}, {"protocol", "TCP"}, {"targetPort", 99}, {"name", "x"}});
  changed["metadata"]["labels"].erase(kPoolNameLabel);
  changed["metadata"]["ownerReferences"] = Json::array();
  changed["metadata"]["annotations"]["cloud"] = "lb-1";
  changed["spec"]["externalIPs"] = {"1.2.3.4"};
  Json expected = live;
  expected["metadata"]["annotations"]["cloud"] = "lb-1";
  expected["spec"]["externalIPs"] = {"1.2.3.4"};
  EXPECT_EQ(MergeService(rendered, DaemonWithService(), changed), expected);
}

TEST(MergeServiceTest, PortsBecomeExactlyThoseOfTheTemplateAndKeepTheirNodePort) {
  const Json before = Render(R"({"spec":{"type":"NodePort","ports":[{"name":"a","port":80},{"name":"b","port":90}]}})");
  const Json live = Live(before, R"({"type":"NodePort","clusterIP":"10.0.0.7","ports":[
      {"name":"a","port":80,"protocol":"TCP","targetPort":80,"nodePort":30001},
      {"name":"b","port":90,"protocol":"TCP","targetPort":90,"nodePort":30002}]})");
  const Json now = Render(R"({"spec":{"type":"NodePort","ports":[
      {"name":"u","port":80,"protocol":"UDP"},{"name":"http","port":80,"targetPort":"web"}]}})");
  EXPECT_TRUE(IsAnotherService(now, live));
  const Json merged = MergeService(now, DaemonWithService(), live);
  EXPECT_EQ(merged["spec"]["ports"], J(R"([{"name":"u","port":80,"protocol":"UDP","targetPort":80},
      {"name":"http","port":80,"protocol":"TCP","targetPort":"web","nodePort":30001}])"));
  EXPECT_EQ(MergeService(now, DaemonWithService(), merged), merged);
}

TEST(MergeServiceTest, FieldsThatTheTemplateDropsAreRemoved) {
  const Json before = Render(R"({"metadata":{"annotations":{"mine":"1"}},
      "spec":{"sessionAffinity":"ClientIP","externalIPs":["1.2.3.4"],"ports":[{"name":"http","port":80,"targetPort":8080}]}})");
  Json live = Live(before, kFilledIn);
  live["spec"]["sessionAffinity"] = "ClientIP";
  live["spec"]["sessionAffinityConfig"] = J(R"({"clientIP":{"timeoutSeconds":10800}})");
  const Json merged = MergeService(Render(kHttp), DaemonWithService(), live);
  EXPECT_FALSE(merged["spec"].contains("sessionAffinity")) << merged;
  EXPECT_FALSE(merged["spec"].contains("sessionAffinityConfig")) << merged;
  EXPECT_FALSE(merged["spec"].contains("externalIPs")) << merged;
  EXPECT_FALSE(merged["metadata"]["annotations"].contains("mine")) << merged;
  EXPECT_EQ(merged["spec"]["clusterIP"], "10.0.0.7");
}

TEST(MergeServiceTest, NewTypeRemovesFieldsThatItMayNotHave) {
  const Json before =
      Render(R"({"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local","ports":[{"port":80}]}})");
  const Json live = Live(before, R"({"clusterIP":"10.0.0.7","allocateLoadBalancerNodePorts":true,
      "healthCheckNodePort":30009,"ports":[{"port":80,"protocol":"TCP","targetPort":80,"nodePort":30001}]})");
  const Json merged = MergeService(Render(R"({"spec":{"ports":[{"port":80}]}})"), DaemonWithService(), live);
  for (const char* gone : {"type", "externalTrafficPolicy", "allocateLoadBalancerNodePorts", "healthCheckNodePort"}) {
    EXPECT_FALSE(merged["spec"].contains(gone)) << gone;
  }
  EXPECT_EQ(merged["spec"]["ports"], J(R"([{"port":80,"protocol":"TCP","targetPort":80}])"));
  EXPECT_EQ(merged["spec"]["clusterIP"], "10.0.0.7");
}

TEST(MergeServiceTest, ResetsTheTypeToTheServersDefaultWhenItBecomesEmpty) {
  const Json before = Render(R"({"spec":{"type":"NodePort","sessionAffinity":"ClientIP","ports":[{"port":80}]}})");
  const Json live = Live(before, R"({"type":"NodePort","clusterIP":"10.0.0.7","clusterIPs":["10.0.0.7"],
      "sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":10800}},
      "externalTrafficPolicy":"Cluster","ports":[{"port":80,"protocol":"TCP","targetPort":80,"nodePort":30001}]})");
  const Json now =
      Render(R"({"spec":{"type":"","sessionAffinity":"","clusterIP":"","clusterIPs":[],"ports":[{"port":80}]}})");
  const Json merged = MergeService(now, DaemonWithService(), live);
  EXPECT_FALSE(merged["spec"].contains("type")) << merged;
  EXPECT_FALSE(merged["spec"].contains("sessionAffinity"));
  EXPECT_FALSE(merged["spec"].contains("sessionAffinityConfig"));
  EXPECT_FALSE(merged["spec"]["ports"][0].contains("nodePort"));
  EXPECT_EQ(merged["spec"]["clusterIP"], "10.0.0.7") << "the server has allocated this address";
  EXPECT_EQ(merged["spec"]["clusterIPs"], J(R"(["10.0.0.7"])"));
}

TEST(MergeServiceTest, KeepsAForeignTypeAndItsNodePortsIfTheTemplatesTypeIsEmpty) {
  const Json rendered = Render(R"({"spec":{"type":"","ports":[{"port":80}]}})");
  const Json live = Live(rendered, R"({"type":"NodePort","clusterIP":"10.0.0.7","externalTrafficPolicy":"Cluster",
      "ports":[{"port":80,"protocol":"TCP","targetPort":80,"nodePort":30001}]})");
  EXPECT_EQ(MergeService(rendered, DaemonWithService(), live), live);
}

TEST(MergeServiceTest, IpFamilyThatTheServerAddsIsNotADifference) {
  const Json rendered =
      Render(R"({"spec":{"ipFamilyPolicy":"PreferDualStack","ipFamilies":["IPv4"],"ports":[{"port":80}]}})");
  const Json live = Live(rendered, R"({"clusterIP":"10.0.0.7","ipFamilies":["IPv4","IPv6"],
      "ports":[{"port":80,"protocol":"TCP","targetPort":80}]})");
  EXPECT_EQ(MergeService(rendered, DaemonWithService(), live), live);
}

TEST(MergeServiceTest, MalformedRecordIsReplaced) {
  const Json rendered = Render(kHttp);
  const Json live = Live(rendered, kFilledIn);
  for (const char* text : {"", "{", "[]", "7"}) {
    Json changed = live;
    changed["metadata"]["annotations"][kLastRenderedAnnotation] = text;
    EXPECT_EQ(MergeService(rendered, DaemonWithService(), changed), live) << text;
  }
}

TEST(CompareServicesTest, ANewServiceTemplateIsADifferenceOfTheServiceOnly) {
  const Json a = J(R"({"spec":{"replicas":1}})");
  const Json b = J(R"({"spec":{"replicas":2}})");
  const RevisionContent without = ContentWithService("null");
  const RevisionContent with = ContentWithService(kHttp);
  EXPECT_EQ(Compare(with, a, with, a), Difference::kNone);
  EXPECT_EQ(Compare(with, a, with, b), Difference::kReplicasOnly);
  EXPECT_EQ(Compare(without, a, with, a), Difference::kServiceOnly);
  EXPECT_EQ(Compare(with, a, without, b), Difference::kServiceOnly);
  EXPECT_EQ(Compare(with, a, without, J(R"({"spec":{"replicas":1,"template":{"x":1}}})")), Difference::kPodTemplate);
}

}  // namespace
}  // namespace yad
