#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cctype>
#include <limits>
#include <optional>
#include <utility>

#include "operator/client/transport/connection_pool.h"
#include "operator/client/transport/dialer.h"
#include "operator/client/transport/transport_options.h"

namespace yad {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

using Code = Connection::Code;
using Request = http::request<http::span_body<const char>>;

// A body type that appends to a string. Beast's string_body would reserve the whole Content-Length, which a server can
// choose freely.
struct TextBody {
  using value_type = std::string;

  class reader {
   public:
    template <bool isRequest, class Fields>
    reader(http::header<isRequest, Fields>&, std::string& text) : text_(text) {}
    void init(const boost::optional<std::uint64_t>& length, Code& error) {
      error = {};
      if (length) text_.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(*length, kMaxReserved)));
    }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, Code& error) {
      error = {};
      std::size_t size = 0;
      for (const asio::const_buffer buffer : beast::buffers_range_ref(buffers)) {
        text_.append(static_cast<const char*>(buffer.data()), buffer.size());
        size += buffer.size();
      }
      return size;
    }
    void finish(Code& error) { error = {}; }

   private:
    static constexpr std::uint64_t kMaxReserved = 1u << 20;
    std::string& text_;
  };
};
using Parser = http::response_parser<TextBody>;

constexpr std::chrono::seconds kConnectTimeout{15};
constexpr std::size_t kChunk = 16u << 10;       // a TLS record
constexpr std::size_t kMaxHeaders = 64u << 10;  // an apiserver sends up to 4 KiB of warnings

// The state that all requests to a server share. Open streams keep it alive.
struct Server {
  Server(std::unique_ptr<Dialer> to_server, const ConnectionPool::Limits& limits)
      : dialer(std::move(to_server)), pool(limits) {}

  const std::unique_ptr<Dialer> dialer;
  ConnectionPool pool;
};

SteadyTime In(std::chrono::milliseconds timeout) { return std::chrono::steady_clock::now() + timeout; }

// The stream to which Beast writes a request. It joins small buffers, so that the headers and a short body are sent in
// one TLS record.
class RequestSink {
 public:
  RequestSink(Connection& connection, std::chrono::milliseconds timeout) : connection_(connection), timeout_(timeout) {}

  template <class Buffers>
  std::size_t write_some(const Buffers& buffers, Code& error) {
    std::array<char, kChunk> joined;
    const std::size_t size = asio::buffer_copy(asio::buffer(joined), buffers);
    const std::size_t written = connection_.Write(joined.data(), size, In(timeout_), error);
    written_ += written;
    return written;
  }
  template <class Buffers>
  std::size_t write_some(const Buffers& buffers) {
    Code error;
    const std::size_t written = write_some(buffers, error);
    if (error) throw beast::system_error(error);
    return written;
  }
  std::size_t written() const { return written_; }

 private:
  Connection& connection_;
  const std::chrono::milliseconds timeout_;
  std::size_t written_ = 0;
};

// One request and its response.
class Exchange : public HttpStream {
 public:
  enum class Kind { kUnary, kStream };

  Exchange(std::shared_ptr<Server> server, const HttpRequest& request, Kind kind, std::stop_token stop)
      : server_(std::move(server)),
        stop_(std::move(stop)),
        timeout_(request.timeout),
        grace_(request.grace_after_stop),
        is_stream_(kind == Kind::kStream),
        max_answer_(request.max_answer),
        what_(request.method + " " + server_->dialer->url() + request.path.substr(0, request.path.find('?'))) {}

  const HttpResponse& head() const override { return head_; }

  // Sends the request and reads the head of the response.
  Status Start(const HttpRequest& request);
  Result<bool> Read(std::string& out) override;
  // Reads the rest of the response, and returns the connection to the pool. Must be called after Start.
  Result<HttpResponse> TakeAll();
  // Reads the whole body of an error response into head(). Called if the server responded with an error instead of
  // opening the stream (such as a watch).
  Status ReadRejection() { return ReadErrorBody(*this, what_, head_.body); }

 private:
  Request MakeRequest(const HttpRequest& from) const;
  Status Connect(bool pooled);
  // Returns true if the request may be sent again. All of these must be true:
  // - The connection is from the pool.
  // - No byte of a response has arrived.
  // - The request is a GET, or no byte of it was written.
  // - The request was not stopped.
  bool MayRepeat(const HttpRequest& request, std::size_t written) const;
  Code ReadHead();
  // Reads the next bytes of the response and parses them. The parser appends the bytes of the body to its message.
  Code ParseSome();
  void TakeHead();
  void GiveBack();
  tl::unexpected<Error> Explain(const Code& error);

