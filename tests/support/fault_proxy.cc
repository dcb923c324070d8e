#include "tests/support/fault_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffer_traits.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <list>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "operator/client/auth/config.h"
#include "operator/client/transport/base64.h"
#include "tests/support/eventually.h"
#include "tests/support/process.h"
#include "tests/support/test_pki.h"

namespace yad::testing {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

constexpr char kLoopback[] = "127.0.0.1";
constexpr std::uint32_t kMaxHeader = 1 << 20;

using ContextPtr = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

template <typename T, typename Read, typename Use>
void UsePem(const std::string& pem, Read read, void (*release)(T*), Use use) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  T* object = read(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  if (object == nullptr || use(object) != 1) throw TestFailure("the proxy can't use a certificate or key");
  release(object);
}

ContextPtr ServerContext(const CertificateAndKey& identity) {
  ContextPtr context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  UsePem<X509>(identity.cert_pem, PEM_read_bio_X509, X509_free,
               [&](X509* cert) { return SSL_CTX_use_certificate(context.get(), cert); });
  UsePem<EVP_PKEY>(identity.key_pem, PEM_read_bio_PrivateKey, EVP_PKEY_free,
                   [&](EVP_PKEY* key) { return SSL_CTX_use_PrivateKey(context.get(), key); });
  return context;
}

ContextPtr ClientContext(const std::string& ca_pem) {
  ContextPtr context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  UsePem<X509>(ca_pem, PEM_read_bio_X509, X509_free,
               [&](X509* ca) { return X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), ca); });
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  // Makes SSL_read return, instead of blocking, after a record without application data, such as a session ticket.
  // AwaitUnless blocks for both connections instead.
  SSL_CTX_clear_mode(context.get(), SSL_MODE_AUTO_RETRY);
  return context;
}

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

// One TLS connection. Only Shut may be called from other threads.
class Peer {
 public:
  Peer(int fd, SSL_CTX* context) : fd_(fd), ssl_(SSL_new(context)) {
    const int yes = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    SSL_set_fd(ssl_, fd_);
  }
  ~Peer() {
    SSL_free(ssl_);
    close(fd_);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  bool Accept() { return Ok(SSL_accept(ssl_)); }
  bool Connect() {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_), kLoopback);
    return Ok(SSL_connect(ssl_));
  }
  // Appends the bytes that have arrived, and returns false at the end of the connection. May append nothing.
  bool Read(std::string& buffer) {
    char chunk[16384];
    const int count = SSL_read(ssl_, chunk, sizeof chunk);
    if (count > 0) buffer.append(chunk, static_cast<std::size_t>(count));
    return count > 0 || SSL_get_error(ssl_, count) == SSL_ERROR_WANT_READ || Ok(0);
  }
  bool Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const int count = SSL_write(ssl_, bytes.data(), static_cast<int>(std::min(bytes.size(), std::size_t{1} << 20)));
      if (count <= 0) return Ok(count);
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  void Shut() { shutdown(fd_, SHUT_RDWR); }

  // Blocks until the server or the client (`other`) sends bytes or closes. Returns true if it was the server.
  // Otherwise, the client has closed the connection, because it does not send data while it waits for a response.
  bool AwaitUnless(const Peer& other) const {
    if (SSL_pending(ssl_) > 0) return true;
    pollfd ends[] = {{fd_, POLLIN, 0}, {other.fd_, POLLIN, 0}};
    while (poll(ends, 2, -1) < 0 && errno == EINTR) {
    }
    return ends[0].revents != 0;
  }
  // Returns true if the server has closed the idle connection. Only a close can make it readable.
  bool IsStale() const {
    pollfd end = {fd_, POLLIN, 0};
    return poll(&end, 1, 0) != 0;
  }

 private:
  static bool Ok(int result) {
    ERR_clear_error();  // the queue of errors belongs to the thread, not to the connection
    return result == 1;
  }

  const int fd_;
  SSL* const ssl_;
};

