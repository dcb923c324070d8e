// HTTP with cpprestsdk and OpenSSL, for builds with -DYAD_HTTP_CLIENT=cpprestsdk and for tests.
#ifndef OPERATOR_CLIENT_TRANSPORT_CPPREST_TRANSPORT_H_
#define OPERATOR_CLIENT_TRANSPORT_CPPREST_TRANSPORT_H_

#include <memory>

#include "operator/base/error.h"
#include "operator/client/transport/transport_options.h"

namespace yad {

// Fails with kConfig if the address, a certificate or a key is not usable. The library keeps each connection until the
// server closes it, so the connection ages and max_idle in `options` have no effect.
Result<std::shared_ptr<HttpTransport>> MakeCpprestTransport(const TransportOptions& options);

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_CPPREST_TRANSPORT_H_
