// An HttpTransport without a network, for tests of the Client and everything above it.
#ifndef TESTS_SUPPORT_FAKE_TRANSPORT_H_
#define TESTS_SUPPORT_FAKE_TRANSPORT_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/client/transport/transport.h"

namespace yad::testing {

// The test's side of an open stream. The reader receives all pushed bytes before the End or Fail. Thread-safe.
class FakeStream {
 public:
  explicit FakeStream(HttpResponse head = {200, {{"content-type", "application/json"}}, ""});

  void Push(std::string chunk);
  // Pushes {"type": type, "object": object} and a newline.
  void PushEvent(const std::string& type, const nlohmann::json& object);
  void End();              // like a server that completes its response
  void Fail(Error error);  // for instance Error{Reason::kTransport, "connection reset"}
  bool closed() const;     // the reader has closed it
  // Blocks until the reader has read all pushed bytes and waits for more, or has closed the stream.
  void WaitUntilDrained() const;

 private:
  friend class FakeTransport;
  class Reader;

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  HttpResponse head_;
  std::deque<std::string> chunks_;
  bool ended_ = false;
  bool closed_ = false;
  bool reader_waits_ = false;
  std::optional<Error> error_;
};

// An HttpTransport that records every request. Thread-safe.
// - Send calls the handler. The default handler responds with 404.
// - Open calls the stream handler. The default opens an empty stream with status 200, which TakeStream returns.
// - A stop request ends all calls and reads with kCancelled.
class FakeTransport : public HttpTransport {
 public:
  using Handler = std::function<Result<HttpResponse>(const HttpRequest&)>;
  // To respond with a status other than 2xx, return a FakeStream whose head has the status and the body.
  using StreamHandler = std::function<Result<std::shared_ptr<FakeStream>>(const HttpRequest&)>;

  FakeTransport() = default;
  explicit FakeTransport(Handler handler) : handler_(std::move(handler)) {}

  // Handlers run on the caller's thread, outside the transport's lock.
  void OnSend(Handler handler);
  void OnOpen(StreamHandler handler);

  std::vector<HttpRequest> requests() const;  // of Send and Open, in order of arrival
  void ClearRequests();
  // Blocks until `count` requests have arrived, and returns them all.
  std::vector<HttpRequest> WaitForRequests(std::size_t count) const;
  // Blocks until a new stream is opened, and returns it. Returns nullptr if no stream is opened within a minute.
  std::shared_ptr<FakeStream> TakeStream();

  Result<HttpResponse> Send(const HttpRequest& request, std::stop_token stop) override;
  Result<std::unique_ptr<HttpStream>> Open(const HttpRequest& request, std::stop_token stop) override;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  Handler handler_;
  StreamHandler stream_handler_;
  std::vector<HttpRequest> requests_;
  std::deque<std::shared_ptr<FakeStream>> opened_;
};

// Returns a response with a JSON body.
HttpResponse JsonResponse(const nlohmann::json& body, int status = 200);
// Returns a response with a metav1.Status, such as StatusResponse(409, "AlreadyExists", "deployments.apps \"x\" already
// exists").
HttpResponse StatusResponse(int code, const std::string& reason, const std::string& message);
// Returns "/apis/apps/v1/deployments" for "/apis/apps/v1/deployments?limit=500".
std::string PathOf(const HttpRequest& request);
// Returns the decoded value of a query parameter, or "" if it is absent.
std::string QueryOf(const HttpRequest& request, const std::string& name);

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_FAKE_TRANSPORT_H_
