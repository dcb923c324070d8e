#include "webhook/admission/capacity_validating.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/capacity/autoscaler.h"
#include "tests/unit/webhook/admission.h"

namespace yad::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kAutoscalers[] = "/apis/capacity.openyurt.io/v1alpha1/nodepoolautoscalers";
constexpr char kNodes[] = "/api/v1/nodes";

Json AutoscalerJson(const std::string& name, const std::string& pool, const Json& inventory) {
  return {{"apiVersion", "capacity.openyurt.io/v1alpha1"},
          {"kind", "NodePoolAutoscaler"},
          {"metadata", {{"name", name}}},
          {"spec", {{"nodePool", pool}, {"mode", "Auto"}, {"inventorySelector", inventory}}}};
}
Json Labels(const std::string& key, const std::string& value) { return {{"matchLabels", {{key, value}}}}; }
Json Hangzhou() { return AutoscalerJson("hangzhou", "hangzhou", Labels("spare", "hangzhou")); }

AdmissionRequest Request(const Json& object, const Json& old_object = nullptr) {
  AdmissionRequest request = old_object.is_null() ? CreateRequest(object) : UpdateRequest(object, old_object);
  request.group = kNodePoolAutoscalerType.group;
  request.resource = kNodePoolAutoscalerType.resource;
  request.kind = kNodePoolAutoscalerType.kind;
  return request;
}

class CapacityValidatingTest : public ::testing::Test {
 protected:
  CapacityValidatingTest() {
    world_.SetPoolNames({"hangzhou", "beijing"});
    world_.OnAsk([this](const Asked& asked) -> Result<HttpResponse> {
      if (asked.path == kAutoscalers) return JsonResponse({{"items", others_}});
      if (asked.path == kNodes && asked.label_selector == of_both_)
        return JsonResponse({{"items", Json::array({{{"metadata", {{"name", "n1"}}}}})}});
      return JsonResponse({{"items", Json::array()}});
    });
  }

  AdmissionResponse Validate(const Json& object, const Json& old_object = nullptr) {
    Deadline deadline(world_.clock, world_.clock.Now() + std::chrono::seconds(5));
    return ValidateCapacity(Request(object, old_object), world_.client, world_.stores().pools, deadline);
  }
  static std::string Rejection(const AdmissionResponse& answer) {
    return answer.allowed ? "" : StringAt(answer.status, {"message"});
  }

  AdmissionWorld world_;
  Json others_ = Json::array();
  std::string of_both_ = "none";  // a list of Nodes with this label selector returns Node n1
};

TEST_F(CapacityValidatingTest, ValidAutoscalerIsAdmittedWithoutWarnings) {
  const AdmissionResponse answer = Validate(Hangzhou());
  EXPECT_EQ(Rejection(answer), "");
  EXPECT_THAT(answer.warnings, IsEmpty());
}

TEST_F(CapacityValidatingTest, AllStaticErrorsAreReportedWithoutRequests) {
  Json object = Hangzhou();
  object["spec"]["minNodes"] = -1;
  object["spec"]["mode"] = "auto";
  EXPECT_THAT(Rejection(Validate(object)),
              AllOf(HasSubstr("NodePoolAutoscaler.capacity.openyurt.io \"hangzhou\" is invalid: ["),
                    HasSubstr("spec.mode: Unsupported"), HasSubstr("spec.minNodes: Invalid")));
  EXPECT_THAT(world_.TakeAsked(), IsEmpty());
}

TEST_F(CapacityValidatingTest, ASecondAutoscalerForAPoolIsRejected) {
  others_ = Json::array({AutoscalerJson("first", "hangzhou", Labels("spare", "other"))});
  EXPECT_THAT(Rejection(Validate(Hangzhou())),
              HasSubstr("spec.nodePool: Invalid value: \"hangzhou\": NodePoolAutoscaler \"first\" has this pool "
                        "already, and a pool can have only one NodePoolAutoscaler: change that object"));
  // An autoscaler does not conflict with itself.
  others_ = Json::array({Hangzhou()});
  Json object = Hangzhou();
  object["spec"]["minNodes"] = 1;
  const AdmissionResponse answer = Validate(object, Hangzhou());
  EXPECT_EQ(Rejection(answer), "");
  EXPECT_THAT(answer.warnings, IsEmpty());
}

TEST_F(CapacityValidatingTest, ThePoolCannotBeChanged) {
  Json object = Hangzhou();
  object["spec"]["nodePool"] = "beijing";
  EXPECT_THAT(Rejection(Validate(object, Hangzhou())), HasSubstr("spec.nodePool: Invalid value: \"beijing\": field is "
                                                                 "immutable"));
}

