#include "operator/prometheus/client.h"

#include <utility>

#include "operator/base/file.h"
#include "operator/client/transport/renewing_transport.h"
#include "operator/client/transport/tls_material.h"
#include "operator/client/transport/transport_options.h"
#include "operator/client/url.h"
#include "operator/prometheus/answer.h"
#include "operator/runtime/stop_timer.h"

namespace yad {
namespace {

const std::string kSeconds = std::to_string(PrometheusClient::kTimeout.count()) + " s";

// The query is in the body, because a query that names many pools is longer than some proxies allow for a URL.
HttpRequest MakeRequest(const std::string& promql, WallTime at, const std::string& user_agent) {
  yad::Query form;
  form.Add("query", promql);
  form.Add("time", FormatMicroTime(at));
  form.Add("timeout", std::to_string(PrometheusClient::kTimeout.count()) + "s");
  HttpRequest request;
  request.method = "POST";
  request.path = "/api/v1/query";
  request.headers = {{"Accept", "application/json"}, {"Content-Type", "application/x-www-form-urlencoded"}};
  if (!user_agent.empty()) request.headers["User-Agent"] = user_agent;
  request.body = form.text().substr(1);
  request.timeout = PrometheusClient::kTimeout;
  request.max_answer = PrometheusClient::kMaxAnswer;
  return request;
}

}  // namespace

Result<std::unique_ptr<PrometheusClient>> PrometheusClient::Make(const PrometheusOptions& options) {
  TlsMaterial material;
  if (!options.ca_file.empty()) {
    YAD_TRY(material.ca_pem, ReadSmallFile(options.ca_file));
    // Without this check, an empty file would mean the system's CAs.
    if (Trim(material.ca_pem).empty())
      return Fail(Reason::kConfig, options.ca_file + ": the file holds no certificate");
  }
  TlsFiles paths;
  paths.ca = options.ca_file;
  const auto files = std::make_shared<TlsMaterialReader>(std::move(paths), std::move(material), Clock::Real());
  TransportOptions to_server;
  to_server.server = options.url;
  // A proxy may close connections early. A POST on such a connection would fail, and queries are rare.
  to_server.max_idle = std::chrono::seconds(5);
  auto transport = std::make_shared<RenewingTransport>(
      std::move(to_server), [files](const std::stop_token&) { return files->Get(); }, [files] { files->Invalidate(); });
  YAD_TRY_VOID(transport->Current());
  std::shared_ptr<TokenFile> token;
  if (!options.token_file.empty()) {
    token = std::make_shared<TokenFile>(options.token_file, Clock::Real());
    YAD_TRY_VOID(token->Get());
  }
  return std::make_unique<PrometheusClient>(std::move(transport), std::move(token), options.user_agent);
}

PrometheusClient::PrometheusClient(std::shared_ptr<HttpTransport> transport, std::shared_ptr<TokenFile> token,
                                   std::string user_agent, Clock& clock)
    : transport_(std::move(transport)), token_(std::move(token)), user_agent_(std::move(user_agent)), clock_(clock) {}

Status PrometheusClient::Enter(SteadyTime deadline, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!clock_.WaitUntil(left_, lock, stop, deadline, [&] { return in_flight_ < kMaxQueries; })) {
    if (stop.stop_requested()) return Fail(Reason::kCancelled, "the query of Prometheus was cancelled");
    return Fail(Reason::kTransport, "no query could be sent for " + kSeconds + ", because Prometheus did not answer " +
                                        std::to_string(kMaxQueries) + " others");
  }
  ++in_flight_;
  return {};
}

void PrometheusClient::Leave() {
  std::lock_guard lock(mutex_);
  --in_flight_;
  left_.notify_one();
}

Result<HttpResponse> PrometheusClient::Send(HttpRequest request, const std::stop_token& stop) {
  for (int attempt = 1;; ++attempt) {
    if (token_ != nullptr) {
      YAD_TRY(const std::string token, token_->Get());
      request.headers["Authorization"] = "Bearer " + token;
    }
    Result<HttpResponse> response = transport_->Send(request, stop);
    if (!response || response->status != 401 || token_ == nullptr || attempt == 2) return response;
    token_->Invalidate();
  }
}

Result<std::optional<double>> PrometheusClient::Query(const std::string& promql, WallTime at, std::stop_token stop) {
  const SteadyTime deadline = clock_.Now() + kTimeout;
  YAD_TRY_VOID(Enter(deadline, stop));
  const std::shared_ptr<void> leave(nullptr, [this](void*) { Leave(); });
  // The time-out of a request is the longest silence, so a server that sends a byte now and then would never end.
  StopTimer timer(clock_);
  const Result<HttpResponse> response = Send(MakeRequest(promql, at, user_agent_), timer.Begin(deadline, stop));
  if (response) return ParsePrometheusAnswer(*response);
  const Error& error = response.error();
  if (error.reason == Reason::kTooLarge) {
    return Fail(Reason::kTooLarge, "Prometheus' answer is larger than " + std::to_string(kMaxAnswer >> 10) +
                                       " KiB: the query must return one sample (use sum, max or another aggregation)");
  }
  if (error.reason == Reason::kCancelled && !stop.stop_requested())
    return Fail(Reason::kTransport, "Prometheus did not answer within " + kSeconds);
  return Fail(error);
}

Status PrometheusClient::CheckQuery(const std::string& promql, std::stop_token stop) {
  YAD_TRY_VOID(Query(promql, clock_.WallNow(), std::move(stop)));
  return {};
}

}  // namespace yad
