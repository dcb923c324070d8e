#include "tests/bench/beast_transport.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <cctype>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace yad::bench {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Tcp = asio::ip::tcp;

struct Address {
  std::string host;
  std::string port;
};

Address ParseServer(const std::string& server) {
  const std::size_t begin = server.find("://") + 3;
  const std::size_t colon = server.find(':', begin);
  return {server.substr(begin, colon - begin), server.substr(colon + 1)};
}

struct Connection {
  asio::io_context io{1};
  beast::ssl_stream<Tcp::socket> stream;
  beast::flat_buffer buffer;

  Connection(asio::ssl::context& tls, const Address& address) : stream(io, tls) {
    SSL_set_tlsext_host_name(stream.native_handle(), address.host.c_str());
    stream.set_verify_callback(asio::ssl::host_name_verification(address.host));
    asio::connect(stream.next_layer(), Tcp::resolver(io).resolve(address.host, address.port));
    stream.next_layer().set_option(Tcp::no_delay(true));
    stream.handshake(asio::ssl::stream_base::client);
  }
};

http::request<http::string_body> ToBeast(const HttpRequest& from, const std::string& host) {
  http::request<http::string_body> request(http::string_to_verb(from.method), from.path, 11);
  request.set(http::field::host, host);
  request.set(http::field::accept_encoding, "identity");
  for (const auto& [name, value] : from.headers) request.set(name, value);
  request.body() = from.body;
  request.prepare_payload();
  return request;
}

void CopyHead(const http::fields& fields, unsigned status, HttpResponse& to) {
  to.status = static_cast<int>(status);
  for (const auto& field : fields) {
    std::string name(field.name_string());
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    to.headers[std::move(name)] = std::string(field.value());
  }
}

tl::unexpected<Error> TransportError(const beast::error_code& error) {
  return Fail(Reason::kTransport, error.message());
}

class BeastStream : public HttpStream {
 public:
  BeastStream(std::unique_ptr<Connection> connection, std::stop_token stop)
      : connection_(std::move(connection)), on_stop_(std::move(stop), Shutdown{this}) {
    parser_.body_limit(boost::none);
  }

  Status Start(const http::request<http::string_body>& request) {
    beast::error_code error;
    http::write(connection_->stream, request, error);
    if (!error) http::read_header(connection_->stream, connection_->buffer, parser_, error);
    if (error) return TransportError(error);
    CopyHead(parser_.get(), parser_.get().result_int(), head_);
    return {};
  }

  const HttpResponse& head() const override { return head_; }

  Result<bool> Read(std::string& out) override {
    while (!parser_.is_done()) {
      auto& body = parser_.get().body();
      body.data = chunk_;
      body.size = sizeof chunk_;
      body.more = true;
      beast::error_code error;
      http::read_some(connection_->stream, connection_->buffer, parser_, error);
      if (error && error != http::error::need_buffer) return TransportError(error);
      const std::size_t count = sizeof chunk_ - body.size;
      if (count == 0) continue;
      out.append(chunk_, count);
      return true;
    }
    return false;
  }

 private:
  // Shuts down the connection, which ends a blocked read.
  struct Shutdown {
    BeastStream* self;
    void operator()() const { ::shutdown(self->connection_->stream.next_layer().native_handle(), SHUT_RDWR); }
  };

  std::unique_ptr<Connection> connection_;
  http::response_parser<http::buffer_body> parser_;
  HttpResponse head_;
  char chunk_[65536];
  std::stop_callback<Shutdown> on_stop_;
};

class BeastTransport : public HttpTransport {
 public:
  explicit BeastTransport(const TransportOptions& options)
      : address_(ParseServer(options.server)), tls_(asio::ssl::context::tls_client) {
    tls_.add_certificate_authority(asio::buffer(options.tls.ca_pem));
    tls_.set_verify_mode(asio::ssl::verify_peer);
    if (options.tls.client_cert_pem.empty()) return;
    tls_.use_certificate_chain(asio::buffer(options.tls.client_cert_pem));
    tls_.use_private_key(asio::buffer(options.tls.client_key_pem), asio::ssl::context::pem);
  }

  Result<HttpResponse> Send(const HttpRequest& request, std::stop_token) override {
    const auto message = ToBeast(request, address_.host);
    for (;;) {
      std::unique_ptr<Connection> connection = Take();
      const bool kept = connection != nullptr;
      try {
        if (!kept) connection = std::make_unique<Connection>(tls_, address_);
        http::write(connection->stream, message);
        http::response_parser<http::string_body> parser;
        parser.body_limit(boost::none);
        http::read(connection->stream, connection->buffer, parser);
        HttpResponse response;
        CopyHead(parser.get(), parser.get().result_int(), response);
        response.body = std::move(parser.get().body());
        if (parser.keep_alive()) Keep(std::move(connection));
        return response;
      } catch (const beast::system_error& error) {
        // The server had closed this idle connection. The loop tries the next connection. It ends, because each attempt
        // removes a connection.
        if (kept) continue;
        return TransportError(error.code());
      }
    }
  }

  Result<std::unique_ptr<HttpStream>> Open(const HttpRequest& request, std::stop_token stop) override {
    try {
      auto stream = std::make_unique<BeastStream>(std::make_unique<Connection>(tls_, address_), std::move(stop));
      if (Status started = stream->Start(ToBeast(request, address_.host)); !started) return Fail(started.error());
      return stream;
    } catch (const beast::system_error& error) {
      return TransportError(error.code());
    }
  }

 private:
  // Returns an idle connection, or null.
  std::unique_ptr<Connection> Take() {
    std::lock_guard lock(mutex_);
    if (idle_.empty()) return nullptr;
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    return connection;
  }
  void Keep(std::unique_ptr<Connection> connection) {
    std::lock_guard lock(mutex_);
    idle_.push_back(std::move(connection));
  }

  const Address address_;
  asio::ssl::context tls_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace

std::shared_ptr<HttpTransport> MakeBareTransport(const TransportOptions& options) {
  return std::make_shared<BeastTransport>(options);
}

}  // namespace yad::bench
