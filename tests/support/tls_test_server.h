// A small HTTP/1.1 server on 127.0.0.1, with or without TLS. A test can make it send invalid responses.
#ifndef TESTS_SUPPORT_TLS_TEST_SERVER_H_
#define TESTS_SUPPORT_TLS_TEST_SERVER_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/test_pki.h"

namespace yad::testing {

struct TestServerOptions {
  bool tls = true;
  bool ipv6 = false;  // ::1 instead of 127.0.0.1
  CertificateAndKey identity;
  std::string client_ca_pem;  // if set, clients need a certificate from this CA
  std::string greeting;       // sent at the start of each connection
  int max_tls_version = 0;    // OpenSSL's number, for instance TLS1_1_VERSION; 0: any
  // Reads at most this number of bytes of a body before it calls the handler.
  std::size_t max_body = static_cast<std::size_t>(-1);
};

TestServerOptions PlainServer();  // without TLS

struct TestRequest {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  int connection = 0;          // the number of its connection, counted from 1
  std::string server_name;     // SNI
  std::string client_subject;  // common name of the client's certificate
};

// The connection of a request. The handler responds through it.
class TestConnection {
 public:
  virtual ~TestConnection() = default;
  virtual void Write(const std::string& bytes) = 0;
  virtual void Close() = 0;            // without TLS close_notify, as when a process is killed
  virtual void WaitUntilClosed() = 0;  // by the client, or by the destructor of TestServer
  // Blocks until all written bytes have arrived in the client's socket, which may take milliseconds.
  virtual void WaitUntilReceived() = 0;

  // Writes a whole response with Content-Length.
  void Answer(int status, const std::string& body, const std::string& more_headers = "");
  // StartChunks writes the head of a chunked response, and Chunk writes one chunk ("" ends the response).
  void StartChunks(int status = 200);
  void Chunk(const std::string& bytes);
};

// Calls the handler for each request, on the connection's own thread. The destructor joins all threads.
class TestServer {
 public:
  using Handler = std::function<void(TestConnection&, const TestRequest&)>;
  TestServer(TestServerOptions options, Handler handler);
  ~TestServer();

  int port() const;
  std::string url() const;  // "https://127.0.0.1:PORT"
  std::vector<TestRequest> requests() const;
  int connections() const;  // accepted so far
  // Closes all connections and continues to listen.
  void DropConnections();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Returns a port of 127.0.0.1 on which no program listens.
int ClosedPort();

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_TLS_TEST_SERVER_H_
