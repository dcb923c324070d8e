#include "plugin/dashboard/http_server.h"

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cstdint>
#include <exception>
#include <list>
#include <optional>
#include <sstream>
#include <utility>

#include "operator/base/log.h"
#include "operator/runtime/acceptor.h"

namespace yad {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace net = boost::asio;
using boost::system::error_code;
using tcp = net::ip::tcp;

// A browser opens at most six connections to a server. With more threads, the server can still respond to other
// requests, such as a reload of the page, while the requests of these connections wait for the apiserver.
constexpr int kHandlerThreads = 16;
constexpr std::chrono::seconds kFarewellTime{1};
constexpr char kHeartbeat[] = ": \n\n";

constexpr std::pair<const char*, const char*> kFixedHeaders[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri "
     "'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cache-Control", "no-store"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"}};

HttpReply StatusReply(int status, const std::string& text) {
  return {status, "application/json", "{\"error\": \"" + text + "\"}", nullptr};
}

HttpReply CallHandler(const HttpServer::Handler& handler, const HttpCall& call) {
  try {
    return handler(call);
  } catch (const std::exception& exception) {
    log::Err("a request handler threw an exception", {{"what", exception.what()}});
  } catch (...) {
    log::Err("a request handler threw an exception");
  }
  return StatusReply(500, "internal error");
}

// State that all connections share.
struct Shared {
  const HttpServerOptions options;
  const HttpServer::Handler handler;
  net::io_context context{1};
  net::thread_pool handlers{kHandlerThreads};
};

// One connection. All its functions run on the server's thread.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  HttpSession(tcp::socket socket, Shared& shared)
      : stream_(std::move(socket)),
        shared_(shared),
        heartbeat_(shared.context),
        buffer_(shared.options.max_header + shared.options.max_body) {}

  bool waits_for_request() const { return reading_; }

  void Read() {
    reading_ = true;
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(shared_.options.max_header));
    parser_->body_limit(shared_.options.max_body);
    stream_.expires_after(shared_.options.read_timeout);
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](error_code error, std::size_t) {
      self->reading_ = false;
      if (error) return self->Reject(error);
      self->Handle();
    });
  }

  // If this connection is a stream, sends its new events. Does nothing while it is still sending earlier events.
  void Pump() {
    if (feed_ == nullptr || writing_) return;
    std::string text = feed_->Next();
    if (!text.empty()) WriteEvents(std::move(text));
  }

  void Close() {
    error_code ignored;
    heartbeat_.cancel();
    feed_.reset();
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
  }

 private:
  // Responds to a request that could not be parsed. If the connection was closed or timed out, only closes it.
  void Reject(error_code error) {
    const bool gone = error == http::error::end_of_stream || error == http::error::partial_message ||
                      error == beast::error::timeout || error.category() == net::error::get_system_category();
    if (gone) return Close();
    if (error == http::error::body_limit) return Send(StatusReply(413, "the request is too large"), false, false);
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
      return Send(StatusReply(431, "the header is too large"), false, false);
    Send(StatusReply(400, "bad request"), false, false);
  }

  void Handle() {
    auto request = parser_->release();
    auto call = std::make_shared<HttpCall>();
    call->method = std::string(request.method_string());
    call->target = std::string(request.target());
    for (const auto& field : request) {
      if (field.name() == http::field::host) call->hosts.emplace_back(field.value());
      if (field.name() == http::field::origin) call->origins.emplace_back(field.value());
    }
    call->content_type = std::string(request[http::field::content_type]);
    call->body = std::move(request.body());
    net::post(shared_.handlers, [self = shared_from_this(), call, keep_alive = request.keep_alive()] {
      auto reply = std::make_shared<HttpReply>(CallHandler(self->shared_.handler, *call));
      net::post(self->shared_.context, [self, reply, keep_alive, head = call->method == "HEAD"] {
        self->Send(std::move(*reply), head, keep_alive);
      });
    });
  }

  void Send(HttpReply reply, bool head, bool keep_alive) {
    if (reply.feed != nullptr) return BeginStream(std::move(reply));
    response_ = {};
    response_.result(static_cast<unsigned>(reply.status));
    response_.set(http::field::content_type, reply.content_type);
    for (const auto& [name, value] : kFixedHeaders) response_.set(name, value);
    response_.keep_alive(keep_alive);
    response_.body() = std::move(reply.body);
    response_.prepare_payload();
    if (head) response_.body().clear();  // Content-Length is still the length of the body
    stream_.expires_after(shared_.options.write_timeout);
    http::async_write(stream_, response_, [self = shared_from_this(), keep_alive](error_code error, std::size_t) {
      if (error) return self->Close();
      if (!keep_alive) return self->Farewell();
      self->Read();
    });
  }

  // Ends a connection after its last response. Closes it when the client has closed its side, or after kFarewellTime.
  // If the server closed it immediately, a client that is still sending a rejected request would lose the response.
  void Farewell() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(kFarewellTime);
    AwaitEnd();
  }

  void BeginStream(HttpReply reply) {
    feed_ = std::move(reply.feed);
    http::response<http::empty_body> response;
    response.set(http::field::content_type, "text/event-stream");
    for (const auto& [name, value] : kFixedHeaders) response.set(name, value);
    response.keep_alive(false);  // The end of the connection ends the stream.
    std::ostringstream head;
    head << response.base();
    stream_.expires_never();
    AwaitEnd();
    WriteEvents(head.str() + feed_->Next());
  }

  // Reads and discards data in order to detect that the client has closed the connection.
  void AwaitEnd() {
    stream_.async_read_some(net::buffer(ignored_), [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return self->Close();
      self->AwaitEnd();
    });
  }

  void WriteEvents(std::string text) {
    writing_ = true;
    heartbeat_.cancel();
    text_ = std::move(text);
    WritePart(0);
  }

  // Writes text_ from this offset. Each part has its own timeout, because a long text may take much time on a slow
  // link.
  void WritePart(std::size_t offset) {
    // This timeout applies only to the write below. AwaitEnd started its read earlier and without a timeout.
    stream_.expires_after(shared_.options.write_timeout);
    const net::const_buffer rest = net::buffer(text_) + offset;
    stream_.async_write_some(rest, [self = shared_from_this(), offset](error_code error, std::size_t written) {
      if (!error && offset + written < self->text_.size()) return self->WritePart(offset + written);
      self->writing_ = false;
      self->text_ = {};
      if (error) return self->Close();
      self->Beat();
      self->Pump();
    });
  }

  void Beat() {
    if (feed_ == nullptr) return;
    heartbeat_.expires_after(shared_.options.heartbeat);
    heartbeat_.async_wait([self = shared_from_this()](error_code cancelled) {
      if (cancelled || self->feed_ == nullptr || self->writing_) return;
      self->WriteEvents(kHeartbeat);
    });
  }

  beast::tcp_stream stream_;
  Shared& shared_;
  net::steady_timer heartbeat_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
  bool reading_ = false;
  bool writing_ = false;  // a write of the stream is pending
  std::unique_ptr<EventFeed> feed_;
  std::string text_;
  std::array<char, 256> ignored_{};
};

}  // namespace

