#include "webhook/server/https_server.h"

#include <openssl/ssl.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "operator/base/log.h"
#include "operator/runtime/acceptor.h"
#include "webhook/server/body_budget.h"

namespace yad {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace net = boost::asio;
namespace ssl = boost::asio::ssl;
using tcp = net::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kMaxHeader = 16 * 1024;
// The maximum size of a read buffer. A header, the head of a chunk, and the trailers must each fit into the buffer,
// because the parser needs them as a whole.
constexpr std::size_t kMaxBuffer = 64 * 1024;
constexpr std::size_t kFirstRead = 4 * 1024;  // the largest buffer of an idle connection
constexpr int kIoThreads = 2;
constexpr std::chrono::seconds kFarewellTime{1};  // for the client's response to a TLS shutdown
constexpr std::chrono::seconds kDiscardTime{5};   // for the rest of a rejected request
// The size of a connection's send buffer in the kernel. By default, the kernel buffers about 4 MB of a reply that the
// client does not read. This memory counts toward the memory limit of the container, but not toward max_bodies.
constexpr int kSendBuffer = 64 * 1024;

// The number of connections. Thread-safe.
class Count {
 public:
  void Add(int by) {
    std::lock_guard lock(mutex_);
    count_ += by;
    if (count_ == 0) none_.notify_all();
  }
  std::size_t Value() const {
    std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(count_);
  }
  void AwaitNone(Duration timeout) {
    std::unique_lock lock(mutex_);
    none_.wait_for(lock, timeout, [this] { return count_ == 0; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable none_;
  int count_ = 0;
};

struct Shared {
  const HttpsServerOptions options;
  const HttpsServer::Handler handler;
  BodyBudget bodies;
  Count connections;
  net::thread_pool handlers;
  net::thread_pool large_handler{1};
  net::thread_pool quick_handler{1};
  std::atomic<bool> stopping{false};  // true: a connection closes after its next response
  std::atomic<bool> draining{false};  // true: a connection closes instead of waiting for its next request

  Shared(HttpsServerOptions the_options, HttpsServer::Handler the_handler)
      : options(std::move(the_options)),
        handler(std::move(the_handler)),
        bodies(options.max_bodies),
        handlers(static_cast<std::size_t>(std::max(options.handler_threads, 1))) {}

  net::thread_pool& PoolFor(const HttpsCall& call) {
    if (options.is_quick && options.is_quick(call)) return quick_handler;
    return call.body.size() > options.large_body ? large_handler : handlers;
  }

  HttpsReply Call(const HttpsCall& call) const {
    try {
      return handler(call);
    } catch (const std::exception& exception) {
      log::Err("a webhook handler threw an exception", {{"target", call.target}, {"what", exception.what()}});
    } catch (...) {
      log::Err("a webhook handler threw an exception", {{"target", call.target}});
    }
    return PlainReply(500, "internal error");
  }
};

// One connection. Its asynchronous operations run on its strand, one after the other. Only the handler runs on another
// thread. While the handler runs, no operation is pending.
class Session : public BodyBudget::Holder, public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, std::shared_ptr<ssl::context> context, Shared& shared)
      : context_(std::move(context)), stream_(std::move(socket), *context_), shared_(shared) {
    shared_.connections.Add(1);
  }
  ~Session() override {
    Hold(0);
    shared_.connections.Add(-1);
  }

  void Start() {
    net::dispatch(stream_.get_executor(), [self = shared_from_this()] { self->Handshake(); });
  }

  // The connection waits for its client during a handshake, before and during a request, while the client reads a
  // reply, and until the client closes the connection. The bytes of a request do not restart the wait, because a client
  // may send a request that never ends.
  SteadyTime::rep waits_since() const override { return aborted_ ? 0 : waits_since_.load(); }
  // Called when the server stops. Closes the connection immediately if it is idle; otherwise, closes it after its
  // reply. Thread-safe.
  void Drain() {
    net::post(stream_.get_executor(), [self = shared_from_this()] {
      if (!self->request_begun_) self->Close();
    });
  }
  void Abort() override {
    aborted_ = true;
    auto self = weak_from_this().lock();  // nullptr in the destructor
    if (self != nullptr) net::post(stream_.get_executor(), [self = std::move(self)] { self->Close(); });
  }

 private:
  enum class Then { kNextRequest, kShutdown, kDiscard };  // the next step after a reply

  // The completion handler of all asynchronous operations. It keeps the session alive, and calls a member function.
  // Because all operations have the same type of handler, the compiler instantiates each operation of Beast only once.
  // Each instantiation takes seconds.
  struct CompletionHandler {
    std::shared_ptr<Session> session;
    void (Session::*step)(error_code error, std::size_t bytes);
    void operator()(error_code error, std::size_t bytes = 0) const { (session.get()->*step)(error, bytes); }
  };
  CompletionHandler Handler(void (Session::*step)(error_code, std::size_t)) { return {shared_from_this(), step}; }

  void Expire(Duration after) {
    beast::get_lowest_layer(stream_).expires_after(std::chrono::duration_cast<std::chrono::milliseconds>(after));
  }
  void Close() { beast::get_lowest_layer(stream_).close(); }
  void WaitForClient() { waits_since_ = Clock::Real().Now().time_since_epoch().count(); }
  void WaitForClient(Duration limit) {
    WaitForClient();
    Expire(limit);
  }

  void Handshake() {
    WaitForClient(shared_.options.handshake_timeout);
    stream_.async_handshake(ssl::stream_base::server, Handler(&Session::OnHandshake));
  }
  void OnHandshake(error_code error, std::size_t) {
    if (!error) return AwaitRequest();
    // The handshake fails for clients that do not trust the certificate, but also for probes and scanners.
    log::Debug("TLS handshake with a client of the webhook failed", {{"error", error.message()}});
  }

  // The idle timeout ends with the first byte of a request. Then the request has its own limit.
  void AwaitRequest() {
    if (buffer_.size() > 0) return ReadHeader();  // The client has already sent its next request.
    if (shared_.draining) return Shutdown();
    request_begun_ = false;
    WaitForClient(shared_.options.idle_timeout);
    buffer_.shrink_to_fit();
    stream_.async_read_some(buffer_.prepare(kFirstRead), Handler(&Session::OnFirstBytes));
  }
  void OnFirstBytes(error_code error, std::size_t bytes) {
    if (error) return;
    buffer_.commit(bytes);
    ReadHeader();
  }

  void ReadHeader() {
    request_begun_ = true;
    WaitForClient(shared_.options.read_timeout);
    version_ = 11;
    head_ = false;
    parser_.emplace();
    parser_->header_limit(kMaxHeader);
    parser_->body_limit(shared_.options.max_body);
    http::async_read_header(stream_, buffer_, *parser_, Handler(&Session::OnHeader));
  }
  void OnHeader(error_code error, std::size_t) {
    if (error) return Reject(error);
    Continue();
  }

  void Continue() {
    const auto& request = parser_->get();
    if (parser_->is_done() || request.version() < 11 || !beast::iequals(request[http::field::expect], "100-continue")) {
      return ReadBody();
    }
    response_ = {};
    response_.result(http::status::continue_);
    http::async_write(stream_, response_, Handler(&Session::OnContinued));
  }
  void OnContinued(error_code error, std::size_t) {
    if (!error) ReadBody();
  }

  // Reads the body in parts, and takes bytes from the budget only when they arrive. So a client cannot reserve memory
  // with a large Content-Length.
  void ReadBody() {
    if (parser_->is_done()) return Handle();
    http::async_read_some(stream_, buffer_, *parser_, Handler(&Session::OnBody));
  }
  void OnBody(error_code error, std::size_t) {
    if (error) return Reject(error);
    if (!Hold(parser_->get().body().size())) {
      return Reject(503, "the memory for request bodies is used up; try again");
    }
    ReadBody();
  }

  void Handle() {
    waits_since_ = 0;
    auto request = parser_->release();
    version_ = request.version();
    head_ = request.method() == http::verb::head;
    const Then then = request.keep_alive() ? Then::kNextRequest : Then::kShutdown;
    HttpsCall call{std::string(request.method_string()), std::string(request.target()),
                   std::string(request[http::field::content_type]), std::move(request.body()), Clock::Real().Now()};
    // While the handler works, the connection has no timeout.
    beast::get_lowest_layer(stream_).expires_never();
    net::thread_pool& pool = shared_.PoolFor(call);
    net::post(pool, [self = shared_from_this(), call = std::move(call), then]() mutable {
      HttpsReply reply = self->shared_.Call(call);
      call.body = std::string();
      net::post(self->stream_.get_executor(),
                [self, reply = std::move(reply), then]() mutable { self->Handled(std::move(reply), then); });
    });
  }

  // The budget now counts the reply instead of the request's body.
  void Handled(HttpsReply reply, Then then) {
    WaitForClient();
    if (!Hold(reply.body.size())) reply = PlainReply(503, "the memory for response bodies is used up; try again");
    Send(std::move(reply), then);
  }

  // Replies to a request that can't be passed to a handler.
  void Reject(error_code error) {
    if (error == http::error::body_limit) {
      return Reject(413, "the request is larger than " + std::to_string(shared_.options.max_body) + " bytes");
    }
    if (error == http::error::header_limit) return Reject(431, "the header is too large");
    const bool gone = error == http::error::end_of_stream || error == http::error::partial_message;
    if (!gone && error.category() == error_code(http::error::bad_method).category()) {
      return Reject(400, "this is not an HTTP/1.1 request");
    }
    // For any other error, the client has closed the connection, or is too slow. The server does not reply, and the
    // connection closes when this object is destroyed.
  }

  void Reject(int status, const std::string& text) {
    parser_.reset();
    Hold(0);
    Send(PlainReply(status, text), Then::kDiscard);
  }

  // Sends a reply. Does not change waits_since_, so the connection still counts as waiting for its client. If the
  // client does not read the reply, MakeRoom can close the connection.
  void Send(HttpsReply reply, Then then) {
    parser_.reset();
    if (then == Then::kNextRequest && shared_.stopping) then = Then::kShutdown;
    response_ = {};
    response_.version(version_);
    response_.result(static_cast<unsigned>(reply.status));
    response_.set(http::field::content_type, reply.content_type);
    response_.keep_alive(then == Then::kNextRequest);
    response_.body() = std::move(reply.body);
    response_.prepare_payload();
    if (head_) response_.body().clear();  // Content-Length stays.
    then_ = then;
    Expire(shared_.options.read_timeout);
    http::async_write(stream_, response_, Handler(&Session::OnSent));
  }
  void OnSent(error_code error, std::size_t) {
    response_ = {};
    Hold(0);
    if (error) return;
    switch (then_) {
      case Then::kNextRequest:
        return AwaitRequest();
      case Then::kShutdown:
        return Shutdown();
      case Then::kDiscard:
        Expire(kDiscardTime);
        return Discard();
    }
  }

  void Shutdown() {
    Expire(kFarewellTime);
    stream_.async_shutdown(Handler(&Session::OnShutdown));
  }
  void OnShutdown(error_code, std::size_t) { Close(); }

  // Reads and drops the rest of the request. A close while the client is still sending would reset the connection, and
  // the client would not receive the reply.
  void Discard() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(kMaxBuffer), Handler(&Session::OnDiscarded));
  }
  void OnDiscarded(error_code error, std::size_t) {
    if (!error) Discard();
  }

