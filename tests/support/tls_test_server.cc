#include "tests/support/tls_test_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <list>
#include <mutex>
#include <sstream>
#include <thread>

namespace yad::testing {
namespace {

[[noreturn]] void Die(const char* what) {
  std::cerr << "the test server cannot start: " << what << "\n";
  ERR_print_errors_fp(stderr);
  std::abort();
}

int Listen(bool ipv6, int& port) {
  const int fd = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_storage storage{};
  socklen_t size = 0;
  if (ipv6) {
    auto* address = reinterpret_cast<sockaddr_in6*>(&storage);
    address->sin6_family = AF_INET6;
    address->sin6_addr = in6addr_loopback;
    size = sizeof(*address);
  } else {
    auto* address = reinterpret_cast<sockaddr_in*>(&storage);
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    size = sizeof(*address);
  }
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&storage), size) != 0) Die("bind");
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) Die("getsockname");
  port = ntohs(ipv6 ? reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port
                    : reinterpret_cast<sockaddr_in*>(&storage)->sin_port);
  return fd;
}

std::string LowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

template <typename T, typename Read>
T* FromPem(const std::string& pem, Read read) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  T* out = read(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  if (out == nullptr) Die("PEM");
  return out;
}

SSL_CTX* NewContext(const TestServerOptions& options) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  SSL_CTX_set_security_level(context, 0);  // OpenSSL offers TLS 1.1 only at level 0
  if (options.max_tls_version != 0) {
    SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context, options.max_tls_version);
    SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0");
  }
  X509* cert = FromPem<X509>(options.identity.cert_pem, PEM_read_bio_X509);
  EVP_PKEY* key = FromPem<EVP_PKEY>(options.identity.key_pem, PEM_read_bio_PrivateKey);
  if (SSL_CTX_use_certificate(context, cert) != 1 || SSL_CTX_use_PrivateKey(context, key) != 1) Die("identity");
  X509_free(cert);
  EVP_PKEY_free(key);
  if (!options.client_ca_pem.empty()) {
    X509* ca = FromPem<X509>(options.client_ca_pem, PEM_read_bio_X509);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), ca);
    X509_free(ca);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  return context;
}

class Connection : public TestConnection {
 public:
  Connection(int fd, SSL_CTX* context) : fd_(fd) {
    if (context != nullptr) {
      ssl_ = SSL_new(context);
      SSL_set_fd(ssl_, fd);
    }
  }
  ~Connection() override {
    SSL_free(ssl_);
    close(fd_);
  }

  bool Handshake() { return ssl_ == nullptr || SSL_accept(ssl_) == 1; }

  void Write(const std::string& bytes) override {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const int rest = static_cast<int>(bytes.size() - sent);
      const auto count = ssl_ != nullptr ? SSL_write(ssl_, bytes.data() + sent, rest)
                                         : send(fd_, bytes.data() + sent, static_cast<std::size_t>(rest), MSG_NOSIGNAL);
      if (count <= 0) return Close();
      sent += static_cast<std::size_t>(count);
    }
  }

  // Other threads also call this function.
  void Close() override {
    closed_ = true;
    shutdown(fd_, SHUT_RDWR);
  }

  void WaitUntilClosed() override {
    while (Fill()) {
    }
    closed_ = true;
  }

  void WaitUntilReceived() override {
    // TIOCOUTQ: the bytes that the client's kernel has not acknowledged.
    for (int bytes = 0; ioctl(fd_, TIOCOUTQ, &bytes) == 0 && bytes > 0;)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  bool closed() const { return closed_; }

  bool ReadRequest(TestRequest& request, std::size_t max_body) {
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!Fill()) return false;
    }
    std::istringstream head(buffer_.substr(0, end));
    buffer_.erase(0, end + 4);
    std::string line;
    std::getline(head, line);
    std::istringstream(line) >> request.method >> request.target;
    while (std::getline(head, line)) {
      const std::size_t colon = line.find(':');
      if (colon == std::string::npos) continue;
      std::string value = line.substr(colon + 1);
      value.erase(0, value.find_first_not_of(' '));
      while (!value.empty() && value.back() == '\r') value.pop_back();
      request.headers[LowerCase(line.substr(0, colon))] = value;
    }
    const auto length = request.headers.find("content-length");
    const std::size_t size = std::min(length == request.headers.end() ? 0 : std::stoul(length->second), max_body);
    while (buffer_.size() < size) {
      if (!Fill()) return false;
    }
    request.body = buffer_.substr(0, size);
    buffer_.erase(0, size);
    if (ssl_ != nullptr) {
      const char* name = SSL_get_servername(ssl_, TLSEXT_NAMETYPE_host_name);
      request.server_name = name == nullptr ? "" : name;
      if (X509* cert = SSL_get1_peer_certificate(ssl_)) {
        char text[256] = "";
        X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, text, sizeof(text));
        request.client_subject = text;
        X509_free(cert);
      }
    }
    return true;
  }

 private:
  bool Fill() {
    char chunk[16384];
    const auto count = ssl_ != nullptr ? SSL_read(ssl_, chunk, sizeof(chunk)) : recv(fd_, chunk, sizeof(chunk), 0);
    if (count <= 0) return false;
    buffer_.append(chunk, static_cast<std::size_t>(count));
    return true;
  }

  const int fd_;
  SSL* ssl_ = nullptr;
  std::string buffer_;
  std::atomic<bool> closed_{false};
};

}  // namespace