// A client's connection and the matching connection to the server.
class Link {
 public:
  explicit Link(std::unique_ptr<Peer> client) : client_(std::move(client)) {}
  Peer& client() { return *client_; }
  Peer* server() { return server_.get(); }
  void SetServer(std::unique_ptr<Peer> server) {
    std::lock_guard lock(mutex_);
    server_ = std::move(server);
    if (shut_) server_->Shut();
  }
  void Shut() {
    std::lock_guard lock(mutex_);
    shut_ = true;
    client_->Shut();
    if (server_ != nullptr) server_->Shut();
  }

 private:
  std::mutex mutex_;
  bool shut_ = false;
  const std::unique_ptr<Peer> client_;
  std::unique_ptr<Peer> server_;
};

// A body that is not stored. The parser only has to find its end.
struct PassedOnBody {
  struct value_type {};
  class reader {
   public:
    template <bool kIsRequest, class Fields>
    reader(http::header<kIsRequest, Fields>&, value_type&) {}
    void init(const boost::optional<std::uint64_t>&, error_code& error) { error = {}; }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, error_code& error) {
      error = {};
      return boost::beast::buffer_bytes(buffers);
    }
    void finish(error_code& error) { error = {}; }
  };
};
using RequestParser = http::request_parser<http::string_body>;
using AnswerParser = http::response_parser<PassedOnBody>;

// Parses the head of a message, or its body if the head is complete. Removes the parsed bytes from the buffer. Returns
// false if they are not HTTP.
template <typename Parser>
bool Parse(Parser& parser, std::string& buffer) {
  while (!buffer.empty() && !parser.is_done()) {
    const bool head = !parser.is_header_done();
    error_code error;
    buffer.erase(0, parser.put(boost::asio::const_buffer(buffer.data(), buffer.size()), error));
    if (error == http::error::need_more) return true;
    if (error) return false;
    if (head && parser.is_header_done()) {
      parser.eager(true);
      return true;
    }
  }
  return true;
}

template <typename Parser>
void Unlimited(Parser& parser) {
  parser.header_limit(kMaxHeader);
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());
}

std::string Text(const ProxyReply& reply) {
  return "HTTP/1.1 " + std::to_string(reply.status) +
         " Fault\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(reply.body.size()) + "\r\n" +
         reply.more_headers + "\r\n" + reply.body;
}

}  // namespace

bool ProxiedRequest::IsWrite() const {
  return method == "POST" || method == "PUT" || method == "PATCH" || method == "DELETE";
}

bool ProxiedRequest::IsWatch() const { return method == "GET" && ("&" + query).find("&watch=") != std::string::npos; }

struct FaultProxy::Impl {
  int server_port = 0;
  ContextPtr to_server;
  TestCa ca{"fault-proxy"};
  ContextPtr for_clients;
  Hook hook;
  int listener = -1;
  int port = 0;

  std::mutex mutex;
  std::condition_variable stopped;
  bool stopping = false;
  bool stalling = false;
  int stalled_up_to = 0;  // connections up to this number are stalled
  bool down = false;
  int accepted = 0;
  std::list<std::shared_ptr<Link>> open;
  std::list<std::thread> threads;
  std::thread acceptor;

  Impl(int the_server_port, const std::string& server_ca_pem, Hook the_hook)
      : server_port(the_server_port),
        to_server(ClientContext(server_ca_pem)),
        for_clients(ServerContext(ca.Issue())),
        hook(std::move(the_hook)) {}

