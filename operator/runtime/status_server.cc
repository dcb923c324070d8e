#include "operator/runtime/status_server.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <utility>

#include "operator/base/catch_exceptions.h"
#include "operator/base/log.h"
#include "operator/runtime/acceptor.h"

namespace yad {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace net = boost::asio;
using tcp = net::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kMaxHeader = 8 * 1024;
constexpr std::uint64_t kMaxBody = 1024;
// A new reply is rendered only if at most this number of bytes of other replies are in memory. A reply with the metrics
// of 5,000 pools has 6.5 MB.
constexpr std::size_t kMaxUnsent = 16u << 20;
// The size of a connection's send buffer in the kernel. By default, the kernel buffers about 4 MB of a reply that the
// client does not read. This memory counts toward the memory limit of the container, but not toward kMaxUnsent. A
// smaller buffer would limit the speed too much: a connection sends about one buffer in each round trip, and a scrape
// times out after 10 s.
constexpr int kSendBuffer = 256 * 1024;

using Handlers = std::map<std::string, StatusServer::Handler>;
using Response = http::response<http::string_body>;

StatusServer::Reply Call(const StatusServer::Handler& handler) {
  auto reply = CatchExceptions([&]() -> Result<StatusServer::Reply> { return handler(); });
  if (reply) return *std::move(reply);
  log::Err("a status handler threw an exception", {{"error", reply.error()}});
  return {500, "internal error\n"};
}

class Session;

// The replies of one server that are being sent.
struct UnsentReplies {
  std::list<Session*> sessions;  // the session whose reply has waited longest is first
  std::size_t bytes = 0;         // includes the replies of closed sessions that are still in memory

  // Closes the sessions whose replies have waited longest, until the replies of the other sessions have at most
  // kMaxUnsent bytes. The memory is freed when the write handlers of the closed sessions have run.
  void CloseOldest();
};

// One connection. All its functions run on the server's thread.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, const Handlers& handlers, UnsentReplies& unsent, Duration timeout)
      : stream_(std::move(socket)), handlers_(handlers), unsent_(unsent), timeout_(timeout) {}

  void Read() {
    parser_.emplace();
    parser_->header_limit(kMaxHeader);
    parser_->body_limit(kMaxBody);
    stream_.expires_after(timeout_);
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return self->Reject(error);
      self->Answer();
    });
  }

  void Close() {
    closed_ = true;
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
  }

  bool closed() const { return closed_; }
  std::size_t unsent() const { return response_ ? response_->body().size() : 0; }

 private:
  // Handles a request that could not be read. Responds with 400. If the connection is broken or closed, or the read has
  // timed out, only closes the connection.
  void Reject(error_code error) {
    const bool gone = error == http::error::end_of_stream || error == http::error::partial_message ||
                      error == beast::error::timeout || error.category() == net::error::get_system_category();
    if (gone) return Close();
    Send({400, "bad request\n"}, false, false);
  }

  void Answer() {
    const auto& request = parser_->get();
    const bool head = request.method() == http::verb::head;
    if (!head && request.method() != http::verb::get) {
      return Send({405, "method not allowed\n"}, false, request.keep_alive());
    }
    const std::string target(request.target());
    const auto handler = handlers_.find(target.substr(0, target.find('?')));
    if (handler == handlers_.end()) {
      return Send({404, "not found\n"}, head, request.keep_alive());
    }
    if (unsent_.bytes > kMaxUnsent) {
      unsent_.CloseOldest();
      // This function runs again after the write handlers of the closed sessions, which already wait.
      return net::post(stream_.get_executor(), [self = shared_from_this()] { self->Answer(); });
    }
    Send(Call(handler->second), head, request.keep_alive());
  }

  void Send(StatusServer::Reply reply, bool head, bool keep_alive) {
    Response& response = response_.emplace();
    response.result(static_cast<unsigned>(reply.status));
    response.set(http::field::content_type, reply.content_type);
    response.set("X-Content-Type-Options", "nosniff");
    if (reply.status == 405) response.set(http::field::allow, "GET, HEAD");
    response.keep_alive(keep_alive);
    response.content_length(reply.body.size());
    if (!head) response.body() = std::move(reply.body);
    unsent_.sessions.push_back(this);
    unsent_.bytes += unsent();
    stream_.expires_after(timeout_);
    http::async_write(stream_, response, [self = shared_from_this(), keep_alive](error_code error, std::size_t) {
      self->FreeResponse();
      if (error || !keep_alive) return self->Close();
      self->Read();
    });
  }

  // Frees the memory of the reply, so that a connection that waits for its next request does not keep it.
  void FreeResponse() {
    unsent_.sessions.remove(this);
    unsent_.bytes -= unsent();
    response_.reset();
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{kMaxHeader + kMaxBody};
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<Response> response_;  // has a value while it is being sent
  bool closed_ = false;
  const Handlers& handlers_;
  UnsentReplies& unsent_;
  const Duration timeout_;
};

void UnsentReplies::CloseOldest() {
  std::size_t open = 0;
  for (const Session* session : sessions) open += session->closed() ? 0 : session->unsent();
  for (Session* session : sessions) {
    if (open <= kMaxUnsent) return;
    if (session->closed()) continue;
    open -= session->unsent();
    session->Close();
  }
}

}  // namespace

struct StatusServer::Impl {
  explicit Impl(StatusServerOptions the_options) : options(std::move(the_options)) {}

  const StatusServerOptions options;
  Handlers handlers;
  UnsentReplies unsent;
  net::io_context context{1};
  tcp::acceptor acceptor{context};
  AcceptLoop accept{acceptor, [this](tcp::socket socket) { Admit(std::move(socket)); }};
  std::list<std::weak_ptr<Session>> sessions;  // oldest first

  void Admit(tcp::socket socket) {
    sessions.remove_if([](const std::weak_ptr<Session>& session) { return session.expired(); });
    if (sessions.size() >= static_cast<std::size_t>(std::max(1, options.max_connections))) {
      if (const std::shared_ptr<Session> oldest = sessions.front().lock()) oldest->Close();
      sessions.pop_front();
    }
    error_code ignored;
    socket.set_option(net::socket_base::send_buffer_size(kSendBuffer), ignored);
    auto session = std::make_shared<Session>(std::move(socket), handlers, unsent, options.read_timeout);
    sessions.push_back(session);
    session->Read();
  }
};

StatusServer::StatusServer(StatusServerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

StatusServer::~StatusServer() = default;

void StatusServer::Handle(std::string path, Handler handler) {
  impl_->handlers.insert_or_assign(std::move(path), std::move(handler));
}

Status StatusServer::Listen() {
  const std::string& bind = impl_->options.bind;
  return bind.empty() || bind == "0" ? Status() : ListenOn(impl_->acceptor, bind);
}

int StatusServer::port() const {
  error_code error;
  const tcp::endpoint endpoint = impl_->acceptor.local_endpoint(error);
  return error ? 0 : endpoint.port();
}

Status StatusServer::Run(std::stop_token stop) {
  if (!impl_->acceptor.is_open()) return {};
  return CatchExceptions([&] {
    const std::stop_callback end(stop, [this] { impl_->context.stop(); });
    impl_->accept.Start();
    impl_->context.run();
    error_code ignored;
    impl_->acceptor.close(ignored);
  });
}

}  // namespace yad
