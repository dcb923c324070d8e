// A TLS proxy between a client of the kube-apiserver and the apiserver, which fails as it is told.
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
  int connection = 0;  // which one it came on, counted from 1
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

// What happens to one request. Without any of these, it is forwarded, and its answer passed on byte by byte.
struct Fault {
  std::chrono::milliseconds delay{0};  // before anything else
  bool drop = false;                   // The connection is closed; the apiserver does not see the request.
  std::optional<ProxyReply> instead;   // This is answered; the apiserver does not see the request.
  // Called exactly once for a request that was forwarded: when its answer begins to arrive, so that a write has taken
  // effect, and before any of it is passed on. 0: the apiserver did not answer. False: the connection is closed
  // instead.
  std::function<bool(int status)> pass_on;
  // So many bytes of the answer's body, as they are on the wire, are passed on; then the connection is closed.
  std::optional<std::size_t> cut_after;
  // Each piece of the answer is passed on so much later than it came.
  std::chrono::milliseconds lag{0};
};

// Listens on 127.0.0.1 with a certificate of its own CA, and makes one connection to the server for each that it takes.
// The hook is asked about each request, on that connection's thread: it may block, but then only for what happens
// without the proxy's owner, because the destructor closes all connections and waits for all threads.
class FaultProxy {
 public:
  using Hook = std::function<Fault(const ProxiedRequest&)>;

  // `server` is "https://127.0.0.1:PORT", with a certificate of `server_ca_pem`.
  FaultProxy(const std::string& server, const std::string& server_ca_pem, Hook hook);
  ~FaultProxy();

  // From now on nothing is passed on, in either direction, nor a new connection answered, and none is closed: the
  // network swallows everything. `false` lets all of it go on.
  void Swallow(bool everything);
  // The same for the connections that are open now, and for good; new ones work.
  void SwallowOnOpenConnections();

  int port() const;
  std::string url() const;  // "https://127.0.0.1:PORT"
  const std::string& ca_pem() const;

  // As if the machine of the apiserver had been switched off: all connections end, and none is taken until it is back.
  void GoDown();
  void ComeBack();
  // All connections end, used or idle.
  void CloseConnections();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// To the server of this kubeconfig, a file as hack/cluster.sh writes it.
std::unique_ptr<FaultProxy> MakeProxy(const std::string& kubeconfig, FaultProxy::Hook hook);
// Writes that kubeconfig to the file `path`, leading to the proxy instead. Returns `path`.
std::string KubeconfigThrough(const FaultProxy& proxy, const std::string& kubeconfig, const std::string& path);

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_FAULT_PROXY_H_
