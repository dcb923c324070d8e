#include "operator/prometheus/client.h"

#include <utility>

#include "operator/client/url.h"
#include "operator/prometheus/answer.h"
#include "operator/runtime/stop_timer.h"

namespace yad {
namespace {

const std::string kSeconds = std::to_string(PrometheusClient::kTimeout.count()) + " s";

// Sends the query in the body of a POST. A query with the names of many pools can exceed a proxy's limit for URLs.
HttpRequest MakeRequest(const std::string& promql, WallTime at) {
  yad::Query form;
  form.Add("query", promql);
  form.Add("time", FormatMicroTime(at));
  form.Add("timeout", std::to_string(PrometheusClient::kTimeout.count()) + "s");
  HttpRequest request;
  request.method = "POST";
  request.path = "/api/v1/query";
  request.headers = {{"Accept", "application/json"}, {"Content-Type", "application/x-www-form-urlencoded"}};
  request.body = form.text().substr(1);
  request.timeout = PrometheusClient::kTimeout;
  request.max_answer = PrometheusClient::kMaxAnswer;
  return request;
}

}  // namespace

Result<std::unique_ptr<PrometheusClient>> PrometheusClient::Make(const ServiceOptions& options) {
  YAD_TRY(auto server, ServiceClient::Make(options));
  return std::make_unique<PrometheusClient>(std::move(server));
}

Result<std::optional<double>> PrometheusClient::Query(const std::string& promql, WallTime at, std::stop_token stop) {
  // HttpRequest::timeout starts again with each byte of the response. This timer limits the whole request, even if the
  // server sends one byte at a time.
  const SteadyTime deadline = clock_.Now() + kTimeout;
  StopTimer timer(clock_);
  const std::stop_token end = timer.Begin(deadline, stop);
  const ByteBudget::Lease slot = slots_.Take(1, end);
  if (stop.stop_requested()) return Fail(Reason::kCancelled, "the query of Prometheus was cancelled");
  if (end.stop_requested()) {
    return Fail(Reason::kTransport, "no query could be sent for " + kSeconds +
                                        ", because Prometheus did not respond to " + std::to_string(kMaxQueries) +
                                        " other queries");
  }
  const Result<HttpResponse> response = server_->Send(MakeRequest(promql, at), end);
  if (response) return ParsePrometheusAnswer(*response);
  const Error& error = response.error();
  if (error.reason == Reason::kTooLarge) {
    return Fail(Reason::kTooLarge, "Prometheus' response is larger than " + std::to_string(kMaxAnswer >> 10) +
                                       " KiB: the query must return one sample (use sum, max or another aggregation)");
  }
  if (error.reason == Reason::kCancelled && !stop.stop_requested())
    return Fail(Reason::kTransport, "Prometheus did not respond within " + kSeconds);
  return Fail(error);
}

Status PrometheusClient::CheckQuery(const std::string& promql, std::stop_token stop) {
  YAD_TRY_VOID(Query(promql, clock_.WallNow(), std::move(stop)));
  return {};
}

}  // namespace yad
