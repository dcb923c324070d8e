// The webhooks without an apiserver: the webhooks respond to each request, and to the next request.
#include "operator/client/transport/base64.h"
#include "tests/cluster/webhook_fixture.h"
#include "tests/support/https_client.h"

namespace yad::testing {
namespace {

constexpr char kMutate[] = "/mutate-apps-openyurt-io-v1alpha1-yurtappdaemon";
constexpr char kValidatePath[] = "/validate-apps-openyurt-io-v1alpha1-yurtappdaemon";
constexpr char kJsonType[] = "Content-Type: application/json\r\n";

class WebhookProtocolTest : public WebhookTest {
 protected:
  Json Review() const {
    Json daemon = Daemon("web");
    daemon["apiVersion"] = kYurtAppDaemonType.ApiVersion();
    daemon["kind"] = kYurtAppDaemonType.kind;
    daemon["metadata"]["namespace"] = ns();
    return {{"apiVersion", "admission.k8s.io/v1"},
            {"kind", "AdmissionReview"},
            {"request",
             {{"uid", "705ab4f5-6393-11e8-b7cc-42010a800002"},
              {"kind", {{"group", "apps.openyurt.io"}, {"version", "v1alpha1"}, {"kind", "YurtAppDaemon"}}},
              {"resource", {{"group", "apps.openyurt.io"}, {"version", "v1alpha1"}, {"resource", "yurtappdaemons"}}},
              {"name", "web"},
              {"namespace", ns()},
              {"operation", "CREATE"},
              {"userInfo", {{"username", "admin"}}},
              {"object", daemon},
              {"oldObject", nullptr},
              {"dryRun", false},
              {"options", {{"kind", "CreateOptions"}, {"apiVersion", "meta.k8s.io/v1"}}}}}};
  }

