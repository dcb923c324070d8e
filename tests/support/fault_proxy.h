// A TLS proxy between a client and the kube-apiserver. Tests use it to cause network faults.
#ifndef TESTS_SUPPORT_FAULT_PROXY_H_
#define TESTS_SUPPORT_FAULT_PROXY_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace yad::testing {

struct ProxiedRequest {
  int connection = 0;  // the number of its connection, from 1
  std::string method;
  std::string path;   // without the query
  std::string query;  // without the "?"
  std::string body;

  bool IsWrite() const;  // POST, PUT, PATCH, DELETE
  bool IsWatch() const;
};

struct ProxyReply {
  int status = 500;
  std::string body = {};
  std::string more_headers = {};  // "Retry-After: 1\r\n"
};

// The fault of one request. By default, the proxy forwards the request and its response unchanged.
struct Fault {
  std::chrono::milliseconds delay{0};  // before anything else
  bool drop = false;                   // closes the connection without forwarding the request
  std::optional<ProxyReply> instead;   // responds without forwarding the request
  // Called when the head of the response has arrived (`status` 0: there is no response). A write has already taken
  // effect. If the function returns false, the proxy closes the connection, and the client receives nothing.
  std::function<bool(int status)> pass_on;
  // Closes the connection after this number of bytes of the response's body, including the headers of chunks.
  std::optional<std::size_t> cut_after;
  // Delays each piece of the response.
  std::chrono::milliseconds lag{0};
};

// Listens on 127.0.0.1, and has its own CA. Opens one connection to the server for each connection of a client.
//
// Calls the hook for each request, on the connection's thread. The hook may block. The destructor waits for all hooks,
// so a hook must not wait for the thread that destroys the proxy.
class FaultProxy {
 public:
  using Hook = std::function<Fault(const ProxiedRequest&)>;

  // `server` is "https://127.0.0.1:PORT", with a certificate of `server_ca_pem`.
  FaultProxy(const std::string& server, const std::string& server_ca_pem, Hook hook);
  ~FaultProxy();

  // `true`: like a network that drops all packets. Open connections stay open without data, and new connections receive
  // no response. `false`: all connections continue.
  void Stall(bool everything);
  // Drops all further packets of the open connections. New connections work.
  void StallOpenConnections();

  int port() const;
  std::string url() const;  // "https://127.0.0.1:PORT"
  const std::string& ca_pem() const;

  // Closes all connections, and rejects new connections until ComeBack, like an apiserver whose machine is off.
  void GoDown();
  void ComeBack();
  // Ends all connections, used or idle.
  void CloseConnections();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Makes a proxy to the server of a kubeconfig that hack/cluster.sh has written.
std::unique_ptr<FaultProxy> MakeProxy(const std::string& kubeconfig, FaultProxy::Hook hook);
// Writes a copy of `kubeconfig` with the proxy's address to the file `path`. Returns `path`.
std::string KubeconfigThrough(const FaultProxy& proxy, const std::string& kubeconfig, const std::string& path);

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_FAULT_PROXY_H_
