#include "webhook/admission/admission_review.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "operator/api/field_error.h"
#include "operator/client/transport/base64.h"

namespace yad {
namespace {

// Returns a review as kube-apiserver sends it.
Json Review() {
  return R"({
    "kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1",
    "request": {
      "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
      "kind": {"group": "apps.openyurt.io", "version": "v1alpha1", "kind": "YurtAppDaemon"},
      "resource": {"group": "apps.openyurt.io", "version": "v1alpha1", "resource": "yurtappdaemons"},
      "requestKind": {"group": "apps.openyurt.io", "version": "v1alpha1", "kind": "YurtAppDaemon"},
      "name": "web", "namespace": "shop", "operation": "UPDATE",
      "userInfo": {"username": "admin", "groups": ["system:authenticated"]},
      "object": {"spec": {"a": 1}}, "oldObject": {"spec": {"a": 2}}, "dryRun": true,
      "options": {"kind": "UpdateOptions", "apiVersion": "meta.k8s.io/v1"}
    }})"_json;
}

Json Answered(const AdmissionResponse& answer) { return Json::parse(MakeAdmissionReview("the-uid", answer)); }

TEST(AdmissionReviewTest, ReadsTheReviewOfAnApiserver) {
  const auto request = ParseAdmissionReview(Review().dump());
  ASSERT_TRUE(request) << request.error().ToString();
  EXPECT_EQ(request->uid, "705ab4f5-6393-11e8-b7cc-42010a800002");
  EXPECT_EQ(request->operation, "UPDATE");
  EXPECT_EQ(request->group, "apps.openyurt.io");
  EXPECT_EQ(request->version, "v1alpha1");
  EXPECT_EQ(request->kind, "YurtAppDaemon");
  EXPECT_EQ(request->resource, "yurtappdaemons");
  EXPECT_EQ(request->subresource, "");
  EXPECT_EQ(request->key, (ObjectKey{"shop", "web"}));
  EXPECT_TRUE(request->dry_run);
  EXPECT_EQ(request->object, R"({"spec": {"a": 1}})"_json);
  EXPECT_EQ(request->old_object, R"({"spec": {"a": 2}})"_json);
}

TEST(AdmissionReviewTest, AbsentObjectsAndNamesAreEmpty) {
  Json review = Review();
  for (const char* key : {"name", "object", "dryRun"}) review["request"].erase(key);
  review["request"]["oldObject"] = nullptr;
  review["request"]["subResource"] = "status";
  const auto request = ParseAdmissionReview(review.dump());
  ASSERT_TRUE(request) << request.error().ToString();
  EXPECT_EQ(request->key, (ObjectKey{"shop", ""}));
  EXPECT_EQ(request->subresource, "status");
  EXPECT_FALSE(request->dry_run);
  EXPECT_TRUE(request->object.is_null());
  EXPECT_TRUE(request->old_object.is_null());
}