TestServerOptions PlainServer() {
  TestServerOptions options;
  options.tls = false;
  return options;
}

void TestConnection::Answer(int status, const std::string& body, const std::string& more_headers) {
  Write("HTTP/1.1 " + std::to_string(status) + " Text\r\nContent-Type: application/json\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n" + more_headers + "\r\n" + body);
}

void TestConnection::StartChunks(int status) {
  Write("HTTP/1.1 " + std::to_string(status) +
        " Text\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
}

void TestConnection::Chunk(const std::string& bytes) {
  std::ostringstream size;
  size << std::hex << bytes.size();
  Write(size.str() + "\r\n" + bytes + "\r\n");
}

struct TestServer::Impl {
  TestServerOptions options;
  Handler handler;
  SSL_CTX* context = nullptr;
  int listener = -1;
  int port = 0;
  mutable std::mutex mutex;
  bool stopping = false;
  int accepted = 0;
  std::vector<TestRequest> requests;
  std::list<std::shared_ptr<Connection>> open;
  std::list<std::thread> threads;
  std::thread acceptor;

  void Accept() {
    for (;;) {
      const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      std::lock_guard lock(mutex);
      if (stopping || fd < 0) {
        if (fd >= 0) close(fd);
        return;
      }
      auto connection = std::make_shared<Connection>(fd, context);
      open.push_back(connection);
      threads.emplace_back([this, connection, number = ++accepted] { Serve(connection, number); });
    }
  }

  void Serve(const std::shared_ptr<Connection>& connection, int number) {
    if (connection->Handshake()) {
      if (!options.greeting.empty()) connection->Write(options.greeting);
      for (;;) {
        TestRequest request;
        request.connection = number;
        if (connection->closed() || !connection->ReadRequest(request, options.max_body)) break;
        {
          std::lock_guard lock(mutex);
          requests.push_back(request);
        }
        handler(*connection, request);
      }
    }
    ERR_clear_error();
    connection->Close();
    std::lock_guard lock(mutex);
    open.remove(connection);
  }

  void Drop() {
    std::lock_guard lock(mutex);
    for (const auto& connection : open) connection->Close();
  }
};

TestServer::TestServer(TestServerOptions options, Handler handler) : impl_(std::make_unique<Impl>()) {
  signal(SIGPIPE, SIG_IGN);  // SSL_write has no MSG_NOSIGNAL.
  impl_->options = std::move(options);
  impl_->handler = std::move(handler);
  if (impl_->options.tls) impl_->context = NewContext(impl_->options);
  impl_->listener = Listen(impl_->options.ipv6, impl_->port);
  if (listen(impl_->listener, 64) != 0) Die("listen");
  impl_->acceptor = std::thread([this] { impl_->Accept(); });
}

TestServer::~TestServer() {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  shutdown(impl_->listener, SHUT_RDWR);
  impl_->acceptor.join();
  impl_->Drop();
  for (std::thread& thread : impl_->threads) thread.join();
  close(impl_->listener);
  SSL_CTX_free(impl_->context);
}

int TestServer::port() const { return impl_->port; }

std::string TestServer::url() const {
  return std::string(impl_->options.tls ? "https://" : "http://") + (impl_->options.ipv6 ? "[::1]" : "127.0.0.1") +
         ":" + std::to_string(impl_->port);
}

std::vector<TestRequest> TestServer::requests() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->requests;
}

int TestServer::connections() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->accepted;
}

void TestServer::DropConnections() { impl_->Drop(); }

int ClosedPort() {
  int port = 0;
  close(Listen(false, port));
  return port;
}

}  // namespace yad::testing
