// The client side of TLS. All connections to a server share its OpenSSL objects, which are created once.
#ifndef OPERATOR_CLIENT_TRANSPORT_TLS_CLIENT_H_
#define OPERATOR_CLIENT_TRANSPORT_TLS_CLIENT_H_

#include <memory>
#include <string>

#include "operator/base/error.h"
#include "operator/base/synchronized.h"
#include "operator/client/transport/transport_options.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX
struct x509_store_ctx_st;

namespace yad {

// Must be called first in main. Otherwise, exit() frees OpenSSL's state while threads of cpprestsdk may still use it in
// a handshake, and the process crashes.
void KeepOpenSslUntilTheEnd();

// The trusted CAs, the client certificate and the server name of a client. Thread-safe.
class TlsClient : public std::enable_shared_from_this<TlsClient> {
 public:
  // `host` is the server's name or its IP address without brackets; options.tls_server_name replaces it. Fails with
  // kConfig if a certificate or a key can't be read, or if the key does not match the certificate.
  static Result<std::shared_ptr<TlsClient>> Make(const TransportOptions& options, const std::string& host);
  ~TlsClient();
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  // Returns an SSL_CTX for all connections, or null if OpenSSL fails. The SSL_CTX keeps this TlsClient alive.
  std::shared_ptr<ssl_ctx_st> MakeContext();
  // Returns `context` with one more reference. The caller must release this reference.
  static ssl_ctx_st* NewReference(ssl_ctx_st* context);
  // Explains a failed handshake or a failed encrypted connection, for a message. `code` is a packed code of OpenSSL's
  // error queue. Returns "" if it is not an SSL error.
  std::string Explain(int code) const;

 private:
  struct Material;
  TlsClient(std::unique_ptr<Material> material, std::string name);
  static int VerifyChain(x509_store_ctx_st* chain, void* self);

  const std::unique_ptr<Material> material_;
  const std::string name_;                    // the certificate must be valid for this name
  Synchronized<std::string> last_rejection_;  // why a server's certificate was last rejected
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_TLS_CLIENT_H_