struct HttpServer::Impl {
  Impl(HttpServerOptions options, Handler handler) : shared{std::move(options), std::move(handler)} {}

  Shared shared;
  tcp::acceptor acceptor{shared.context};
  AcceptLoop accept{acceptor, [this](tcp::socket socket) { Admit(std::move(socket)); }};
  std::list<std::weak_ptr<HttpSession>> sessions;  // oldest first

  void Admit(tcp::socket socket) {
    sessions.remove_if([](const std::weak_ptr<HttpSession>& session) { return session.expired(); });
    if (sessions.size() >= shared.options.max_connections && !CloseIdle()) return;  // The socket closes here.
    auto session = std::make_shared<HttpSession>(std::move(socket), shared);
    sessions.push_back(session);
    session->Read();
  }

  bool CloseIdle() {
    for (auto it = sessions.begin(); it != sessions.end(); ++it) {
      const std::shared_ptr<HttpSession> session = it->lock();
      if (session == nullptr || !session->waits_for_request()) continue;
      session->Close();
      sessions.erase(it);
      return true;
    }
    return false;
  }
};

HttpServer::HttpServer(HttpServerOptions options, Handler handler)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(handler))) {}

HttpServer::~HttpServer() = default;

Status HttpServer::Listen() {
  return ListenOn(impl_->acceptor, "127.0.0.1:" + std::to_string(impl_->shared.options.port));
}

int HttpServer::port() const {
  error_code error;
  const tcp::endpoint endpoint = impl_->acceptor.local_endpoint(error);
  return error ? 0 : endpoint.port();
}

Status HttpServer::Run(std::stop_token stop) {
  Impl& impl = *impl_;
  try {
    const std::stop_callback end(stop, [&] { impl.shared.context.stop(); });
    impl.accept.Start();
    impl.shared.context.run();
    impl.shared.handlers.stop();
    impl.shared.handlers.join();
  } catch (const std::exception& exception) {
    return Fail(Reason::kInternalError, std::string("the server failed: ") + exception.what());
  }
  error_code ignored;
  impl.acceptor.close(ignored);
  return {};
}

void HttpServer::Wake() {
  net::post(impl_->shared.context, [this] {
    for (const std::weak_ptr<HttpSession>& weak : impl_->sessions) {
      if (const std::shared_ptr<HttpSession> session = weak.lock()) session->Pump();
    }
  });
}

}  // namespace yad