  // Sets the number of bytes that this connection has in memory. Returns false if the budget does not allow them. The
  // number of connections limits the memory for small bodies, so they always fit.
  bool Hold(std::size_t bytes) { return shared_.bodies.Set(*this, bytes > shared_.options.large_body ? bytes : 0); }

  const std::shared_ptr<ssl::context> context_;  // must outlive stream_, even if the certificate was replaced
  ssl::stream<beast::tcp_stream> stream_;
  Shared& shared_;
  beast::flat_buffer buffer_{kMaxBuffer};
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
  unsigned version_ = 11;  // of the request
  bool head_ = false;
  Then then_ = Then::kNextRequest;  // after response_ is written
  std::atomic<SteadyTime::rep> waits_since_{0};
  std::atomic<bool> aborted_{false};
  bool request_begun_ = false;  // a request has begun, and its reply has not been sent
};

}  // namespace

struct HttpsServer::Impl {
  Impl(HttpsServerOptions options, std::shared_ptr<const ServingCertificate> the_certificate, Handler handler)
      : certificate(std::move(the_certificate)), shared(std::move(options), std::move(handler)) {}

  const std::shared_ptr<const ServingCertificate> certificate;
  Shared shared;
  net::io_context context{kIoThreads};
  // The acceptor and the list of sessions are used only on this strand.
  net::strand<net::io_context::executor_type> strand{context.get_executor()};
  tcp::acceptor acceptor{strand};
  int port = 0;  // the port of the acceptor, kept after the acceptor is closed
  AcceptLoop accept{acceptor, [this](tcp::socket socket) { Begin(std::move(socket)); }, &context};
  std::list<std::weak_ptr<Session>> sessions;

