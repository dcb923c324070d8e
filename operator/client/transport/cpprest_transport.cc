#include <cpprest/http_client.h>
#include <netdb.h>
#include <openssl/ssl.h>
#include <pplx/threadpool.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <utility>

#include "operator/client/transport/cpprest_body.h"
#include "operator/client/transport/tls_client.h"
#include "operator/client/transport/transport_options.h"

// Replaces the OpenSSL function that loads the system's CAs. cpprestsdk calls it for each connection, which would take
// 10 ms and 1 MB each time. MakeTlsContext loads the system's CAs if they are needed.
extern "C" int SSL_CTX_set_default_verify_paths(SSL_CTX*) { return 1; }

namespace yad {
namespace {

namespace http = web::http;
using Streambuf = concurrency::streams::streambuf<std::uint8_t>;

constexpr int kMaxWriteAttempts = 64;  // more than the requests that can be in progress at the same time
// If the server has closed a connection, a write to the connection fails only after the kernel has buffered up to this
// number of bytes.
constexpr std::size_t kBuffered = 256u << 10;

// The state that all requests to a server share. Open streams keep it alive.
struct Server {
  std::string url;
  std::string host;
  std::string host_header;          // "": the library sends the correct header
  std::shared_ptr<ssl_ctx_st> tls;  // null for http://
  std::unique_ptr<http::client::http_client> client;

  Error Explain(const std::exception_ptr& failure) const;
};

Error TransportError(std::string message) { return Error{Reason::kTransport, std::move(message)}; }

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

Error Server::Explain(const std::exception_ptr& failure) const {
  try {
    std::rethrow_exception(failure);
  } catch (const http::http_exception& e) {
    // The exception has the number of an error, but not its category (system or TLS). Its message contains the step
    // that failed, and the category follows from the step.
    const int code = e.error_code().value();
    const std::string_view what = e.what();
    const auto starts = [what](std::string_view prefix) { return what.substr(0, prefix.size()) == prefix; };
    if (starts("Error resolving") || starts("Failed to resolve")) {
      const std::string why = code == TRY_AGAIN ? "the name server does not respond" : "no such host";
      return TransportError("cannot reach " + url + ": the name \"" + host + "\" cannot be resolved (" + why + ")");
    }
    if (starts("Failed to connect")) {
      // The library also reports ECONNREFUSED as EHOSTUNREACH.
      const std::string why =
          code == EHOSTUNREACH
              ? "connection refused, or no route to the host (is the apiserver running, and is this its address?)"
              : std::strerror(code);
      return TransportError("cannot reach " + url + ": " + why);
    }
    const std::string tls_reason = tls == nullptr ? "" : ExplainTlsError(tls.get(), code);
    if (!tls_reason.empty()) return TransportError("cannot connect to " + url + ": " + tls_reason);
    if (starts("Error in SSL handshake")) {
      return TransportError("cannot connect to " + url + ": the connection was closed during the TLS handshake");
    }
    if (starts("Failed to read") || starts("Retrieving message chunk") || starts("Failed to write")) {
      return TransportError("the connection to " + url + " broke: " + std::string(what));
    }
    return TransportError("no response from " + url + ": " + std::string(what));
  } catch (const std::length_error& e) {  // Answer throws it if the response is too long.
    return Error{Reason::kTooLarge, url + ": " + e.what()};
  } catch (const std::exception& e) {
    return TransportError("no response from " + url + ": " + e.what());
  } catch (...) {
    return TransportError("no response from " + url);
  }
}

// One request and the body of its response.
class Exchange : public HttpStream {
 public:
  enum class Kind { kUnary, kStream };

  Exchange(std::shared_ptr<Server> server, const HttpRequest& request, Kind kind, std::stop_token stop)
      : server_(std::move(server)),
        stop_(std::move(stop)),
        timeout_(request.timeout),
        grace_(request.grace_after_stop),
        limits_{.most_waiting = 64u << 10, .most = request.max_answer, .rest = std::chrono::milliseconds(5)},
        what_(request.method + " " + server_->url + request.path.substr(0, request.path.find('?'))),
        awaited_(kind == Kind::kUnary ? Answer::Part::kAll : Answer::Part::kHead) {}

  // Closes the connection if a part of the response was not read. Otherwise, the connection returns to the pool.
  ~Exchange() override {
    if (!ended_) Cancel();
  }

  const HttpResponse& head() const override { return head_; }

