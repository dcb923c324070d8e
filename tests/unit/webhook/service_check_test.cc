#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/workload/service.h"
#include "tests/unit/webhook/admission.h"
#include "webhook/admission/trials.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class ServiceCheckTest : public ::testing::Test {
 protected:
  static YurtAppDaemon Daemon(const std::string& service_spec, WorkloadKind kind = WorkloadKind::kDeployment) {
    Json object = DaemonJson("app:1", kind);
    if (!service_spec.empty()) object["spec"]["serviceTemplate"]["spec"] = Json::parse(service_spec);
    if (kind == WorkloadKind::kStatefulSet) TemplateOf(object)["spec"].erase("serviceName");
    return *ParseYurtAppDaemon(object);
  }
  Findings Try(const YurtAppDaemon& wanted, const YurtAppDaemon* before = nullptr) {
    Deadline deadline(world_.clock, world_.clock.Now() + std::chrono::seconds(5));
    return TryService(wanted, before, world_.client, world_.stores(), deadline, text_);
  }

  AdmissionWorld world_;
  ByteBudget text_{kDryRunText};
};

constexpr char kHttp[] = R"({"ports": [{"port": 80}]})";
constexpr char kOther[] = R"({"ports": [{"port": 90}]})";

TEST_F(ServiceCheckTest, ANewTemplateIsTriedOnce) {
  EXPECT_THAT(Try(Daemon(kHttp)).rejections, IsEmpty());
  const auto asked = world_.TakeAsked();
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_EQ(asked[0].method + asked[0].path, "POST/api/v1/namespaces/ns/services");
  EXPECT_EQ(asked[0].dry_run, "All");
  EXPECT_EQ(asked[0].body["spec"]["selector"]["app"], "web");
}

TEST_F(ServiceCheckTest, MissingOrUnchangedTemplateSendsNoRequest) {
  const YurtAppDaemon daemon = Daemon(kHttp);
  Try(Daemon(""));
  Try(daemon, &daemon);
  EXPECT_THAT(world_.TakeAsked(), IsEmpty());
}

TEST_F(ServiceCheckTest, RejectionOfTheServerIsReportedWithThePathsInTheDaemon) {
  world_.OnAsk([](const Asked&) {
    return JsonResponse({{"kind", "Status"},
                         {"status", "Failure"},
                         {"code", 422},
                         {"reason", "Invalid"},
                         {"message", "no"},
                         {"details",
                          {{"causes",
                            {{{"field", "spec.type"}, {"reason", "FieldValueNotSupported"}, {"message", "no"}},
                             {{"field", "spec.ports[0].nodePort"},
                              {"reason", "FieldValueInvalid"},
                              {"message", "provided port is already allocated"}}}}}}},
                        422);
  });
  const Findings findings = Try(Daemon(kHttp));
  ASSERT_THAT(findings.rejections, SizeIs(1));
  EXPECT_EQ(findings.rejections[0].field, "spec.serviceTemplate.spec.type");
  EXPECT_THAT(findings.warnings, ElementsAre(StartsWith("spec.serviceTemplate.spec.ports[0].nodePort: provided port")));
  const YurtAppDaemon before = Daemon(kOther);
  EXPECT_THAT(Try(Daemon(kHttp), &before).rejections, IsEmpty()) << "the old template was also rejected";
}

TEST_F(ServiceCheckTest, DenialOfAWebhookIsAWarning) {
  for (const int code : {400, 403}) {
    world_.OnAsk([code](const Asked&) {
      return StatusResponse(code, "BadRequest", "admission webhook \"policy\" denied the request: no");
    });
    const Findings findings = Try(Daemon(kHttp));
    EXPECT_THAT(findings.rejections, IsEmpty());
    EXPECT_THAT(findings.warnings, ElementsAre("spec.serviceTemplate: the cluster forbids this Service now: "
                                               "admission webhook \"policy\" denied the request: no"));
  }
}

