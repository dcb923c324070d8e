#include "webhook/admission/admission_handler.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/base/metrics.h"
#include "operator/capacity/autoscaler.h"
#include "webhook/admission/admission_review.h"
#include "webhook/admission/capacity_validating.h"
#include "webhook/admission/deadline.h"
#include "webhook/admission/defaulting.h"
#include "webhook/admission/validating.h"

namespace yad {
namespace {

// The timeout of a call whose URL has no valid `timeout`. The apiserver has the same default.
constexpr std::chrono::milliseconds kDefaultTimeout = std::chrono::seconds(10);
// The maximum of timeoutSeconds in a webhook configuration.
constexpr std::chrono::milliseconds kMaxTimeout = std::chrono::seconds(30);

// Parses "10s" or "500ms", as Go writes a duration. The result is at most kMaxTimeout.
std::chrono::milliseconds ParseTimeout(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc() || number <= 0 || number > 100'000) return kDefaultTimeout;
  if (unit == "ms") return std::min(std::chrono::milliseconds(number), kMaxTimeout);
  if (unit == "s") return std::min<std::chrono::milliseconds>(std::chrono::seconds(number), kMaxTimeout);
  return kDefaultTimeout;
}

std::string_view PathOf(std::string_view target) { return target.substr(0, target.find('?')); }

std::chrono::milliseconds TimeoutOf(std::string_view target) {
  constexpr std::string_view kName = "timeout=";
  for (std::size_t at = target.find('?'); at != std::string_view::npos; at = target.find('&', at)) {
    ++at;
    if (target.substr(at).starts_with(kName)) {
      const std::string_view rest = target.substr(at + kName.size());
      return ParseTimeout(rest.substr(0, rest.find('&')));
    }
  }
  return kDefaultTimeout;
}

bool IsJson(const std::string& content_type) {
  std::string type = content_type.substr(0, content_type.find(';'));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  std::transform(type.begin(), type.end(), type.begin(), [](unsigned char c) { return std::tolower(c); });
  return type == "application/json";
}

// Metrics with the names and labels of controller-runtime, so that existing dashboards work.
class WebhookMetrics {
 public:
  explicit WebhookMetrics(const std::string& path)
      : path_(path),
        in_flight_(metrics::GetGauge("controller_runtime_webhook_requests_in_flight",
                                     "Current number of admission requests being served.", {{"webhook", path}})),
        latency_(metrics::GetHistogram("controller_runtime_webhook_latency_seconds",
                                       "Histogram of the latency of processing admission requests", {{"webhook", path}},
                                       {.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 20, 25, 30})) {
    for (const int code : {200, 500})
      CounterOf(code);  // creates the counters, so that they are 0 before the first call
  }

  // Returns the reply of `review`, and measures the call. An exception counts as a reply with 500. The latency is the
  // time since `arrived`, so it includes the time for which the call waited for a thread.
  HttpsReply Measure(Clock& clock, SteadyTime arrived, const std::function<HttpsReply()>& review) const {
    const auto done = [&](int code) {
      in_flight_.Decrement();
      latency_.Observe(std::chrono::duration<double>(clock.Now() - arrived).count());
      CounterOf(code).Increment();
    };
    in_flight_.Increment();
    try {
      HttpsReply reply = review();
      done(reply.status);
      return reply;
    } catch (...) {
      done(500);
      throw;
    }
  }

 private:
  metrics::Counter& CounterOf(int code) const {
    return metrics::GetCounter("controller_runtime_webhook_requests_total",
                               "Total number of admission requests by HTTP status code.",
                               {{"webhook", path_}, {"code", std::to_string(code)}});
  }

  const std::string path_;
  metrics::Gauge& in_flight_;
  metrics::Histogram& latency_;
};

class AdmissionHandler {
 public:
  AdmissionHandler(Client& client, const AdmissionStores& stores, Clock& clock, QueryCheck check_query)
      : clock_(clock), validator_(client, stores, clock, std::move(check_query)) {
    Serve(kMutatePath, kYurtAppDaemonType, [](const AdmissionRequest& request, Deadline&) -> AdmissionResponse {
      Defaulting defaulting = DefaultYurtAppDaemon(request.object, request.old_object);
      return {.patch = std::move(defaulting.patch), .warnings = std::move(defaulting.warnings)};
    });
    Serve(kValidatePath, kYurtAppDaemonType, [this](const AdmissionRequest& request, Deadline& deadline) {
      return validator_.Validate(request, deadline);
    });
    Serve(kValidateCapacityPath, kNodePoolAutoscalerType,
          [&client, &pools = stores.pools](const AdmissionRequest& request, Deadline& deadline) {
            return ValidateCapacity(request, client, pools, deadline);
          });
  }

