#include "operator/client/transport/transport_options.h"

#ifdef YAD_HTTP_CLIENT_CPPRESTSDK
#include "operator/client/transport/cpprest_transport.h"
#else
#include "operator/client/transport/beast_transport.h"
#endif

namespace yad {

Result<std::shared_ptr<HttpTransport>> MakeTransport(const TransportOptions& options) {
#ifdef YAD_HTTP_CLIENT_CPPRESTSDK
  return MakeCpprestTransport(options);
#else
  return MakeBeastTransport(options);
#endif
}

}  // namespace yad