  // Sends the request and blocks until the whole response has arrived, or the head of a stream.
  Status Start(const HttpRequest& request) {
    // The server may have closed a pooled connection. Then the first write or the next read fails:
    // - After a failed read, the library itself repeats the request.
    // - After a failed write, this loop repeats the request, if the server can't have processed it. Each attempt
    //   removes only one closed connection from the pool, so many attempts may be necessary after a restart of the
    //   server.
    for (int attempts = 1;; ++attempts) {
      if (stop_.stop_requested()) return Cancelled();
      answer_ = std::make_shared<Answer>(limits_);
      try {
        Follow(server_->client->request(MakeRequest(request), cancel_.get_token()));
      } catch (...) {
        return Fail(server_->Explain(std::current_exception()));
      }
      Status there = Wait(awaited_);
      if (there) head_ = answer_->TakeHead();
      if (there || attempts == kMaxWriteAttempts || !FailedToWrite(answer_->failure())) return there;
      // The write may also have failed because the server rejected the request early and closed the connection. In this
      // case, the server has read a part of the body, so the request is not repeated.
      if (body_ != nullptr && body_->taken() > kBuffered) return there;
    }
  }

  Result<bool> Read(std::string& out) override {
    if (stop_.stop_requested()) return Cancelled();
    YAD_TRY_VOID(Wait(Answer::Part::kSomeBytes));
    ended_ = !answer_->TakeBytes(out);
    return !ended_;
  }

  // Returns the whole response. Must be called after Start, with Kind::kUnary.
  HttpResponse TakeAll() {
    ended_ = true;
    answer_->TakeBytes(head_.body);
    return std::move(head_);
  }

  // Reads the whole body of an error response into head(). Called if the server responded with an error instead of
  // opening the stream (such as a watch).
  Status ReadRejection() { return ReadErrorBody(*this, what_, head_.body); }

 private:
  // Each attempt needs a new request, because the library moves the body out of the old request.
  http::http_request MakeRequest(const HttpRequest& from) {
    http::http_request request(from.method);
    request.set_request_uri(from.path);
    // Compression is not used. In a cluster's fast network, decompression takes more time than the shorter transfer
    // saves.
    request.headers().add("Accept-Encoding", "identity");
    if (!server_->host_header.empty()) request.headers().add("Host", server_->host_header);
    std::string content_type = "application/json";
    for (const auto& [name, value] : from.headers) {
      if (Lower(name) == "content-type") {
        content_type = value;
      } else {
        request.headers().add(name, value);
      }
    }
    if (!from.body.empty()) {
      body_ = std::make_shared<RequestBody>(from.body);
      const Streambuf body(body_);
      request.set_body(body.create_istream(), from.body.size(), content_type);
    }
    request.set_response_stream(Streambuf(answer_).create_ostream());
    return request;
  }

  static bool FailedToWrite(const std::exception_ptr& failure) {
    if (failure == nullptr) return false;
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& e) {
      return std::strncmp(e.what(), "Failed to write request", 23) == 0;
    } catch (...) {
      return false;
    }
  }

  // Observes the exceptions of all tasks, because the library terminates the process if the exception of a task is not
  // observed. The continuations themselves do not throw.
  void Follow(pplx::task<http::http_response> request) {
    request.then([answer = answer_](pplx::task<http::http_response> begun) {
      try {
        const http::http_response response = begun.get();
        std::map<std::string, std::string> headers;
        for (const auto& [name, value] : response.headers()) headers[Lower(name)] = value;
        answer->Begin(response.status_code(), std::move(headers));
        response.content_ready().then([answer](pplx::task<http::http_response> all) {
          try {
            all.get();
            answer->End(nullptr);
          } catch (...) {
            answer->End(std::current_exception());
          }
        });
      } catch (...) {
        answer->End(std::current_exception());
      }
    });
  }

  // Waits for a part of the response, until the timeout or the stop at the latest. The library's own timer is not used,
  // because it can't be set for each request, and does not end a name resolution.
  Status Wait(Answer::Part part) {
    Answer::Waited waited = answer_->Wait(part, stop_, timeout_);
    if (waited == Answer::Waited::kStopped && grace_ > grace_.zero()) {
      waited = answer_->Wait(part, {}, timeout_, std::chrono::steady_clock::now() + grace_);
      if (waited == Answer::Waited::kSilent) return Cancelled();
    }
    switch (waited) {
      case Answer::Waited::kThere:
        return {};
      case Answer::Waited::kFailed:
        if (stop_.stop_requested()) return Cancelled();
        return Fail(server_->Explain(answer_->failure()));
      case Answer::Waited::kStopped:
        break;
      case Answer::Waited::kSilent:
        Cancel();
        return Fail(Reason::kTransport,
                    what_ + (!answer_->has_begun() ? ": no response within " : ": no data received for ") +
                        TimeoutText(timeout_));
    }
    return Cancelled();
  }

  tl::unexpected<Error> Cancelled() {
    Cancel();
    return Fail(Reason::kCancelled, what_ + ": cancelled");
  }

  void Cancel() noexcept {
    ended_ = true;
    try {
      cancel_.cancel();
      if (answer_ != nullptr) answer_->Abandon();
    } catch (...) {  // There is nothing to cancel.
    }
  }