  void Listen() {
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = Loopback(0);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener, any, size) != 0 || getsockname(listener, any, &size) != 0 || listen(listener, 256) != 0) {
      throw TestFailure("the proxy can't listen");
    }
    port = ntohs(address.sin_port);
  }

  void Accept() {
    for (;;) {
      const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      std::lock_guard lock(mutex);
      if (stopping || fd < 0) {
        if (fd >= 0) close(fd);
        return;
      }
      if (down) {
        close(fd);
        continue;
      }
      auto link = std::make_shared<Link>(std::make_unique<Peer>(fd, for_clients.get()));
      open.push_back(link);
      threads.emplace_back([this, link, number = ++accepted] {
        if (Passes(number) && link->client().Accept()) {
          while (ServeOne(*link, number)) {
          }
        }
        link->Shut();
        std::lock_guard relock(mutex);
        open.remove(link);
      });
    }
  }

  // Serves one request. Returns false if the connection must be closed.
  bool ServeOne(Link& link, int number) {
    std::string raw;  // the bytes as received
    ProxiedRequest request;
    if (!ReadRequest(link.client(), raw, request)) return false;
    if (!Passes(number)) return false;
    request.connection = number;
    const Fault fault = hook ? hook(request) : Fault();
    if (!Wait(fault.delay) || fault.drop) return false;
    if (fault.instead) return link.client().Write(Text(*fault.instead));

    const auto pass_on = [&](int status) { return !fault.pass_on || fault.pass_on(status); };
    AnswerParser answer;
    Unlimited(answer);
    std::string bytes;
    if (!Forward(link, raw) || !ReadAnswersHead(link, answer, bytes)) {
      pass_on(0);
      return false;
    }
    return pass_on(static_cast<int>(answer.get().result_int())) && Relay(link, number, answer, std::move(bytes), fault);
  }

  static bool ReadRequest(Peer& client, std::string& raw, ProxiedRequest& request) {
    RequestParser parser;
    Unlimited(parser);
    std::string unparsed;
    while (!parser.is_done()) {
      const std::size_t known = raw.size();
      if (!client.Read(raw)) return false;
      unparsed.append(raw, known);
      if (!Parse(parser, unparsed) || !Parse(parser, unparsed)) return false;
    }
    if (!unparsed.empty()) return false;  // pipelined requests are not supported
    const auto& message = parser.get();
    request.method = std::string(message.method_string());
    const std::string target(message.target());
    const std::size_t query = std::min(target.find('?'), target.size());
    request.path = target.substr(0, query);
    request.query = target.substr(std::min(query + 1, target.size()));
    request.body = message.body();
    return true;
  }

  bool Forward(Link& link, const std::string& raw) {
    if (link.server() == nullptr || link.server()->IsStale()) {
      const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const sockaddr_in address = Loopback(server_port);
      link.SetServer(std::make_unique<Peer>(fd, to_server.get()));
      if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return false;
      if (!link.server()->Connect()) return false;
    }
    return link.server()->Write(raw);
  }

  // Reads the head of the response. `bytes` then contains the head and any part of the body that arrived with it.
  static bool ReadAnswersHead(Link& link, AnswerParser& answer, std::string& bytes) {
    std::string unparsed;
    while (!answer.is_header_done()) {
      const std::size_t known = bytes.size();
      if (!link.server()->AwaitUnless(link.client()) || !link.server()->Read(bytes)) return false;
      unparsed.append(bytes, known);
      if (!Parse(answer, unparsed)) return false;
    }
    return true;
  }

  // Passes on `bytes`, and then each further part of the response as it arrives, including incomplete chunks.
  bool Relay(Link& link, int number, AnswerParser& answer, std::string bytes, const Fault& fault) {
    std::size_t head = bytes.find("\r\n\r\n") + 4;
    std::string unparsed = bytes.substr(head);
    std::size_t left = fault.cut_after.value_or(std::numeric_limits<std::size_t>::max());
    for (;;) {
      const std::size_t body = bytes.size() - head;
      if (!Passes(number)) return false;
      if (!Wait(fault.lag)) return false;
      if (!link.client().Write(std::string_view(bytes).substr(0, head + std::min(body, left))) || body > left) {
        return false;
      }
      left -= body;
      if (!Parse(answer, unparsed)) return false;
      if (answer.is_done()) return answer.get().keep_alive();
      head = 0;
      bytes.clear();
      if (!link.server()->AwaitUnless(link.client()) || !link.server()->Read(bytes)) return false;
      unparsed += bytes;
    }
  }

  // Blocks while the connection with this number is stalled. Returns false if the proxy ends.
  bool Passes(int number) {
    std::unique_lock lock(mutex);
    stopped.wait(lock, [&] { return stopping || (!stalling && number > stalled_up_to); });
    return !stopping;
  }

  // Returns false if the proxy ends.
  bool Wait(std::chrono::milliseconds time) {
    if (time.count() == 0) return true;
    std::unique_lock lock(mutex);
    return !stopped.wait_for(lock, time, [this] { return stopping; });
  }
};