  const std::shared_ptr<Server> server_;
  const std::stop_token stop_;
  const std::chrono::milliseconds timeout_;
  const std::chrono::milliseconds grace_;
  const bool is_stream_;
  const std::size_t max_answer_;
  const std::string what_;
  PooledConnection connection_;
  bool from_pool_ = false;
  std::optional<std::stop_callback<std::function<void()>>> interrupt_;  // set while there is a connection
  std::optional<Parser> parser_;
  beast::flat_buffer unparsed_;
  bool something_arrived_ = false;
  HttpResponse head_;
};

Request Exchange::MakeRequest(const HttpRequest& from) const {
  const Dialer& dialer = *server_->dialer;
  std::string target = dialer.server().prefix + from.path;
  Request request;
  if (const ProxyAddress* proxy = dialer.forwarding_proxy()) {
    target = "http://" + dialer.server().authority + target;
    if (!proxy->authorization.empty()) request.set(http::field::proxy_authorization, proxy->authorization);
  }
  request.method_string(from.method);
  request.target(target);
  request.version(11);
  request.set(http::field::host, dialer.server().authority);
  // Compression is not used. In a cluster's fast network, decompression takes more time than the shorter transfer
  // saves.
  request.set(http::field::accept_encoding, "identity");
  if (!from.body.empty()) request.set(http::field::content_type, "application/json");
  for (const auto& [name, value] : from.headers) request.set(name, value);
  request.body() = beast::span<const char>(from.body.data(), from.body.size());
  if (!from.body.empty() || (from.method != "GET" && from.method != "DELETE")) request.prepare_payload();
  return request;
}

Status Exchange::Connect(bool pooled) {
  interrupt_.reset();
  connection_ = pooled ? server_->pool.Take() : PooledConnection{};
  from_pool_ = connection_.connection != nullptr;
  if (!from_pool_) {
    const auto timeout = std::min<std::chrono::milliseconds>(timeout_, kConnectTimeout);
    Result<std::unique_ptr<Connection>> dialed = server_->dialer->Dial(In(timeout), stop_);
    if (stop_.stop_requested()) return Fail(Reason::kCancelled, what_ + ": cancelled");
    if (!dialed) return Fail(dialed.error());
    connection_ = {std::move(*dialed), server_->pool.RetireAt()};
  }
  connection_.connection->SetGrace(grace_);
  interrupt_.emplace(stop_, [connection = connection_.connection.get()] { connection->Interrupt(); });
  return {};
}

bool Exchange::MayRepeat(const HttpRequest& request, std::size_t written) const {
  if (!from_pool_ || something_arrived_ || stop_.stop_requested()) return false;
  return written == 0 || request.method == "GET";
}

Status Exchange::Start(const HttpRequest& request) {
  if (stop_.stop_requested()) return Fail(Reason::kCancelled, what_ + ": cancelled");
  const Request message = MakeRequest(request);
  for (int attempt = 1;; ++attempt) {
    // The first attempt may use a pooled connection, unless the request opens a stream. The second attempt uses a new
    // connection, because all pooled connections are closed if the server has restarted.
    YAD_TRY_VOID(Connect(!is_stream_ && attempt == 1));
    if (request.may_send && !request.may_send()) {
      return Fail(Reason::kCancelled, what_ + ": cancelled, because this process may no longer send it");
    }
    RequestSink sink(*connection_.connection, timeout_);
    Code write_error;
    http::write(sink, message, write_error);
    // A response may have arrived although the write failed: the server may respond and close the connection before it
    // has read the whole body.
    const bool timed_out = write_error == asio::error::timed_out;
    const Code error = timed_out ? write_error : ReadHead();
    if (!error) break;
    if (attempt == 1 && error != asio::error::timed_out && MayRepeat(request, sink.written())) continue;
    if (from_pool_ && !something_arrived_) server_->pool.Clear();
    return Explain(write_error ? write_error : error);
  }
  TakeHead();
  return {};
}

Code Exchange::ReadHead() {
  something_arrived_ = false;
  unparsed_.clear();
  for (;;) {
    parser_.emplace();
    parser_->eager(false);
    parser_->header_limit(kMaxHeaders);
    // The body of a stream may have any length. The limit is then the largest number, because Boost 1.74 reads
    // boost::none as a limit of 0 if the response has a Content-Length.
    parser_->body_limit(is_stream_ ? std::numeric_limits<std::uint64_t>::max() : max_answer_);
    while (!parser_->is_header_done()) {
      if (const Code error = ParseSome()) return error;
    }
    // 1xx responses, such as Early Hints, come before the real response.
    if (parser_->get().result_int() / 100 != 1 || parser_->get().result_int() == 101) break;
  }
  parser_->eager(true);
  return {};
}

