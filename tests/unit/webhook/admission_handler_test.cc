#include "webhook/admission/admission_handler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>

#include "operator/base/metrics.h"
#include "tests/unit/webhook/admission.h"

namespace yad::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class AdmissionHandlerTest : public ::testing::Test {
 protected:
  AdmissionHandlerTest() {
    world_.SetDaemons({});
    world_.SetPoolNames({"a"});
    world_.SetDeployments({});
    world_.SetStatefulSets({});
  }

  HttpsReply Call(const std::string& method, const std::string& target, const std::string& content_type,
                  const std::string& body) {
    return handler_({method, target, content_type, body, world_.clock.Now()});
  }
  HttpsReply Post(const std::string& path, const std::string& body) {
    return Call("POST", path + "?timeout=10s", "application/json", body);
  }
  // Returns whether a review is allowed after it has waited this long for a thread.
  bool IsAllowedAfter(Duration waited, const Json& object) {
    const SteadyTime arrived = world_.clock.Now();
    world_.clock.Advance(waited);
    const HttpsReply reply = handler_({"POST", std::string(kValidatePath) + "?timeout=10s", "application/json",
                                       ReviewJson(CreateRequest(object)).dump(), arrived});
    EXPECT_EQ(reply.status, 200);
    return Json::parse(reply.body)["response"]["allowed"];
  }
  // Returns the field `response` of a review with status 200.
  Json Review(const std::string& path, const AdmissionRequest& request) {
    const HttpsReply reply = Post(path, ReviewJson(request).dump());
    EXPECT_EQ(reply.status, 200) << reply.body;
    EXPECT_EQ(reply.content_type, "application/json");
    const Json review = Json::parse(reply.body);
    EXPECT_EQ(review["kind"], "AdmissionReview");
    EXPECT_EQ(review["apiVersion"], "admission.k8s.io/v1");
    EXPECT_EQ(review["response"]["uid"], request.uid);
    return review["response"];
  }
  Json Validate(const AdmissionRequest& request) { return Review(kValidatePath, request); }
  Json Mutate(const AdmissionRequest& request) { return Review(kMutatePath, request); }

  AdmissionWorld world_;
  HttpsServer::Handler handler_ = MakeAdmissionHandler(world_.client, world_.stores(), world_.clock);
};

TEST_F(AdmissionHandlerTest, EachPathCallsItsWebhook) {
  Json object = DaemonJson();
  const Json mutated = Mutate(CreateRequest(object));
  EXPECT_EQ(mutated["allowed"], true);
  EXPECT_EQ(mutated["patchType"], "JSONPatch");
  EXPECT_THAT(world_.TakeAsked(), IsEmpty()) << "defaulting sends no request";
  object["spec"]["revisionHistoryLimit"] = 1;
  EXPECT_FALSE(Mutate(CreateRequest(object)).contains("patch"));

  EXPECT_EQ(Validate(CreateRequest(object))["allowed"], true);
  object["spec"]["paused"] = 1;
  const Json rejected = Validate(CreateRequest(object));
  EXPECT_EQ(rejected["allowed"], false);
  EXPECT_EQ(rejected["status"]["code"], 422);
  EXPECT_FALSE(rejected.contains("patch"));
}

TEST_F(AdmissionHandlerTest, InvalidCallsGetTheirHttpStatus) {
  for (const char* body :
       {"", "{", "[]", "null", "\xff", "{\"kind\": \"AdmissionReview\"}",
        R"({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1beta1", "request": {"uid": "1"}})",
        R"({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": {}})",
        R"({"kind": "Pod", "apiVersion": "v1"})"}) {
    for (const char* path : {kMutatePath, kValidatePath}) {
      const HttpsReply reply = Post(path, body);
      EXPECT_EQ(reply.status, 400) << body;
      EXPECT_THAT(reply.body, Not(IsEmpty()));
    }
  }
  const std::string good = ReviewJson(CreateRequest(DaemonJson())).dump();
  EXPECT_EQ(Call("GET", kValidatePath, "application/json", "").status, 405);
  EXPECT_EQ(Call("POST", kValidatePath, "text/yaml", good).status, 415);
  EXPECT_EQ(Call("POST", kValidatePath, "Application/JSON ; charset=utf-8", good).status, 200);
  EXPECT_EQ(Call("POST", std::string(kValidatePath) + "/", "application/json", good).status, 404);
  EXPECT_EQ(Call("POST", "/", "application/json", good).status, 404);
}