  void Begin(tcp::socket socket) {
    if (shared.draining) return;
    const std::shared_ptr<SSL_CTX> pair = certificate->loaded().context;
    if (pair == nullptr || !MakeRoom()) return;  // The connection is closed, and the client may reach another replica.
    SSL_CTX_up_ref(pair.get());                  // The ssl::context below releases one reference.
    error_code ignored;
    socket.set_option(tcp::no_delay(true),
                      ignored);  // A reply must not wait for the acknowledgement of the previous reply.
    socket.set_option(net::socket_base::send_buffer_size(kSendBuffer), ignored);
    auto session = std::make_shared<Session>(std::move(socket), std::make_shared<ssl::context>(pair.get()), shared);
    sessions.push_back(session);
    session->Start();
  }

  // Returns whether one more connection is allowed. At the limit, closes the connection that has waited longest for its
  // client, so that a client with many connections cannot block the apiserver.
  bool MakeRoom() {
    std::erase_if(sessions, [](const auto& weak) { return weak.expired(); });
    if (shared.connections.Value() < shared.options.max_connections) return true;
    std::shared_ptr<Session> quietest;
    SteadyTime::rep since = 0;
    for (const auto& weak : sessions) {
      auto session = weak.lock();
      const SteadyTime::rep waits_since = session == nullptr ? 0 : session->waits_since();
      if (waits_since == 0 || (quietest != nullptr && waits_since >= since)) continue;
      since = waits_since;
      quietest = std::move(session);
    }
    if (quietest == nullptr) return false;
    quietest->Abort();
    return true;
  }

