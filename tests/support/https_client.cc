#include "tests/support/https_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <sstream>
#include <utility>

namespace yad::testing {
namespace {

constexpr int kPatienceSeconds = 30;

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

struct HttpsClient::Impl {
  int fd = -1;
  SSL_CTX* context = nullptr;
  SSL* ssl = nullptr;
  bool connected = false;
  bool timed_out = false;  // the last read timed out
  std::string buffer;

  explicit Impl(int port) : fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    signal(SIGPIPE, SIG_IGN);  // SSL_write has no MSG_NOSIGNAL.
    const timeval patience{kPatienceSeconds, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Impl() {
    if (ssl != nullptr && connected) SSL_shutdown(ssl);
    SSL_free(ssl);
    SSL_CTX_free(context);
    ERR_clear_error();
    close(fd);
  }

  void Handshake(const std::string& ca_pem, int tls_version) {
    context = SSL_CTX_new(TLS_client_method());
    if (tls_version != 0) {
      SSL_CTX_set_security_level(context, 0);  // OpenSSL offers TLS 1.1 only at level 0
      SSL_CTX_set_min_proto_version(context, tls_version);
      SSL_CTX_set_max_proto_version(context, tls_version);
      SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0");
    }
    BIO* bio = BIO_new_mem_buf(ca_pem.data(), static_cast<int>(ca_pem.size()));
    X509* ca = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), ca);
    X509_free(ca);
    BIO_free(bio);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    ssl = SSL_new(context);
    SSL_set1_host(ssl, "localhost");
    SSL_set_tlsext_host_name(ssl, "localhost");
    SSL_set_fd(ssl, fd);
    connected = connected && SSL_connect(ssl) == 1;
    ERR_clear_error();
  }

  // Reads more bytes. Returns false if there are none.
  bool Fill() {
    char chunk[16384];
    errno = 0;
    const auto count = ssl != nullptr ? SSL_read(ssl, chunk, sizeof chunk) : recv(fd, chunk, sizeof chunk, 0);
    timed_out = count <= 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    ERR_clear_error();
    if (count <= 0) return false;
    buffer.append(chunk, static_cast<std::size_t>(count));
    return true;
  }
};

HttpsClient::HttpsClient(int port) : impl_(std::make_unique<Impl>(port)) {}
HttpsClient::HttpsClient(int port, const std::string& ca_pem, int tls_version) : HttpsClient(port) {
  impl_->Handshake(ca_pem, tls_version);
}
HttpsClient::~HttpsClient() = default;
HttpsClient::HttpsClient(HttpsClient&&) noexcept = default;

bool HttpsClient::connected() const { return impl_->connected; }

std::string HttpsClient::server_cn() const {
  X509* cert = impl_->ssl == nullptr ? nullptr : SSL_get1_peer_certificate(impl_->ssl);
  if (cert == nullptr) return "";
  char text[256] = "";
  X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, text, sizeof text);
  X509_free(cert);
  return text;
}

bool HttpsClient::Send(const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const int rest = static_cast<int>(bytes.size() - sent);
    const auto count = impl_->ssl != nullptr ? SSL_write(impl_->ssl, bytes.data() + sent, rest)
                                             : send(impl_->fd, bytes.data() + sent, static_cast<std::size_t>(rest), 0);
    ERR_clear_error();
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

HttpsAnswer HttpsClient::Read(bool head) {
  std::string& buffer = impl_->buffer;
  std::size_t end = 0;
  while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
    if (!impl_->Fill()) return {};
  }
  HttpsAnswer answer;
  std::istringstream lines(buffer.substr(0, end));
  buffer.erase(0, end + 4);
  std::string line;
  std::getline(lines, line);
  std::string version;
  std::istringstream(line) >> version >> answer.status;
  if (!version.starts_with("HTTP/1.")) return {};
  while (std::getline(lines, line)) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    std::string value = line.substr(colon + 2);
    while (!value.empty() && value.back() == '\r') value.pop_back();
    answer.headers[Lower(line.substr(0, colon))] = value;
  }
  const auto length = answer.headers.find("content-length");
  const std::size_t size = head || length == answer.headers.end() ? 0 : std::stoul(length->second);
  while (buffer.size() < size) {
    if (!impl_->Fill()) return {};
  }
  answer.body = buffer.substr(0, size);
  buffer.erase(0, size);
  return answer;
}

bool HttpsClient::AwaitAnswer() { return !impl_->buffer.empty() || impl_->Fill(); }

bool HttpsClient::Renegotiate() { return SSL_renegotiate(impl_->ssl) == 1 && SSL_do_handshake(impl_->ssl) == 1; }

bool HttpsClient::AtEnd() { return impl_->buffer.empty() && !impl_->Fill() && !impl_->timed_out; }

std::string HttpsClient::ReadPart() {
  if (impl_->buffer.empty()) (void)impl_->Fill();
  return std::exchange(impl_->buffer, "");
}

HttpsAnswer HttpsClient::Ask(const std::string& first_line, const std::string& body, const std::string& headers) {
  std::string request = first_line + "\r\nHost: localhost\r\n" + headers;
  if (!body.empty()) request += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  Send(request + "\r\n" + body);
  return Read();
}

}  // namespace yad::testing