Code Exchange::ParseSome() {
  Code error;
  if (unparsed_.size() > 0) {
    // Parses the bytes that remain from an earlier read. If the parser uses some of them, returns immediately, because
    // another read could block while the caller waits for these bytes.
    const std::size_t taken = parser_->put(unparsed_.data(), error);
    unparsed_.consume(taken);
    if (error == http::error::need_more) error = {};
    if (error || taken > 0) return error;
  }
  const auto space = unparsed_.prepare(kChunk);
  const std::size_t count =
      connection_.connection->Read(static_cast<char*>(space.data()), space.size(), In(timeout_), error);
  if (error == asio::error::eof && something_arrived_) {
    parser_->put_eof(error);  // the end of a body without a length, or of an incomplete response
    return error;
  }
  if (error) return error;
  something_arrived_ = true;
  unparsed_.commit(count);
  unparsed_.consume(parser_->put(unparsed_.data(), error));
  if (error == http::error::need_more) return {};
  return error;
}

void Exchange::TakeHead() {
  const Parser::value_type& answer = parser_->get();
  head_.status = static_cast<int>(answer.result_int());
  for (const auto& field : answer) {
    std::string name(field.name_string());
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    std::string& value = head_.headers[std::move(name)];
    if (!value.empty()) value += ", ";
    value.append(field.value().data(), field.value().size());
  }
}

void Exchange::GiveBack() {
  interrupt_.reset();
  const bool reusable = parser_->keep_alive() && unparsed_.size() == 0 && !stop_.stop_requested();
  if (reusable) {
    server_->pool.Put(std::move(connection_));
  } else {
    connection_.connection->SendCloseNotify();
  }
  connection_ = {};
}

tl::unexpected<Error> Exchange::Explain(const Code& error) {
  if (stop_.stop_requested()) return Fail(Reason::kCancelled, what_ + ": cancelled");
  const std::string& url = server_->dialer->url();
  if (error == asio::error::timed_out) {
    return Fail(Reason::kTransport, what_ + (something_arrived_ ? ": no data received for " : ": no response within ") +
                                        TimeoutText(timeout_));
  }
  if (const std::string reason = server_->dialer->Explain(error); !reason.empty()) {
    return Fail(Reason::kTransport, "cannot connect to " + url + ": " + reason);
  }
  if (error == http::error::body_limit) {
    return Fail(Reason::kTooLarge,
                what_ + ": the response is larger than " + std::to_string(max_answer_ >> 20) + " MiB");
  }
  const bool is_http_fault = error.category() == http::make_error_code(http::error::end_of_stream).category() &&
                             error != http::error::partial_message && error != http::error::end_of_stream;
  if (is_http_fault) return Fail(Reason::kTransport, "no HTTP response from " + url + ": " + error.message());
  return Fail(Reason::kTransport, "the connection to " + url + " broke: " + error.message());
}

Result<bool> Exchange::Read(std::string& out) {
  if (stop_.stop_requested()) return Fail(Reason::kCancelled, what_ + ": cancelled");
  std::string& body = parser_->get().body();
  while (body.empty() && !parser_->is_done()) {
    if (const Code error = ParseSome()) return Explain(error);
  }
  // An idle stream should not keep a buffer.
  if (unparsed_.size() == 0) unparsed_ = {};
  const bool more = !body.empty();
  out += body;
  body.clear();
  return more;
}

Result<HttpResponse> Exchange::TakeAll() {
  while (!parser_->is_done()) {
    if (const Code error = ParseSome()) return Explain(error);
  }
  head_.body = std::move(parser_->get().body());
  GiveBack();
  return std::move(head_);
}

}  // namespace

Result<std::shared_ptr<HttpTransport>> MakeBeastTransport(const TransportOptions& options) {
  YAD_TRY(std::unique_ptr<Dialer> dialer, Dialer::Make(options));
  const ConnectionPool::Limits limits{
      .min_age = options.min_connection_age, .max_age = options.max_connection_age, .max_idle = options.max_idle};
  return std::make_shared<ExchangeTransport<Exchange, Server>>(std::make_shared<Server>(std::move(dialer), limits));
}

}  // namespace yad