TEST(AdmissionReviewTest, InvalidReviewIsRejectedWithItsError) {
  const auto error = [](const std::string& body) {
    const auto request = ParseAdmissionReview(body);
    return request ? Error{Reason::kUnknown, "no error", 0, {}, {}} : request.error();
  };
  EXPECT_EQ(error("").reason, Reason::kDecode);
  EXPECT_EQ(error("{\"kind\": ").reason, Reason::kDecode);
  EXPECT_EQ(error("\xff\xfe").reason, Reason::kDecode);
  EXPECT_EQ(error(std::string(200'000, '[')).reason, Reason::kDecode);
  const auto bad = [&](const std::string& body) {
    const Error found = error(body);
    EXPECT_EQ(found.reason, Reason::kBadRequest) << body;
    return found.message;
  };
  const std::string wanted = "the body must be an AdmissionReview of admission.k8s.io/v1 with a request";
  EXPECT_EQ(bad("[]"), wanted);
  EXPECT_EQ(bad("null"), wanted);
  EXPECT_EQ(bad("{}"), wanted);
  Json review = Review();
  review["apiVersion"] = "admission.k8s.io/v1beta1";
  EXPECT_EQ(bad(review.dump()), wanted);
  review = Review();
  review["kind"] = "Pod";
  EXPECT_EQ(bad(review.dump()), wanted);
  review = Review();
  review.erase("request");
  EXPECT_EQ(bad(review.dump()), wanted);
  review["request"] = {1, 2};
  EXPECT_EQ(bad(review.dump()), wanted);
  const std::string values = "the body has more than 330000 values";
  for (const char* value : {"1,", "[],", "{\"\":"}) {
    std::string body;
    for (int i = 0; i < 330'001; ++i) body += value;
    const Error found = error("{\"a\":[" + body);
    EXPECT_EQ(found.message, values) << value;
  }
  review = Review();
  review["request"]["uid"] = 7;
  EXPECT_EQ(bad(review.dump()), "request.uid is missing");
}

TEST(AdmissionReviewTest, FieldsLongerThan253BytesAreRejected) {
  for (const char* part :
       {"/uid", "/kind/group", "/kind/version", "/kind/kind", "/resource/resource", "/subResource"}) {
    const Json::json_pointer place("/request" + std::string(part));
    Json review = Review();
    review[place] = std::string(253, 'x');
    EXPECT_TRUE(ParseAdmissionReview(review.dump())) << part;
    review[place] = std::string(254, 'x');
    const auto request = ParseAdmissionReview(review.dump());
    ASSERT_FALSE(request) << part;
    EXPECT_EQ(request.error().reason, Reason::kBadRequest);
    std::string name = "request" + std::string(part);
    std::replace(name.begin(), name.end(), '/', '.');
    EXPECT_EQ(request.error().message, name + " is longer than 253 bytes");
  }
}

bool IsRead(const char* operation, const Json& object, const Json& old_object = nullptr) {
  Json review = Review();
  review["request"]["operation"] = operation;
  review["request"]["object"] = object;
  if (!old_object.is_null()) review["request"]["oldObject"] = old_object;
  return ParseAdmissionReview(review.dump()).has_value();
}

TEST(AdmissionReviewTest, ObjectMayHaveFewerThanHalfOfTheValuesOfAReview) {
  const Json most = {{"list", std::vector<Json>(129'000 / 2, Json{{"", 1}})}};
  for (const char* operation : {"CREATE", "UPDATE"}) {
    EXPECT_FALSE(IsRead(operation, {{"list", std::vector<int>(130'000, 1)}}))
        << "a user could not update a larger object";
    EXPECT_FALSE(IsRead(operation, {{"deeper", {{"list", std::vector<Json>(131'000 / 2, Json::object())}}}}));
    EXPECT_TRUE(IsRead(operation, most));
  }
  EXPECT_TRUE(IsRead("UPDATE", Json::object(), {{"list", std::vector<int>(290'000, 1)}}))
      << "a user must be able to make the object smaller";
  EXPECT_TRUE(IsRead("CREATE", {{"text", "\\\"" + std::string(300'000, ',')}})) << "the string is one value";
}

TEST(AdmissionReviewTest, ObjectWithALargeStatusCanBeUpdatedAndALargerOneCanBeDeleted) {
  const Json created = {{"metadata", {{"name", "web"}}}, {"spec", std::vector<int>(129'990, 1)}};
  ASSERT_TRUE(IsRead("CREATE", created));
  Json grown = created;
  const Json entry = std::map<std::string, int>{{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 1}};
  grown["status"]["pools"] = std::vector<Json>(1'400, entry);
  ASSERT_TRUE(IsRead("UPDATE", grown, grown)) << "users do not write status";
  // The operator's writes of the status also add to managedFields.
  grown["metadata"]["managedFields"] = {{{"subresource", "status"}, {"fieldsV1", std::vector<Json>(2'500, entry)}}};
  ASSERT_TRUE(IsRead("UPDATE", grown, grown)) << "users do not write status";
  grown["metadata"]["managedFields"].push_back({{"fieldsV1", entry}});
  EXPECT_FALSE(IsRead("UPDATE", grown, grown));
  grown["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  Json gone = grown;
  gone["metadata"]["finalizers"] = Json::array();
  grown["metadata"]["finalizers"] = {"foregroundDeletion"};
  EXPECT_TRUE(IsRead("UPDATE", gone, grown)) << "otherwise, the finalizer could not be removed";
}

TEST(AdmissionReviewTest, AnAllowingResponseHasNoOtherFields) {
  const Json empty_patch = Json::array();
  for (const Json& patch : {Json(), empty_patch}) {
    AdmissionResponse answer;
    answer.patch = patch;
    EXPECT_EQ(Answered(answer), R"({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                                    "response": {"uid": "the-uid", "allowed": true}})"_json);
  }
}

TEST(AdmissionReviewTest, PatchIsBase64OfItsText) {
  AdmissionResponse answer;
  answer.patch = R"([{"op": "add", "path": "/spec/revisionHistoryLimit", "value": 10}])"_json;
  const Json response = Answered(answer)["response"];
  EXPECT_EQ(response["patchType"], "JSONPatch");
  EXPECT_EQ(Json::parse(Base64Decode(response["patch"].get<std::string>()).value()), answer.patch);
  answer.allowed = false;
  EXPECT_FALSE(Answered(answer)["response"].contains("patch"));
}

TEST(AdmissionReviewTest, AnInvalidResponseReportsEachErrorAsAnApiserverDoes) {
  AdmissionRequest request;
  request.group = "apps.openyurt.io";
  request.kind = "YurtAppDaemon";
  request.key = {"shop", "web"};
  const Json response = Answered(AdmissionResponse::Invalid(
      request, {FieldError::Required("spec.selector").ToCause(),
                FieldError::Invalid("spec.revisionHistoryLimit", -1, "must be greater than or equal to 0")
                    .ToCause()}))["response"];
  EXPECT_EQ(response["allowed"], false);
  EXPECT_EQ(response["status"], R"({
    "status": "Failure", "code": 422, "reason": "Invalid",
    "message": "YurtAppDaemon.apps.openyurt.io \"web\" is invalid: [spec.selector: Required value, spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0]",
    "details": {"name": "web", "group": "apps.openyurt.io", "kind": "YurtAppDaemon", "causes": [
      {"field": "spec.selector", "reason": "FieldValueRequired", "message": "Required value"},
      {"field": "spec.revisionHistoryLimit", "reason": "FieldValueInvalid",
       "message": "Invalid value: -1: must be greater than or equal to 0"}]}})"_json);
}

AdmissionRequest RequestNamed(const std::string& name) {
  AdmissionRequest request;
  request.group = "apps.openyurt.io";
  request.kind = "YurtAppDaemon";
  request.key = {"shop", name};
  return request;
}

TEST(AdmissionReviewTest, NamesFieldsAndMessagesInAnInvalidResponseAreTruncated) {
  const std::string long_text(1 << 20, 'x');
  const Json status = AdmissionResponse::Invalid(RequestNamed(long_text), {{long_text, "FieldValueInvalid", long_text},
                                                                           {"spec.a", "FieldValueInvalid", "no"}})
                          .status;
  const std::string name = std::string(250, 'x') + "...";
  const std::string field = std::string(509, 'x') + "...";
  const std::string message = std::string(3069, 'x') + "...";
  EXPECT_EQ(status["details"]["name"], name);
  EXPECT_EQ(status["details"]["causes"],
            Json({{{"field", field}, {"reason", "FieldValueInvalid"}, {"message", message}},
                  {{"field", "spec.a"}, {"reason", "FieldValueInvalid"}, {"message", "no"}}}));
  EXPECT_EQ(status["message"],
            "YurtAppDaemon.apps.openyurt.io \"" + name + "\" is invalid: [" + field + ": " + message + ", spec.a: no]");
}

TEST(AdmissionReviewTest, AnInvalidResponseListsAHundredCausesOfOrdinaryLength) {
  const Cause cause{"spec.workloadTemplate.deploymentTemplate.spec.template.spec.containers[0].env[12].valueFrom",
                    "FieldValueInvalid", std::string(150, 'x')};
  const AdmissionResponse answer = AdmissionResponse::Invalid(RequestNamed("web"), std::vector<Cause>(100, cause));
  EXPECT_EQ(answer.status["details"]["causes"].size(), 100U);
}

TEST(AdmissionReviewTest, ResponseInvalidHasALimitForCausesOfAnyLength) {
  // In JSON, this character is escaped and takes six bytes.
  const std::string text(1 << 16, '\x01');
  AdmissionRequest request = RequestNamed(text);
  request.uid = request.group = request.kind = text.substr(0, 253);
  const std::vector<Cause> causes(50, {text, "FieldValueInvalid", text});
  const AdmissionResponse answer = AdmissionResponse::Invalid(request, causes);
  EXPECT_LE(MakeAdmissionReview(request.uid, answer).size(), 80U * 1024);
  const Json& listed = answer.status["details"]["causes"];
  ASSERT_EQ(listed.size(), 2U) << "one cause of this size, and the count of the others";
  EXPECT_EQ(listed[1]["message"], "Invalid value: and 49 more errors; fix the errors above first");
}

TEST(AdmissionReviewTest, WarningsAreOneLineEachAndNotTruncatedBelowTheLimit) {
  AdmissionResponse answer;
  answer.warnings = {"a\nb\tc\x7f", std::string(4000, 'x')};
  EXPECT_EQ(Answered(answer)["response"]["warnings"], Json({"a b c ", std::string(4000, 'x')}));
}

TEST(AdmissionReviewTest, TooManyWarningsAreTruncatedToFourKibibytes) {
  AdmissionResponse answer;
  answer.warnings = {std::string(4096, 'x'), std::string(256, 'x'), std::string(257, 'x'),
                     std::string(252, 'x') + "ééé"};
  const Json warnings = Answered(answer)["response"]["warnings"];
  ASSERT_EQ(warnings.size(), 4U);
  EXPECT_EQ(warnings[0], std::string(253, 'x') + "...");
  EXPECT_EQ(warnings[1], std::string(256, 'x'));
  EXPECT_EQ(warnings[2], std::string(253, 'x') + "...");
  EXPECT_EQ(warnings[3], std::string(252, 'x') + "...");
  answer.warnings = std::vector<std::string>(20, std::string(256, 'x'));
  EXPECT_EQ(Answered(answer)["response"]["warnings"].size(), 16U);
}

TEST(AdmissionReviewTest, InvalidUtf8IsReplacedInTheResponse) {
  AdmissionResponse answer;
  answer.warnings = {"\xff"};
  EXPECT_EQ(Answered(answer)["response"]["warnings"][0], "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace yad
