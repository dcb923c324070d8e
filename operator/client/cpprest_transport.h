// HTTP over cpprestsdk and OpenSSL, built with -DYAD_HTTP_CLIENT=cpprestsdk, and for the tests.
#ifndef OPERATOR_CLIENT_CPPREST_TRANSPORT_H_
#define OPERATOR_CLIENT_CPPREST_TRANSPORT_H_

#include <memory>

#include "operator/base/error.h"
#include "operator/client/transport_options.h"

namespace yad {

// kConfig where the address, a certificate or a key cannot be used.
// The library keeps its connections as long as the server does: the ages and the idle time of `options` have no effect.
Result<std::shared_ptr<HttpTransport>> MakeCpprestTransport(const TransportOptions& options);

}  // namespace yad

#endif  // OPERATOR_CLIENT_CPPREST_TRANSPORT_H_
