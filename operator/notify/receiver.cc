#include "operator/notify/receiver.h"

#include <algorithm>
#include <utility>

#include "operator/client/status_error.h"
#include "operator/client/transport/server_address.h"
#include "operator/json/json_document.h"
#include "operator/runtime/stop_timer.h"

namespace yad {
namespace {

constexpr std::size_t kMaxErrorText = 500;

Error ErrorOf(const HttpResponse& response) {
  Error error = ErrorFromResponse(response, "POST");
  error.message = "the server returned HTTP " + std::to_string(response.status);
  if (!response.body.empty()) error.message += ": " + Excerpt(response.body, kMaxErrorText);
  const int status = response.status;
  const bool rejected = status == 400 || status == 413 || status == 415 || status == 422;
  if (rejected) {
    error.reason = Reason::kInvalid;
  } else if (error.reason == Reason::kInvalid) {
    error.reason = Reason::kUnknown;
  }
  return error;
}

}  // namespace

Result<std::unique_ptr<Receiver>> Receiver::Make(ServiceOptions options, std::string content_type) {
  YAD_TRY_VOID(ParseServerAddress(options.url));
  // Removes the path from options.url, and stores it for the requests. If the path stayed in the URL, ServiceClient
  // would remove a slash at its end.
  const std::size_t path_begin = std::min(options.url.find('/', options.url.find("://") + 3), options.url.size());
  std::string path = options.url.substr(path_begin);
  if (path.empty()) path = "/";
  options.url.resize(path_begin);
  YAD_TRY(auto server, ServiceClient::Make(options));
  return std::make_unique<Receiver>(std::move(server), std::move(path), std::move(content_type));
}

Receiver::Receiver(std::unique_ptr<ServiceClient> server, std::string path, std::string content_type, Clock& clock)
    : server_(std::move(server)), path_(std::move(path)), content_type_(std::move(content_type)), clock_(clock) {}

Status Receiver::Post(const std::string& body, std::stop_token stop) const {
  HttpRequest request;
  request.method = "POST";
  request.path = path_;
  request.headers = {{"Accept", "application/json"}, {"Content-Type", content_type_}};
  request.body = body;
  request.timeout = kTimeout;
  request.max_answer = kMaxAnswer;
  StopTimer timer(clock_);
  const Result<HttpResponse> response = server_->Send(std::move(request), timer.Begin(clock_.Now() + kTimeout, stop));
  if (response) {
    if (response->status / 100 == 2) return {};
    return Fail(ErrorOf(*response));
  }
  const Error& error = response.error();
  if (error.reason == Reason::kCancelled && !stop.stop_requested())
    return Fail(Reason::kTransport, "the server did not respond within " + std::to_string(kTimeout.count()) + " s");
  if (error.reason == Reason::kTooLarge)
    return Fail(Reason::kTooLarge, "the server's response is larger than " + std::to_string(kMaxAnswer >> 10) + " KiB");
  return Fail(error);
}

}  // namespace yad
