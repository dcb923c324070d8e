// The client side of TLS. All connections to a server share one OpenSSL context.
#ifndef OPERATOR_CLIENT_TRANSPORT_TLS_CLIENT_H_
#define OPERATOR_CLIENT_TRANSPORT_TLS_CLIENT_H_

#include <memory>
#include <string>

#include "operator/base/error.h"
#include "operator/client/transport/transport_options.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace yad {

// Must be called first in main. Otherwise, exit() frees OpenSSL's state while threads of cpprestsdk may still use it in
// a handshake, and the process crashes.
void KeepOpenSslUntilTheEnd();

// Returns an SSL_CTX for all connections to a server. It has the trusted CAs, the client certificate and the server's
// name, and any thread may use it. `host` is the server's name or its IP address without brackets;
// options.tls_server_name replaces it. Fails with kConfig if a certificate or a key can't be read, or if the key does
// not match the certificate.
Result<std::shared_ptr<ssl_ctx_st>> MakeTlsContext(const TransportOptions& options, const std::string& host);

// Explains a failed handshake or a failed encrypted connection, for a message. `context` is from MakeTlsContext. `code`
// is a packed code of OpenSSL's error queue. Returns "" if it is not an SSL error.
std::string ExplainTlsError(const ssl_ctx_st* context, int code);

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_TLS_CLIENT_H_