  const std::shared_ptr<Server> server_;
  const std::stop_token stop_;
  const std::chrono::milliseconds timeout_;
  const std::chrono::milliseconds grace_;
  const Answer::Limits limits_;
  const std::string what_;
  const Answer::Part awaited_;
  pplx::cancellation_token_source cancel_;
  std::shared_ptr<RequestBody> body_;  // body of the last attempt; null: no body
  std::shared_ptr<Answer> answer_;     // response to the last attempt
  HttpResponse head_;
  bool ended_ = false;
};

void RunLibraryOnOneThread() {
  static std::once_flag once;
  std::call_once(once, [] {
    try {
      // One thread is enough, because no code on these threads blocks. (The library's default is 40.) With one thread,
      // tasks are not passed between threads, so a watch event takes a third less CPU than with four threads.
      crossplat::threadpool::initialize_with_threads(1);
    } catch (const std::exception&) {  // The process has already initialized the pool.
    }
  });
}

Status SetProxy(const std::string& proxy_url, http::client::http_client_config& config) {
  // During a CONNECT to a proxy, the library ignores cancellations. If the proxy does not respond, only this timeout
  // ends the CONNECT. It is longer than any timeout of Wait(), so that it never ends a valid request.
  config.set_timeout(std::chrono::minutes(6));
  const web::uri proxy_uri(proxy_url);
  if (proxy_uri.scheme() != "http") {
    return Fail(Reason::kConfig, "proxy-url \"" + proxy_uri.host() + "\": only http:// proxies are supported");
  }
  // Adapts the URL to the library, which would connect to port 0 if the URL has no port. The brackets of an IPv6
  // address are removed, because the resolver does not accept them.
  web::uri_builder address(proxy_uri);
  if (proxy_uri.port() <= 0) address.set_port(80);
  if (const std::string& host = proxy_uri.host(); host.starts_with('[') && host.ends_with(']'))
    address.set_host(host.substr(1, host.size() - 2));
  web::web_proxy proxy(address.to_uri());
  const std::string user_info = web::uri::decode(proxy_uri.user_info());
  if (!user_info.empty()) {
    const std::size_t colon = std::min(user_info.find(':'), user_info.size());
    const std::string password = colon < user_info.size() ? user_info.substr(colon + 1) : "";
    proxy.set_credentials(web::credentials(user_info.substr(0, colon), password));
  }
  config.set_proxy(proxy);
  return {};
}

Status SetTls(const TransportOptions& options, Server& server, http::client::http_client_config& config) {
  YAD_TRY(server.tls, MakeTlsContext(options, server.host));
  config.set_validate_certificates(!options.insecure_skip_tls_verify);
  config.set_tlsext_sni_enabled(false);  // The context of MakeTlsContext sends it.
  // All connections share one context, because a context takes 130 KB.
  config.set_ssl_context_callback([shared = server.tls](boost::asio::ssl::context& context) {
    SSL_CTX_up_ref(shared.get());  // Boost's context releases this reference.
    context = boost::asio::ssl::context(shared.get());
  });
  return {};
}

}  // namespace

Result<std::shared_ptr<HttpTransport>> MakeCpprestTransport(const TransportOptions& options) {
  const auto bad = [&](const std::string& why) {
    return Fail(Reason::kConfig, "the server's address \"" + options.server + "\" " + why);
  };
  try {
    RunLibraryOnOneThread();
    const web::uri uri(options.server);
    if (uri.scheme() != "https" && uri.scheme() != "http") return bad("must begin with https:// (or http://)");
    if (uri.host().empty()) return bad("has no host");
    if (!uri.user_info().empty() || !uri.query().empty()) return bad("must not contain credentials or a query");

    auto server = std::make_shared<Server>();
    server->url = options.server;
    while (server->url.ends_with('/')) server->url.pop_back();
    server->host = uri.host();
    web::uri_builder base(uri);
    if (server->host.starts_with('[') && server->host.ends_with(']')) {
      // The resolver does not accept the brackets of an IPv6 address, but the library passes the host to it unchanged.
      // Only the Host header and requests to a proxy need the brackets.
      server->host_header = server->host + (uri.port() > 0 ? ":" + std::to_string(uri.port()) : "");
      server->host = server->host.substr(1, server->host.size() - 2);
      if (options.proxy_url.empty()) base.set_host(server->host);
    }

    http::client::http_client_config config;
    config.set_timeout(std::chrono::hours(24));  // Wait() enforces the real timeouts.
    config.set_max_redirects(0);                 // A redirect would send the credentials to another server.
    if (!options.proxy_url.empty()) YAD_TRY_VOID(SetProxy(options.proxy_url, config));
    if (uri.scheme() == "https") YAD_TRY_VOID(SetTls(options, *server, config));
    server->client = std::make_unique<http::client::http_client>(base.to_uri(), config);
    return std::make_shared<ExchangeTransport<Exchange, Server>>(std::move(server));
  } catch (const std::exception& e) {
    return bad(std::string("cannot be used: ") + e.what());
  }
}

}  // namespace yad
