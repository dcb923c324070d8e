// The client side of TLS: OpenSSL objects that are created once and shared by all connections to one server.
#ifndef OPERATOR_CLIENT_TRANSPORT_TLS_CLIENT_H_
#define OPERATOR_CLIENT_TRANSPORT_TLS_CLIENT_H_

#include <memory>
#include <mutex>
#include <string>

#include "operator/base/error.h"
#include "operator/client/transport/transport_options.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX
struct x509_store_ctx_st;

namespace yad {

// Must be called first in main. Otherwise, exit() destroys OpenSSL's state before it waits for cpprestsdk's threads,
// which may still be in a handshake. The result would be a segmentation fault.
void KeepOpenSslUntilTheEnd();

// Trusted CAs, client certificate and server name of one client. Thread-safe.
class TlsClient : public std::enable_shared_from_this<TlsClient> {
 public:
  // `host` is the server's name or IP address without brackets. options.tls_server_name takes precedence over it. Fails
  // with kConfig if a certificate or a key cannot be read, or if they do not belong together.
  static Result<std::shared_ptr<TlsClient>> Make(const TransportOptions& options, const std::string& host);
  ~TlsClient();
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  // Returns a context for all connections. The context keeps this object alive. Returns null if OpenSSL fails.
  std::shared_ptr<ssl_ctx_st> MakeContext();
  // Returns `context` with one more reference, which the caller must release.
  static ssl_ctx_st* NewReference(ssl_ctx_st* context);
  // Returns the reason of the last rejection of the server's certificate, or "" if there was none.
  std::string last_refusal() const;
  // Returns the reason of a failed handshake or encrypted connection from the packed code of OpenSSL's error queue.
  // Returns "" if the code is not an SSL error.
  std::string Explain(int code) const;

 private:
  struct Material;
  TlsClient(std::unique_ptr<Material> material, std::string name);
  static int VerifyChain(x509_store_ctx_st* chain, void* self);
  void SetRefusal(std::string text);

  const std::unique_ptr<Material> material_;
  const std::string name_;  // the certificate must be valid for this name
  mutable std::mutex mutex_;
  std::string last_refusal_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_TLS_CLIENT_H_
