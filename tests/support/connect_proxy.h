// An HTTP proxy on 127.0.0.1 that opens tunnels (CONNECT).
#ifndef TESTS_SUPPORT_CONNECT_PROXY_H_
#define TESTS_SUPPORT_CONNECT_PROXY_H_

#include <memory>
#include <string>
#include <vector>

namespace yad::testing {

// Each tunnel has its own thread, which the destructor joins.
class ConnectProxy {
 public:
  // If `authorization` is not "", rejects each request with another Proxy-Authorization header (status 407).
  // `answer` is the response to an accepted request. The proxy writes its parts with a pause between them.
  explicit ConnectProxy(std::string authorization = "",
                        std::vector<std::string> answer = {"HTTP/1.1 200 Connection established\r\n\r\n"});
  ~ConnectProxy();

  std::string address() const;                // "127.0.0.1:PORT"
  std::vector<std::string> requests() const;  // the heads of all requests

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_CONNECT_PROXY_H_
