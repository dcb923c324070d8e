// HTTP/1.1 with Boost.Beast, over sockets and OpenSSL.
#ifndef OPERATOR_CLIENT_TRANSPORT_BEAST_TRANSPORT_H_
#define OPERATOR_CLIENT_TRANSPORT_BEAST_TRANSPORT_H_

#include <memory>

#include "operator/base/error.h"
#include "operator/client/transport/transport_options.h"

namespace yad {

// Returns a transport that works on the caller's thread; only name resolution uses another thread. Fails with kConfig
// if the address, a certificate or a key is not usable.
// - Send reuses pooled connections. Each stream has its own connection.
// - If the server has closed a pooled connection, a GET is sent once more. A request with another method is sent once
//   more only if the server can't have received it.
Result<std::shared_ptr<HttpTransport>> MakeBeastTransport(const TransportOptions& options);

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_BEAST_TRANSPORT_H_