  HttpsClient Connect() { return HttpsClient(webhooks().port(), webhooks().ca_pem()); }
  HttpsAnswer Post(const std::string& path, const std::string& body, const std::string& headers = kJsonType) {
    return Connect().Ask("POST " + path + " HTTP/1.1", body, headers);
  }
  // Sends the review, and returns the field `response` of the reply.
  Json Answered(const std::string& path, const Json& review) {
    const HttpsAnswer answer = Post(path, review.dump());
    if (answer.status != 200) throw TestFailure("status " + std::to_string(answer.status) + ": " + answer.body);
    const Json body = Json::parse(answer.body, nullptr, false);
    EXPECT_EQ(At(body, "/apiVersion"), "admission.k8s.io/v1");
    EXPECT_EQ(At(body, "/kind"), "AdmissionReview");
    EXPECT_EQ(At(body, "/response/uid"), At(review, "/request/uid"));
    return At(body, "/response");
  }
  Json PatchOf(const Json& response) {
    if (!response.contains("patch")) return Json::array();
    EXPECT_EQ(response.at("patchType"), "JSONPatch");
    return Json::parse(Base64Decode(StringAt(response, {"patch"})).value_or(""), nullptr, false);
  }
  void ExpectTheNextIsServed() {
    for (const char* path : {kMutate, kValidatePath}) {
      const Json response = Answered(path, Review());
      EXPECT_EQ(At(response, "/allowed"), true) << response;
    }
  }
};

TEST_F(WebhookProtocolTest, InvalidReviewsGetAStatusAndTheNextRequestIsServed) {
  if (!HasControlPlane()) return;
  struct Bad {
    const char* name;
    std::string first_line;
    std::string body;
    std::string headers;
    int status;
  };
  const std::string post = std::string("POST ") + kValidatePath + " HTTP/1.1";
  const auto review = [&](const Json& patch) {
    Json changed = Review();
    changed.merge_patch(patch);
    return changed.dump();
  };
  const Bad cases[] = {
      {"no JSON", post, "spec: {}", kJsonType, 400},
      {"half a JSON", post, Review().dump().substr(0, 300), kJsonType, 400},
      {"nothing", post, "", kJsonType, 400},
      {"null", post, "null", kJsonType, 400},
      {"a list", post, "[]", kJsonType, 400},
      {"invalid UTF-8", post, "{\"kind\": \"\xff\xfe\"}", kJsonType, 400},
      {"another kind of object", post, R"({"apiVersion": "v1", "kind": "Pod"})", kJsonType, 400},
      {"an old review", post, review({{"apiVersion", "admission.k8s.io/v1beta1"}}), kJsonType, 400},
      {"a review without request", post, review({{"request", nullptr}}), kJsonType, 400},
      {"a request without uid", post, review({{"request", {{"uid", nullptr}}}}), kJsonType, 400},
      {"a uid too long by a letter", post, review({{"request", {{"uid", std::string(254, 'u')}}}}), kJsonType, 400},
      {"a hundred thousand brackets", post, std::string(100'000, '['), kJsonType, 400},
      {"no content type", post, Review().dump(), "", 415},
      {"a form", post, Review().dump(), "Content-Type: application/x-www-form-urlencoded\r\n", 415},
      {"10 MB", post, std::string(10 * 1024 * 1024, ' '), kJsonType, 413},
      {"GET", std::string("GET ") + kValidatePath + " HTTP/1.1", "", "", 405},
      {"PUT", std::string("PUT ") + kMutate + " HTTP/1.1", Review().dump(), kJsonType, 405},
      {"another path", "POST / HTTP/1.1", Review().dump(), kJsonType, 404},
      {"a path too long by a letter", std::string("POST ") + kValidatePath + "s HTTP/1.1", Review().dump(), kJsonType,
       404},
      {"no HTTP", "what is this", "", "", 400},
  };
  for (const Bad& bad : cases) {
    SCOPED_TRACE(bad.name);
    const HttpsAnswer answer = Connect().Ask(bad.first_line, bad.body, bad.headers);
    EXPECT_EQ(answer.status, bad.status) << answer.body;
    EXPECT_NE(answer.body, "") << "the body must contain the reason";
    ExpectTheNextIsServed();
  }
}

TEST_F(WebhookProtocolTest, ForeignOrMalformedReviewsGetAResponse) {
  if (!HasControlPlane()) return;
  const Json nothing = nullptr;
  for (const char* path : {kMutate, kValidatePath}) {
    const auto answered = [&](const Json& patch, const Json& object) {
      Json review = Review();
      review.merge_patch(patch);
      if (!object.is_discarded()) review["request"]["object"] = object;
      SCOPED_TRACE(path + review.dump());
      Json response;
      EXPECT_NO_THROW(response = Answered(path, review));
      ExpectTheNextIsServed();
      return response;
    };
    const Json same = Json(Json::value_t::discarded);
    // A webhook rule that is too broad matches objects of other types. The rejection must contain the type.
    const Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "x"}}}};
    Json response = answered({{"request", {{"kind", {{"group", ""}, {"version", "v1"}, {"kind", "Pod"}}}}}}, pod);
    EXPECT_EQ(At(response, "/allowed"), false);
    EXPECT_EQ(At(response, "/status/code"), 400);
    EXPECT_THAT(StringAt(response, {"status", "message"}), ::testing::HasSubstr("Pod"));
    // The object is missing, or is not a JSON object.
    for (const Json& object : {nothing, Json(7), Json("web"), Json::array()}) {
      response = answered(Json::object(), object);
      EXPECT_EQ(At(response, "/allowed"), false) << object;
      EXPECT_EQ(At(response, "/status/code"), 400) << object;
    }
    response = answered({{"request", {{"operation", "UPDATE"}}}}, same);  // without the old object
    EXPECT_EQ(At(response, "/allowed"), false);
    // The webhooks accept these operations without a check.
    for (const char* operation : {"DELETE", "CONNECT"}) {
      response = answered({{"request", {{"operation", operation}}}}, nothing);
      EXPECT_EQ(At(response, "/allowed"), true) << operation;
      EXPECT_TRUE(PatchOf(response).empty());
    }
    response = answered({{"request", {{"subResource", "status"}}}}, Json({{"spec", "faulty"}}));
    EXPECT_EQ(At(response, "/allowed"), true);
    EXPECT_TRUE(PatchOf(response).empty());
    // Specs of wrong types. The CRD's schema rejects them first, but the webhook must not rely on the schema.
    for (const char* spec : {"null", "7", "[]", R"({"workloadTemplate": 7})", R"({"workloadTemplate": []})",
                             R"({"workloadTemplate": {"deploymentTemplate": null}})",
                             R"({"workloadTemplate": {"deploymentTemplate": {"spec": []}}, "selector": 3})",
                             R"({"workloadTemplate": {"deploymentTemplate": {"spec": {"template": {"spec":
                               {"containers": [null, 3, [], {"env": 3, "ports": [[]], "resources": []}]}}}}}})",
                             R"({"overrides": {"0": 1}, "updateStrategy": [], "nodePools": 3})",
                             R"({"overrides": [null, 3, {"jsonPatches": [null, {"op": 3}], "images": [3]}]})"}) {
      Json object = Review()["request"]["object"];
      object["spec"] = Json::parse(spec);
      response = answered(Json::object(), object);
      if (path == kMutate) {
        EXPECT_EQ(At(response, "/allowed"), true) << "the mutating webhook must not reject: " << spec;
      } else {
        EXPECT_EQ(At(response, "/allowed"), false) << spec;
        EXPECT_EQ(At(response, "/status/code"), 422) << response;
        EXPECT_FALSE(At(response, "/status/details/causes").empty()) << response;
      }
    }
  }
}