TEST_F(CapacityValidatingTest, TwoAutoscalersWithTheSameInventoryAreRejected) {
  others_ = Json::array({AutoscalerJson("other", "beijing", Labels("spare", "hangzhou"))});
  EXPECT_THAT(Rejection(Validate(Hangzhou())),
              AllOf(HasSubstr("spec.inventorySelector: Invalid value: {\"matchLabels\":{\"spare\":\"hangzhou\"}}"),
                    HasSubstr("NodePoolAutoscaler \"other\" selects the same Nodes: label the Nodes of each")));
}

TEST_F(CapacityValidatingTest, ANodeThatIsInBothInventoriesIsReported) {
  others_ = Json::array({AutoscalerJson("other", "beijing", Labels("zone", "b"))});
  of_both_ = "spare=hangzhou,zone=b";
  EXPECT_THAT(Rejection(Validate(Hangzhou())),
              HasSubstr("Node \"n1\" is in the inventory of NodePoolAutoscaler \"other\" too: label the Nodes"));
  EXPECT_THAT(world_.TakeAsked(), SizeIs(2));
}

TEST_F(CapacityValidatingTest, PossibleOverlapOfInventoriesIsAWarning) {
  others_ = Json::array({AutoscalerJson("other", "beijing", Labels("zone", "b"))});
  const AdmissionResponse answer = Validate(Hangzhou());
  EXPECT_EQ(Rejection(answer), "");
  EXPECT_THAT(answer.warnings, ElementsAre(HasSubstr(
                                   "spec.inventorySelector: a Node could be in the inventory of "
                                   "NodePoolAutoscaler \"other\" too: label the Nodes of each inventory differently")));
}

TEST_F(CapacityValidatingTest, ExclusiveInventoriesCauseNoRequestForCommonNodes) {
  others_ = Json::array({AutoscalerJson("other", "beijing", Labels("spare", "beijing"))});
  EXPECT_THAT(Validate(Hangzhou()).warnings, IsEmpty());
  EXPECT_THAT(world_.TakeAsked(), SizeIs(1));
}

TEST_F(CapacityValidatingTest, InventoryOfAllNodesIsAWarningAndOverlapsEveryOther) {
  others_ = Json::array({AutoscalerJson("other", "beijing", Labels("zone", "b"))});
  Json object = Hangzhou();
  object["spec"]["inventorySelector"] = Json::object();
  of_both_ = "zone=b";
  const AdmissionResponse answer = Validate(object);
  EXPECT_THAT(Rejection(answer), HasSubstr("Node \"n1\" is in the inventory of NodePoolAutoscaler \"other\" too"));
  EXPECT_THAT(answer.warnings, ElementsAre(HasSubstr("selects every Node that is in no pool, also those of the "
                                                     "control plane")));
}

TEST_F(CapacityValidatingTest, ModeAutoIsRejectedForAPoolWithHostNetwork) {
  Json pool = PoolJson("hangzhou");
  pool["spec"]["hostNetwork"] = true;
  world_.SetPools({pool});
  EXPECT_THAT(Rejection(Validate(Hangzhou())),
              HasSubstr("spec.mode: Invalid value: \"Auto\": pool \"hangzhou\" has spec.hostNetwork: true, and a Node "
                        "can't leave such a pool: set Manual or Drain"));
  Json manual = Hangzhou();
  manual["spec"]["mode"] = "Manual";
  EXPECT_EQ(Rejection(Validate(manual)), "");
  EXPECT_THAT(Rejection(Validate(Hangzhou(), manual)), HasSubstr("spec.mode"));
  // The old object has the same conflict, so it does not block an update of other fields.
  Json more = Hangzhou();
  more["spec"]["minNodes"] = 1;
  const AdmissionResponse answer = Validate(more, Hangzhou());
  EXPECT_EQ(Rejection(answer), "");
  EXPECT_THAT(answer.warnings, ElementsAre(HasSubstr("spec.mode: Invalid value")));
}

TEST_F(CapacityValidatingTest, MissingPoolIsAWarning) {
  world_.SetPoolNames({"beijing"});
  const AdmissionResponse answer = Validate(Hangzhou());
  EXPECT_EQ(Rejection(answer), "");
  EXPECT_THAT(answer.warnings,
              ElementsAre("spec.nodePool: NodePool \"hangzhou\" does not exist yet; the operator waits for it"));
}

TEST_F(CapacityValidatingTest, UnsyncedCacheCausesNoWarnings) {
  AdmissionWorld fresh;
  Deadline deadline(world_.clock, world_.clock.Now() + std::chrono::seconds(5));
  const AdmissionResponse answer = ValidateCapacity(Request(Hangzhou()), world_.client, fresh.stores().pools, deadline);
  EXPECT_EQ(Rejection(answer), "");
  EXPECT_THAT(answer.warnings, IsEmpty());
}

