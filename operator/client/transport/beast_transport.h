// HTTP/1.1 with the parser and the serializer of Boost.Beast, over sockets and OpenSSL.
#ifndef OPERATOR_CLIENT_TRANSPORT_BEAST_TRANSPORT_H_
#define OPERATOR_CLIENT_TRANSPORT_BEAST_TRANSPORT_H_

#include <memory>

#include "operator/base/error.h"
#include "operator/client/transport/transport_options.h"

namespace yad {

// Returns a transport that blocks the caller's thread. It uses another thread only to resolve a host name. Send uses
// pooled connections; each stream has its own connection. A request is sent at most twice. The second attempt needs two
// conditions: a pooled connection turned out to be closed, and the request only reads or the server cannot have
// processed it. Fails with kConfig if the address, a certificate or a key is not usable.
Result<std::shared_ptr<HttpTransport>> MakeBeastTransport(const TransportOptions& options);

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_BEAST_TRANSPORT_H_