  void RunContext() {
    for (;;) {
      try {
        context.run();
        return;
      } catch (const std::exception& exception) {
        // Only this connection has failed. Its resources are freed with it.
        log::Err("a connection of the webhook failed", {{"what", exception.what()}});
      }
    }
  }

  Status Run(std::stop_token stop) {
    auto work = net::make_work_guard(context);
    net::post(strand, [this] { accept.Start(); });
    std::vector<std::jthread> threads;
    for (int i = 0; i < kIoThreads; ++i) threads.emplace_back([this] { RunContext(); });

    Clock::Real().Sleep(Duration::max(), stop);
    shared.stopping = true;
    std::this_thread::sleep_for(shared.options.linger);

    shared.draining = true;
    const auto each = [this](void (Session::*what)()) {
      net::post(strand, [this, what] {
        error_code ignored;
        acceptor.close(ignored);
        for (const auto& weak : sessions) {
          if (const auto session = weak.lock()) (session.get()->*what)();
        }
      });
    };
    each(&Session::Drain);
    shared.connections.AwaitNone(shared.options.drain_timeout);
    each(&Session::Abort);
    shared.handlers.join();
    shared.large_handler.join();
    shared.quick_handler.join();
    work.reset();
    threads.clear();
    return {};
  }
};

HttpsServer::HttpsServer(HttpsServerOptions options, std::shared_ptr<const ServingCertificate> certificate,
                         Handler handler)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(certificate), std::move(handler))) {}
HttpsServer::~HttpsServer() = default;

Status HttpsServer::Listen() {
  YAD_TRY_VOID(ListenOn(impl_->acceptor, impl_->shared.options.bind));
  impl_->port = impl_->acceptor.local_endpoint().port();
  return {};
}

int HttpsServer::port() const { return impl_->port; }

Status HttpsServer::Run(std::stop_token stop) { return impl_->Run(std::move(stop)); }

}  // namespace yad