  HttpsReply Handle(const HttpsCall& call) {
    const auto found = webhooks_.find(std::string(PathOf(call.target)));
    if (found == webhooks_.end()) return PlainReply(404, "no webhook is served at this path");
    const Webhook& webhook = found->second;
    return webhook.metrics.Measure(clock_, call.arrived, [&] { return Review(call, webhook); });
  }

 private:
  using Judge = std::function<AdmissionResponse(const AdmissionRequest& request, Deadline& deadline)>;
  struct Webhook {
    const ResourceType& type;
    const Judge judge;  // returns the response to a CREATE or an UPDATE of the type
    const WebhookMetrics metrics;
  };

  void Serve(const char* path, const ResourceType& type, Judge judge) {
    webhooks_.emplace(path, Webhook{type, std::move(judge), WebhookMetrics(path)});
  }

  HttpsReply Review(const HttpsCall& call, const Webhook& webhook) {
    if (call.method != "POST") return PlainReply(405, "the method must be POST");
    if (!IsJson(call.content_type)) return PlainReply(415, "the content type must be application/json");
    auto request = ParseAdmissionReview(call.body);
    if (!request) return Reject(call.body, request.error());
    Deadline deadline(clock_, call.arrived + TimeoutOf(call.target) / 2);
    return {200, "application/json", MakeAdmissionReview(request->uid, Respond(*request, webhook, deadline))};
  }

  // Replies to a body that ParseAdmissionReview has rejected. If the uid is known, the reply is an AdmissionReview with
  // the reason, because an apiserver does not show the body of a 400 to the user.
  static HttpsReply Reject(const std::string& body, const Error& error) {
    const std::string uid = error.reason == Reason::kTooLarge ? UidOfLargeReview(body) : "";
    if (uid.empty()) return PlainReply(400, error.message);
    const std::string why = "the object is too large for this webhook: " + error.message + "; remove some of them";
    return {200, "application/json", MakeAdmissionReview(uid, AdmissionResponse::BadRequest(why))};
  }

  static AdmissionResponse Respond(AdmissionRequest& request, const Webhook& webhook, Deadline& deadline) {
    // The webhook allows each DELETE and each write of a subresource (status).
    if (request.operation != "CREATE" && request.operation != "UPDATE") return AdmissionResponse::Allowed();
    if (!request.subresource.empty()) return AdmissionResponse::Allowed();
    const ResourceType& type = webhook.type;
    if (request.group != type.group || request.kind != type.kind || request.version != type.version) {
      const std::string asked = request.group.empty() ? request.version : request.group + "/" + request.version;
      return AdmissionResponse::BadRequest("this webhook reviews " + type.kind + "s of " + type.ApiVersion() +
                                           " and received a " + request.kind + " of " + asked +
                                           ": correct the rules of its webhook configuration");
    }
    if (!request.object.is_object()) return AdmissionResponse::BadRequest("request.object is missing or not an object");
    if (request.operation == "UPDATE" && !request.old_object.is_object()) {
      return AdmissionResponse::BadRequest("request.oldObject is missing or not an object");
    }
    if (request.operation == "CREATE") request.old_object = nullptr;
    // For generateName, the apiserver generates the name just before the call, and sends it only in the object.
    if (request.key.name.empty()) request.key.name = StringAt(request.object, {"metadata", "name"});
    return webhook.judge(request, deadline);
  }

  Clock& clock_;
  Validator validator_;
  std::map<std::string, Webhook> webhooks_;  // by path
};

}  // namespace

bool NeverWaits(const HttpsCall& call) { return PathOf(call.target) == kMutatePath; }

HttpsServer::Handler MakeAdmissionHandler(Client& client, AdmissionStores stores, Clock& clock,
                                          QueryCheck check_query) {
  auto handler = std::make_shared<AdmissionHandler>(client, stores, clock, std::move(check_query));
  return [handler](const HttpsCall& call) { return handler->Handle(call); };
}

}  // namespace yad