TEST_F(AdmissionHandlerTest, AUidThatIsTooLongIsNotEchoed) {
  AdmissionRequest deletion = CreateRequest(nullptr);
  deletion.operation = "DELETE";
  deletion.uid = std::string(1 << 20, 'u');
  const HttpsReply reply = Post(kValidatePath, ReviewJson(deletion).dump());
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.body, "request.uid is longer than 253 bytes\n");
}

// Returns a review as an apiserver writes it, with an object that has a list of `values` numbers.
std::string ReviewWithValues(const std::string& uid, int values) {
  std::string body = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":")" + uid +
                     R"(","operation":"CREATE","object":{"spec":{"list":[0)";
  for (int i = 0; i < values; ++i) body += ",0";
  return body + "]}}}}";
}

TEST_F(AdmissionHandlerTest, ObjectWithTooManyValuesIsDeniedWithTheReason) {
  for (const auto& [values, reason] : {std::pair{140'000, "the object has more than 130000 values"},
                                       std::pair{340'000, "the body has more than 330000 values"}}) {
    for (const char* path : {kMutatePath, kValidatePath}) {
      const HttpsReply reply = Post(path, ReviewWithValues("705ab4f5-6393-11e8-b7cc-42010a800002", values));
      ASSERT_EQ(reply.status, 200) << reply.body;
      const Json response = Json::parse(reply.body)["response"];
      EXPECT_EQ(response["uid"], "705ab4f5-6393-11e8-b7cc-42010a800002");
      EXPECT_EQ(response["allowed"], false);
      EXPECT_EQ(response["status"]["code"], 400);
      EXPECT_THAT(StringAt(response, {"status", "message"}), HasSubstr(reason));
    }
  }
  for (const std::string& uid : {std::string(), std::string("a\\u0022b"), std::string(254, 'a')})
    EXPECT_EQ(Post(kValidatePath, ReviewWithValues(uid, 340'000)).status, 400) << uid;
}

TEST_F(AdmissionHandlerTest, ObjectOfAnotherKindIsDeniedWithTheFix) {
  AdmissionRequest pod = CreateRequest(DaemonJson());
  pod.group = "";
  pod.version = "v1";
  pod.kind = "Pod";
  pod.resource = "pods";
  AdmissionRequest future = CreateRequest(DaemonJson());
  future.version = "v9";
  for (const AdmissionRequest& request : {pod, future}) {
    for (const char* path : {kMutatePath, kValidatePath}) {
      const Json response = Review(path, request);
      EXPECT_EQ(response["allowed"], false);
      EXPECT_EQ(response["status"]["code"], 400);
      EXPECT_THAT(StringAt(response, {"status", "message"}),
                  HasSubstr("correct the rules of its webhook configuration"));
    }
  }
}

TEST_F(AdmissionHandlerTest, DeletionsAndSubresourcesAreNotValidated) {
  Json faulty = DaemonJson();
  faulty["spec"] = 1;
  AdmissionRequest deletion = CreateRequest(nullptr);
  deletion.operation = "DELETE";
  deletion.old_object = faulty;
  AdmissionRequest status = UpdateRequest(faulty, DaemonJson());
  status.subresource = "status";
  AdmissionRequest connect = CreateRequest(faulty);
  connect.operation = "CONNECT";
  for (const AdmissionRequest& request : {deletion, status, connect}) {
    EXPECT_EQ(Validate(request)["allowed"], true);
    EXPECT_EQ(Mutate(request), Json({{"uid", request.uid}, {"allowed", true}}));
  }
}

TEST_F(AdmissionHandlerTest, ARequestWithoutItsObjectIsDenied) {
  for (const Json& object : {Json(), Json(1), Json::array()}) {
    AdmissionRequest request = CreateRequest(nullptr);
    request.object = object;
    EXPECT_EQ(Validate(request)["status"]["code"], 400);
    EXPECT_EQ(Mutate(request)["status"]["code"], 400);
    EXPECT_EQ(Validate(UpdateRequest(DaemonJson(), object))["status"]["code"], 400);
  }
}

TEST_F(AdmissionHandlerTest, DryRunOfTheCallerIsValidatedToo) {
  AdmissionRequest request = CreateRequest(DaemonJson());
  request.dry_run = true;
  EXPECT_EQ(Validate(request)["allowed"], true);
  EXPECT_THAT(world_.TakeAsked(), SizeIs(1));
}

TEST_F(AdmissionHandlerTest, RequestsToTheClusterTakeAtMostHalfOfTheTimeLimit) {
  struct Case {
    std::string query;
    int seconds;
  };
  for (const auto& [query, seconds] : {Case{"?timeout=4s", 2}, Case{"?x=1&timeout=8000ms", 4}, Case{"", 5},
                                       Case{"?timeout=nonsense", 5}, Case{"?timeout=90s", 15}}) {
    SCOPED_TRACE(query);
    AdmissionWorld world;
    world.SetPoolNames({"a"});
    const auto handler = MakeAdmissionHandler(world.client, world.stores(), world.clock);
    // After the dry run, the webhook reads the StatefulSet's Service, but only if time for requests to the cluster
    // remains.
    const Json object = DaemonJson("app:1", WorkloadKind::kStatefulSet);
    const std::string body = ReviewJson(CreateRequest(object)).dump();
    const auto services_asked = [&](Duration dry_run) {
      world.clock.Advance(std::chrono::hours(1));  // cached acceptances have expired
      world.OnAsk([&, dry_run](const Asked& asked) -> Result<HttpResponse> {
        if (asked.method == "POST") world.clock.Advance(dry_run);
        return JsonResponse(asked.body.is_null() ? Json::object() : asked.body, 200);
      });
      EXPECT_EQ(handler({"POST", kValidatePath + query, "application/json", body, world.clock.Now()}).status, 200);
      int count = 0;
      for (const Asked& asked : world.TakeAsked()) count += asked.method == "GET";
      return count;
    };
    EXPECT_EQ(services_asked(std::chrono::seconds(seconds) - std::chrono::milliseconds(1)), 1);
    EXPECT_EQ(services_asked(std::chrono::seconds(seconds)), 0);
  }
}

TEST_F(AdmissionHandlerTest, TimeLimitCountsFromTheArrivalOfTheCall) {
  EXPECT_TRUE(IsAllowedAfter(std::chrono::milliseconds(4800), DaemonJson("app:1")));
  EXPECT_THAT(world_.TakeAsked(), SizeIs(1)) << "200 ms are left of 5 s";
  Json object = DaemonJson("app:2");
  for (const int waited : {4801, 5000, 60'000}) {
    EXPECT_TRUE(IsAllowedAfter(std::chrono::milliseconds(waited), object));
    EXPECT_THAT(world_.TakeAsked(), IsEmpty()) << waited;
  }
  object["spec"]["paused"] = 1;
  EXPECT_FALSE(IsAllowedAfter(std::chrono::minutes(1), object)) << "static checks need no time";
  EXPECT_THAT(world_.TakeAsked(), IsEmpty());
}

TEST_F(AdmissionHandlerTest, LatencyIncludesTheTimeThatACallWaitedForAThread) {
  const auto slow = [] {
    const std::string text = metrics::Render();
    const std::string sum = std::string("controller_runtime_webhook_latency_seconds_sum{webhook=\"") + kValidatePath;
    const std::size_t at = text.find(sum);
    return at == std::string::npos ? 0 : std::stod(text.substr(text.find("} ", at) + 2));
  };
  const double before = slow();
  IsAllowedAfter(std::chrono::seconds(7), DaemonJson());
  EXPECT_DOUBLE_EQ(slow(), before + 7);
}

TEST_F(AdmissionHandlerTest, LatencyHasBucketsUpToTheLargestTimeLimitOfAWebhook) {
  Validate(CreateRequest(DaemonJson()));
  const std::string bucket =
      std::string("controller_runtime_webhook_latency_seconds_bucket{webhook=\"") + kValidatePath + "\",le=\"30\"}";
  EXPECT_THAT(metrics::Render(), HasSubstr(bucket));
}

TEST_F(AdmissionHandlerTest, NeverWaitsIsTrueOnlyForTheDefaultingWebhook) {
  const auto never_waits = [](const std::string& target) { return NeverWaits({"POST", target, "", "", {}}); };
  EXPECT_TRUE(never_waits(kMutatePath));
  EXPECT_TRUE(never_waits(std::string(kMutatePath) + "?timeout=10s"));
  EXPECT_FALSE(never_waits(std::string(kMutatePath) + "/"));
  EXPECT_FALSE(never_waits(kValidatePath));
  EXPECT_FALSE(never_waits(kValidateCapacityPath));
}

TEST_F(AdmissionHandlerTest, RequestsAreCountedAsControllerRuntimeCountsThem) {
  const auto count = [](const std::string& code) {
    return metrics::GetCounter("controller_runtime_webhook_requests_total", "",
                               {{"webhook", kValidatePath}, {"code", code}})
        .Value();
  };
  const double good = count("200"), bad = count("400"), failed = count("500");
  Validate(CreateRequest(DaemonJson()));
  Post(kValidatePath, "{");
  world_.OnAsk([](const Asked&) -> Result<HttpResponse> { throw std::runtime_error("out of something"); });
  EXPECT_THROW(Post(kValidatePath, ReviewJson(CreateRequest(DaemonJson("app:2"))).dump()), std::runtime_error);
  EXPECT_EQ(count("200"), good + 1);
  EXPECT_EQ(count("400"), bad + 1);
  EXPECT_EQ(count("500"), failed + 1);
  EXPECT_EQ(
      metrics::GetGauge("controller_runtime_webhook_requests_in_flight", "", {{"webhook", kValidatePath}}).Value(), 0);
  EXPECT_THAT(metrics::Render(), HasSubstr("controller_runtime_webhook_latency_seconds_bucket"));
}

// Replaces a random part of a review with a random value. The part is usually in one of the review's objects.
void Spoil(Json& review, std::mt19937& random) {
  Json* at = &review;
  if (random() % 6 != 0 && review["request"].is_object()) {
    at = &review["request"][random() % 4 == 0 ? "oldObject" : "object"];
  }
  do {
    if (!at->is_structured() || at->empty()) break;
    auto child = at->begin();
    std::advance(child, random() % at->size());
    at = &*child;
  } while (random() % 6 != 0);
  const Json values[] = {nullptr,
                         -1,
                         1.5,
                         true,
                         "text",
                         "",
                         Json::array(),
                         Json::array({1, nullptr}),
                         Json::object(),
                         {{"k", 1}},
                         18446744073709551615ULL};
  *at = values[random() % 11];
}

TEST_F(AdmissionHandlerTest, RandomlyChangedReviewsGetAResponse) {
  Json object = DaemonJson();
  object["spec"]["overrides"] = R"([{"pools": ["a", "-b"], "replicas": 1, "images": [{"name": "main", "image": "x"}],
      "patch": {"spec": {"minReadySeconds": 1}}, "jsonPatches": [{"op": "add", "path": "/spec/paused", "value": true}]},
      {"nodepoolSelector": {"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}, "replicas": 2}])"_json;
  object["spec"]["nodePools"] = R"({"names": ["a"], "exclude": ["b"], "type": "Edge"})"_json;
  Json changed = object;
  changed["spec"]["paused"] = true;
  PodSpecOf(TemplateOf(changed))["containers"][0]["image"] = "app:2";
  const Json reviews[] = {ReviewJson(CreateRequest(object)), ReviewJson(UpdateRequest(changed, object))};
  std::mt19937 random(20261121);
  std::map<int, int> statuses;
  for (int i = 0; i < 1000; ++i) {
    Json review = reviews[i % 2];
    for (unsigned spoilt = random() % 3; spoilt < 3; ++spoilt) Spoil(review, random);
    for (const char* path : {kMutatePath, kValidatePath}) {
      HttpsReply reply;
      ASSERT_NO_THROW(reply = Post(path, review.dump())) << review;
      ++statuses[reply.status];
      if (reply.status == 200) {
        ASSERT_TRUE(Json::parse(reply.body)["response"]["allowed"].is_boolean());
      }
    }
  }
  EXPECT_EQ(statuses.size(), 2U);
  EXPECT_GT(statuses[200], 500);
  EXPECT_GT(statuses[400], 50);
}

TEST_F(AdmissionHandlerTest, ReviewsAreHandledConcurrently) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 25; ++i) {
        Json object = DaemonJson("app:" + std::to_string(i * 4 + t));
        EXPECT_EQ(Validate(CreateRequest(object))["allowed"], true);
        EXPECT_TRUE(Mutate(CreateRequest(object)).contains("patch"));
      }
    });
  }
}

}  // namespace
}  // namespace yad::testing