TEST_F(ServiceCheckTest, AnErrorIsAWarningIfTheOldTemplateHasItOrItsDryRunFails) {
  constexpr char kDenial[] = "admission webhook \"policy\" denied the request: no";
  const YurtAppDaemon before = Daemon(kOther);
  const Result<HttpResponse> rejection = InvalidResponse({{"spec.type", "FieldValueNotSupported", "no"}});
  for (const auto& [second, rejections] :
       {std::pair{rejection, 0u}, std::pair{Result<HttpResponse>(Fail(Reason::kTransport, "timed out")), 0u},
        std::pair{Result<HttpResponse>(StatusResponse(400, "BadRequest", kDenial)), 0u},
        std::pair{Result<HttpResponse>(StatusResponse(403, "Forbidden", kDenial)), 0u},
        std::pair{Result<HttpResponse>(StatusResponse(403, "Forbidden", "exceeded quota: q")), 1u},
        std::pair{Result<HttpResponse>(JsonResponse(Json::object())), 1u}}) {
    int asked = 0;
    world_.OnAsk([&, answer = second](const Asked&) { return ++asked == 1 ? rejection : answer; });
    const Findings findings = Try(Daemon(kHttp), &before);
    EXPECT_THAT(findings.rejections, SizeIs(rejections));
    EXPECT_THAT(findings.warnings, SizeIs(1 - rejections));
  }
}

TEST_F(ServiceCheckTest, ExistingServiceIsTriedWithItsMerge) {
  const YurtAppDaemon before = Daemon(kOther);
  const Json workload = {{"metadata",
                          {{"name", "web-a-xxxxx"},
                           {"namespace", "ns"},
                           {"labels", {{kPoolNameLabel, "a"}}},
                           {"ownerReferences",
                            {{{"apiVersion", kYurtAppDaemonType.ApiVersion()},
                              {"uid", kDaemonUid},
                              {"kind", "YurtAppDaemon"},
                              {"controller", true}}}}}}};
  world_.SetDeployments({workload});
  world_.OnAsk([&](const Asked& asked) {
    if (asked.method != "GET") return JsonResponse(asked.body);
    RevisionContent content;
    content.service_template = before.service_template;
    Json live = NewService(RenderService(content, "a"), before, "web-a-xxxxx");
    live["spec"]["clusterIP"] = "10.0.0.7";
    return JsonResponse(live);
  });
  Try(Daemon(kHttp), &before);
  const auto asked = world_.TakeAsked();
  ASSERT_THAT(asked, SizeIs(2));
  EXPECT_EQ(asked[1].method + asked[1].path, "PUT/api/v1/namespaces/ns/services/web-a-xxxxx");
  EXPECT_EQ(asked[1].body["spec"]["clusterIP"], "10.0.0.7");
  EXPECT_EQ(asked[1].body["spec"]["ports"][0]["port"], 80);
}

TEST_F(ServiceCheckTest, FieldsThatOnlyOnePoolCanUseAreWarnings) {
  EXPECT_THAT(ServiceTemplateWarnings(Daemon(kHttp), nullptr), IsEmpty());
  EXPECT_THAT(ServiceTemplateWarnings(
                  Daemon(R"({"clusterIP": "10.0.0.7", "ports": [{"port": 80, "nodePort": 30080}]})"), nullptr),
              ElementsAre(StartsWith("spec.serviceTemplate.spec.clusterIP: every pool's"),
                          StartsWith("spec.serviceTemplate.spec.ports[0].nodePort: every pool's")));
}

TEST_F(ServiceCheckTest, ServiceOfAStatefulSetThatIsNotHeadlessOrIsRemovedIsAWarning) {
  const YurtAppDaemon headless = Daemon(R"({"clusterIP": "None"})", WorkloadKind::kStatefulSet);
  EXPECT_THAT(ServiceTemplateWarnings(headless, nullptr), IsEmpty());
  EXPECT_THAT(ServiceTemplateWarnings(Daemon(kHttp, WorkloadKind::kStatefulSet), nullptr),
              ElementsAre(HasSubstr("is not None")));
  EXPECT_THAT(ServiceTemplateWarnings(Daemon("", WorkloadKind::kStatefulSet), &headless),
              ElementsAre(HasSubstr("lose their DNS names")));
}

}  // namespace
}  // namespace yad::testing
