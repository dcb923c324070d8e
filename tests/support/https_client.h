// A blocking HTTP/1.1 client for one connection to 127.0.0.1, with or without TLS. It can send invalid HTTP.
#ifndef TESTS_SUPPORT_HTTPS_CLIENT_H_
#define TESTS_SUPPORT_HTTPS_CLIENT_H_

#include <map>
#include <memory>
#include <string>

namespace yad::testing {

struct HttpsAnswer {
  int status = 0;                              // 0: the connection was closed before the response was complete
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// No call waits longer than half a minute. Not thread-safe.
class HttpsClient {
 public:
  // Connects with TLS. The server's certificate must be for "localhost" and from the CA `ca_pem`. `tls_version` is the
  // only permitted version, such as TLS1_2_VERSION; 0 permits all.
  HttpsClient(int port, const std::string& ca_pem, int tls_version = 0);
  // Connects without TLS.
  explicit HttpsClient(int port);
  ~HttpsClient();
  HttpsClient(HttpsClient&&) noexcept;

  bool connected() const;         // including TLS, if it is used
  std::string server_cn() const;  // common name of the server's certificate
  bool Send(const std::string& bytes);
  HttpsAnswer Read(bool head = false);  // head: response to a HEAD request, without a body
  std::string ReadPart();               // the next bytes of a body without a length; "": the end
  bool AwaitAnswer();                   // waits for the first bytes of a response and leaves them to Read
  bool Renegotiate();                   // TLS 1.2 only; returns true if the server accepts
  bool AtEnd();                         // waits; true: the server closed the connection without sending data
  // Sends a whole request and returns its response. Each header in `headers` ends with CRLF.
  HttpsAnswer Ask(const std::string& first_line, const std::string& body = "", const std::string& headers = "");

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_HTTPS_CLIENT_H_