TEST_F(WebhookProtocolTest, DefaultingReturnsAMinimalPatchAndThenNoFurtherPatch) {
  if (!HasControlPlane()) return;
  Json review = Review();
  const Json patch = PatchOf(Answered(kMutate, review));
  EXPECT_THAT(patch, ::testing::UnorderedElementsAre(
                         Json({{"op", "add"}, {"path", "/spec/revisionHistoryLimit"}, {"value", 10}}),
                         Json({{"op", "add"},
                               {"path", "/spec/workloadTemplate/deploymentTemplate/spec/selector"},
                               {"value", {{"matchLabels", {{"app", "web"}}}}}})));
  Json& object = review["request"]["object"];
  object = object.patch(patch);
  EXPECT_FALSE(Answered(kMutate, review).contains("patch"));
  object["metadata"]["deletionTimestamp"] = "2026-11-21T10:00:00Z";
  object["spec"].erase("revisionHistoryLimit");
  EXPECT_FALSE(Answered(kMutate, review).contains("patch")) << "an object that is being deleted must not be defaulted";
}

TEST_F(WebhookProtocolTest, ResponseHasTheUidOfTheRequest) {
  if (!HasControlPlane()) return;
  for (const std::string& uid : {std::string("x"), std::string(253, 'u'), std::string("\"\\\n\x01 ü 😀")}) {
    Json review = Review();
    review["request"]["uid"] = uid;
    EXPECT_EQ(At(Answered(kMutate, review), "/allowed"), true);
    EXPECT_EQ(At(Answered(kValidatePath, review), "/allowed"), true);
  }
}

TEST_F(WebhookProtocolTest, OneConnectionServesManyValidAndInvalidRequests) {
  if (!HasControlPlane()) return;
  HttpsClient client = Connect();
  const std::string post = std::string("POST ") + kValidatePath;
  for (int i = 0; i < 20; ++i) {
    const std::string query = i % 2 == 0 ? "?timeout=10s" : "?timeout=never";
    EXPECT_EQ(client.Ask(post + query + " HTTP/1.1", Review().dump(), kJsonType).status, 200) << i;
    EXPECT_EQ(client.Ask(post + " HTTP/1.1", "no JSON", kJsonType).status, 400) << i;
    EXPECT_EQ(client.Ask("POST /nowhere HTTP/1.1", "{}", kJsonType).status, 404) << i;
  }
}

}  // namespace
}  // namespace yad::testing
