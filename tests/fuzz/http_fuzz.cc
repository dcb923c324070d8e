// Sends the input as HTTP to the webhook's server, over TLS and sockets. The handler must receive the same requests for
// every split of the bytes into records. The responses must be well-formed.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "operator/api/object.h"
#include "tests/fuzz/check.h"
#include "tests/support/test_pki.h"
#include "webhook/server/https_server.h"

namespace yad::testing {
namespace {

constexpr std::size_t kMaxBody = 1024;

// One server for all inputs. It never stops.
class World {
 public:
  World() {
    signal(SIGPIPE, SIG_IGN);
    const CertificateAndKey pair = TestCa().Issue();
    YAD_CHECK(certificate_->Load(pair.cert_pem, pair.key_pem), "the certificate");
    YAD_CHECK(server_.Listen(), "listening on 127.0.0.1");
    std::thread([this] { server_.Run(stop_.get_token()); }).detach();
  }

  std::vector<std::string> TakeCalls() {
    std::lock_guard lock(mutex_);
    return std::exchange(calls_, {});
  }

  // Sends `bytes` in pieces of at most `most` bytes, and then a close_notify. Returns the received bytes. Sets `whole`
  // if the server also sent a close_notify.
  std::string Talk(const std::string& bytes, std::size_t most, unsigned seed, bool& whole) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // Resets the connection at its close, because thousands of closed connections a minute would use up the ports.
    const linger reset{1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(server_.port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    YAD_CHECK(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, "connecting");
    SSL* ssl = SSL_new(client_);
    SSL_set_fd(ssl, fd);
    YAD_CHECK(SSL_connect(ssl) == 1, "the handshake");
    std::minstd_rand random(seed);
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t piece = std::min<std::size_t>(1 + random() % most, bytes.size() - at);
      if (SSL_write(ssl, bytes.data() + at, static_cast<int>(piece)) <= 0) break;  // the server has stopped reading
      at += piece;
    }
    SSL_shutdown(ssl);
    std::string answer;
    char chunk[16384];
    int count = 0;
    while ((count = SSL_read(ssl, chunk, sizeof chunk)) > 0) answer.append(chunk, static_cast<std::size_t>(count));
    whole = SSL_get_error(ssl, count) == SSL_ERROR_ZERO_RETURN;
    SSL_free(ssl);
    ERR_clear_error();
    close(fd);
    return answer;
  }

 private:
  HttpsReply Handle(const HttpsCall& call) {
    YAD_CHECK(call.body.size() <= kMaxBody, call.body.size());
    YAD_CHECK(!call.method.empty() && !call.target.empty(), call.method);
    std::lock_guard lock(mutex_);
    calls_.push_back(call.method + "|" + call.target + "|" + call.content_type + "|" + call.body);
    return {200, "text/plain", std::string(call.body.size() % 50, 'x')};
  }
  static HttpsServerOptions Options() {
    HttpsServerOptions options;
    options.bind = "127.0.0.1:0";
    options.handler_threads = 1;
    options.max_body = kMaxBody;
    options.large_body = kMaxBody / 2;
    // Enough for one connection at a time. After a leak, responses would soon be 503.
    options.max_bodies = 2 * kMaxBody;
    return options;
  }

  std::mutex mutex_;
  std::vector<std::string> calls_;
  std::stop_source stop_;
  const std::shared_ptr<ServingCertificate> certificate_ = std::make_shared<ServingCertificate>();
  HttpsServer server_{Options(), certificate_, [this](const HttpsCall& call) { return Handle(call); }};
  SSL_CTX* const client_ = SSL_CTX_new(TLS_client_method());
};

// Returns the statuses of the responses, and then the rest if the last response is incomplete.
std::string Statuses(const std::string& answers, const std::vector<std::string>& calls) {
  std::string statuses;
  std::size_t answered = 0;
  for (std::size_t at = 0; at < answers.size();) {
    YAD_CHECK(answers.compare(at, 7, "HTTP/1.") == 0, answers.substr(at));
    const std::size_t end = answers.find("\r\n\r\n", at);
    YAD_CHECK(end != std::string::npos, answers.substr(at));
    const std::string header = answers.substr(at, end - at);
    const std::string status = header.substr(9, 3);
    at = end + 4;
    statuses += status + " ";
    if (status == "100") continue;
    YAD_CHECK(status != "503" && status != "500", header);
    const bool head = status == "200" && calls.at(answered).starts_with("HEAD|");
    answered += status == "200";
    const std::size_t length = header.find("Content-Length: ");
    YAD_CHECK(length != std::string::npos, header);
    if (!head) at += std::stoul(header.substr(length + 16));
    YAD_CHECK(at <= answers.size(), header);
  }
  YAD_CHECK(answered == calls.size(), statuses);
  return statuses;
}

void Http(World& world, const std::string& bytes) {
  bool whole = false;
  const std::string answers = world.Talk(bytes, bytes.size() + 1, 1, whole);
  const std::vector<std::string> calls = world.TakeCalls();
  const std::string statuses = whole ? Statuses(answers, calls) : "";

  bool whole_too = false;
  const std::string other = world.Talk(bytes, 64, Fnv1a32(bytes), whole_too);
  YAD_CHECK(world.TakeCalls() == calls, statuses);
  if (whole && whole_too) YAD_CHECK(Statuses(other, calls) == statuses, statuses);
}

}  // namespace
}  // namespace yad::testing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static auto& world = *new yad::testing::World;
  yad::testing::Http(world, {reinterpret_cast<const char*>(data), size});
  return 0;
}