TEST_F(CapacityValidatingTest, FailedRequestIsAWarningAndNotARejection) {
  world_.OnAsk([](const Asked&) -> Result<HttpResponse> { return StatusResponse(403, "Forbidden", "not yours"); });
  const AdmissionResponse answer = Validate(Hangzhou());
  EXPECT_EQ(Rejection(answer), "");
  EXPECT_THAT(answer.warnings, ElementsAre(HasSubstr("has this pool or these Nodes: not yours")));
}

TEST_F(CapacityValidatingTest, ConflictsOfTheOldObjectAreWarnings) {
  others_ = Json::array({AutoscalerJson("other", "hangzhou", Labels("spare", "hangzhou")), Json::object()});
  Json drain = Hangzhou();
  drain["spec"]["mode"] = "Drain";
  const AdmissionResponse answer = Validate(drain, Hangzhou());
  EXPECT_EQ(Rejection(answer), "");
  EXPECT_THAT(answer.warnings, ElementsAre(HasSubstr("\"other\" has this pool"), HasSubstr("selects the same Nodes")));

  // The same is true for errors in the spec: mode Drain can be set although minNodes was invalid before.
  Json broken = Hangzhou();
  broken["spec"]["minNodes"] = -1;
  drain["spec"]["minNodes"] = -1;
  const AdmissionResponse still = Validate(drain, broken);
  EXPECT_EQ(Rejection(still), "");
  EXPECT_THAT(still.warnings, ElementsAre(HasSubstr("spec.minNodes: Invalid value: -1")));
}

TEST_F(CapacityValidatingTest, UnchangedSpecsAndDeletedObjectsAreAdmitted) {
  Json broken = Hangzhou();
  broken["spec"]["minNodes"] = -1;
  Json labelled = broken;
  labelled["metadata"]["labels"] = {{"a", "b"}};
  const AdmissionResponse answer = Validate(labelled, broken);
  EXPECT_EQ(Rejection(answer), "");
  EXPECT_THAT(answer.warnings, IsEmpty());
  Json deleted = Hangzhou();
  deleted["spec"]["minNodes"] = -1;
  deleted["metadata"]["deletionTimestamp"] = "2026-11-22T00:00:00Z";
  EXPECT_EQ(Rejection(Validate(deleted, Hangzhou())), "");
  EXPECT_THAT(world_.TakeAsked(), IsEmpty());
}

TEST_F(CapacityValidatingTest, DeeplyNestedObjectIsRejected) {
  Json object = Hangzhou();
  Json* at = &object["spec"]["inventorySelector"];
  for (int i = 0; i < 2000; ++i) at = &(*at)["x"];
  EXPECT_THAT(Rejection(Validate(object)), HasSubstr("nested too deeply"));
  EXPECT_THAT(Rejection(Validate(object, object)), HasSubstr("nested too deeply"));
}

TEST_F(CapacityValidatingTest, PassedDeadlineSendsNoRequestAndRejectsStaticErrors) {
  Deadline late(world_.clock, world_.clock.Now() - std::chrono::seconds(1));
  const auto validate = [&](const Json& object) {
    return ValidateCapacity(Request(object), world_.client, world_.stores().pools, late);
  };
  const AdmissionResponse answer = validate(Hangzhou());
  EXPECT_EQ(Rejection(answer), "");
  EXPECT_THAT(answer.warnings, ElementsAre(HasSubstr("has this pool or these Nodes: the review timed out")));
  Json faulty = Hangzhou();
  faulty["spec"]["minNodes"] = -1;
  EXPECT_THAT(Rejection(validate(faulty)), HasSubstr("spec.minNodes: Invalid"));
  EXPECT_THAT(world_.TakeAsked(), IsEmpty());
}

TEST_F(CapacityValidatingTest, AutoscalersAreReviewedOnTheirOwnPath) {
  const auto handler = MakeAdmissionHandler(world_.client, world_.stores(), world_.clock);
  const auto review = [&](const AdmissionRequest& request) {
    const HttpsReply reply = handler({"POST", std::string(kValidateCapacityPath) + "?timeout=10s", "application/json",
                                      ReviewJson(request).dump(), world_.clock.Now()});
    EXPECT_EQ(reply.status, 200);
    return Json::parse(reply.body)["response"];
  };
  EXPECT_EQ(review(Request(Hangzhou()))["allowed"], true);
  others_ = Json::array({AutoscalerJson("first", "hangzhou", Labels("spare", "other"))});
  EXPECT_EQ(review(Request(Hangzhou()))["status"]["code"], 422);
  const Json misled = review(CreateRequest(DaemonJson()));
  EXPECT_EQ(misled["status"]["code"], 400);
  EXPECT_THAT(misled["status"]["message"].get<std::string>(),
              HasSubstr("reviews NodePoolAutoscalers of capacity.openyurt.io/v1alpha1"));
}

}  // namespace
}  // namespace yad::testing
