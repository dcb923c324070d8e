// A blocking HTTPS/1.1 client for one connection to 127.0.0.1, which sends what a test says, right or wrong.
#ifndef TESTS_SUPPORT_HTTPS_CLIENT_H_
#define TESTS_SUPPORT_HTTPS_CLIENT_H_

#include <map>
#include <memory>
#include <string>

namespace yad::testing {

struct HttpsAnswer {
  int status = 0;                              // 0: the connection ended before a whole answer
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// Nothing waits longer than half a minute. Used by one thread.
class HttpsClient {
 public:
  // Connects; the handshake trusts `ca_pem` for the name "localhost". `tls_version`: OpenSSL's number, 0 for any.
  HttpsClient(int port, const std::string& ca_pem, int tls_version = 0);
  // Connects, and no more.
  explicit HttpsClient(int port);
  ~HttpsClient();
  HttpsClient(HttpsClient&&) noexcept;

  bool connected() const;         // TLS included, if asked for
  std::string server_cn() const;  // common name of the server's certificate
  bool Send(const std::string& bytes);
  HttpsAnswer Read(bool head = false);  // head: the answer has no body, whatever its Content-Length
  bool AwaitAnswer();                   // Until a first part of it is here, which Read returns with the rest.
  bool Renegotiate();                   // of TLS 1.2; whether the server goes along
  bool AtEnd();  // waits for the server to close; false: it sent something, or did not within that time
  // A whole request and its answer. `headers` end in CRLF each.
  HttpsAnswer Ask(const std::string& first_line, const std::string& body = "", const std::string& headers = "");

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_HTTPS_CLIENT_H_