FaultProxy::FaultProxy(const std::string& server, const std::string& server_ca_pem, Hook hook) {
  const std::string prefix = std::string("https://") + kLoopback + ":";
  if (!server.starts_with(prefix)) throw TestFailure("the proxy leads to " + prefix + "PORT only, not to " + server);
  signal(SIGPIPE, SIG_IGN);  // SSL_write has no MSG_NOSIGNAL.
  impl_ = std::make_unique<Impl>(std::stoi(server.substr(prefix.size())), server_ca_pem, std::move(hook));
  impl_->Listen();
  impl_->acceptor = std::thread([this] { impl_->Accept(); });
}

FaultProxy::~FaultProxy() {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
    impl_->stopped.notify_all();
    for (const auto& link : impl_->open) link->Shut();
  }
  shutdown(impl_->listener, SHUT_RDWR);
  impl_->acceptor.join();
  for (std::thread& thread : impl_->threads) thread.join();
  close(impl_->listener);
}

void FaultProxy::Stall(bool everything) {
  std::lock_guard lock(impl_->mutex);
  impl_->stalling = everything;
  impl_->stopped.notify_all();
}

void FaultProxy::StallOpenConnections() {
  std::lock_guard lock(impl_->mutex);
  impl_->stalled_up_to = impl_->accepted;
}

void FaultProxy::GoDown() {
  std::lock_guard lock(impl_->mutex);
  impl_->down = true;
  for (const auto& link : impl_->open) link->Shut();
}

void FaultProxy::ComeBack() {
  std::lock_guard lock(impl_->mutex);
  impl_->down = false;
}

void FaultProxy::CloseConnections() {
  std::lock_guard lock(impl_->mutex);
  for (const auto& link : impl_->open) link->Shut();
}

int FaultProxy::port() const { return impl_->port; }
std::string FaultProxy::url() const { return std::string("https://") + kLoopback + ":" + std::to_string(port()); }
const std::string& FaultProxy::ca_pem() const { return impl_->ca.cert_pem(); }

std::unique_ptr<FaultProxy> MakeProxy(const std::string& kubeconfig, FaultProxy::Hook hook) {
  const Result<ClusterConfig> config = LoadClusterConfig(kubeconfig);
  if (!config) throw TestFailure(kubeconfig + ": " + config.error().ToString());
  return std::make_unique<FaultProxy>(config->server, config->tls.ca_pem, std::move(hook));
}

std::string KubeconfigThrough(const FaultProxy& proxy, const std::string& kubeconfig, const std::string& path) {
  std::string text = ReadFile(kubeconfig);
  const std::string begin = "  cluster: {server: ";
  const auto at = text.find(begin);
  if (at == std::string::npos) throw TestFailure("the kubeconfig does not contain \"" + begin + "\"");
  text.replace(at, text.find('\n', at) - at,
               begin + "\"" + proxy.url() + "\", certificate-authority-data: " + Base64Encode(proxy.ca_pem()) + "}");
  WriteFile(path, text);
  return path;
}

}  // namespace yad::testing
