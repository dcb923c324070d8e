// What a client trusts and shows in TLS: OpenSSL objects made once and shared by all connections to one server.
#ifndef OPERATOR_CLIENT_TLS_CLIENT_H_
#define OPERATOR_CLIENT_TLS_CLIENT_H_

#include <memory>
#include <mutex>
#include <string>

#include "operator/base/error.h"
#include "operator/client/transport_options.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX
struct x509_store_ctx_st;

namespace yad {

// First of all in main. Else exit() takes OpenSSL apart while cpprestsdk's threads, which it waits for only afterwards,
// may still be in a handshake: a segmentation fault.
void KeepOpenSslUntilTheEnd();

// Thread-safe.
class TlsClient : public std::enable_shared_from_this<TlsClient> {
 public:
  // `host` is the server's name or IP address without brackets; options.tls_server_name wins over it.
  // kConfig where a certificate or a key cannot be read, or they do not belong together.
  static Result<std::shared_ptr<TlsClient>> Make(const TransportOptions& options, const std::string& host);
  ~TlsClient();
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  // A context for all connections, which keeps this object alive. null: OpenSSL refused.
  std::shared_ptr<ssl_ctx_st> MakeContext();
  // The same one, for an owner who frees it by himself.
  static ssl_ctx_st* NewReference(ssl_ctx_st* context);
  // Why the server's certificate was last refused; "" where it never was.
  std::string last_refusal() const;
  // What went wrong in a handshake or on an encrypted connection, from the packed code of OpenSSL's error queue.
  // "" where it is none of OpenSSL's.
  std::string Explain(int code) const;

 private:
  struct Material;
  TlsClient(std::unique_ptr<Material> material, std::string name);
  static int VerifyChain(x509_store_ctx_st* chain, void* self);
  void SetRefusal(std::string text);

  const std::unique_ptr<Material> material_;
  const std::string name_;  // what the certificate has to be valid for
  mutable std::mutex mutex_;
  std::string last_refusal_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_TLS_CLIENT_H_
