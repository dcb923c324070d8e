#include "operator/client/transport/transport_options.h"

namespace yad {

Result<std::shared_ptr<HttpTransport>> MakeTransport(const TransportOptions& options) {
#ifdef YAD_HTTP_CLIENT_CPPRESTSDK
  return MakeCpprestTransport(options);
#else
  return MakeBeastTransport(options);
#endif
}

}  // namespace yad
