// HTTP/1.1 over Boost.Beast's parser and serializer, sockets and OpenSSL.
#ifndef OPERATOR_CLIENT_BEAST_TRANSPORT_H_
#define OPERATOR_CLIENT_BEAST_TRANSPORT_H_

#include <memory>

#include "operator/base/error.h"
#include "operator/client/transport_options.h"

namespace yad {

// Blocks the caller's thread, and needs no other. Requests of Send use pooled connections; each stream has its own.
// A request is sent at most twice, and a second time only where the server cannot have processed it, or where it only
// reads: when a pooled connection turns out to be closed.
// kConfig where the address, a certificate or a key cannot be used.
Result<std::shared_ptr<HttpTransport>> MakeBeastTransport(const TransportOptions& options);

}  // namespace yad

#endif  // OPERATOR_CLIENT_BEAST_TRANSPORT_H_
