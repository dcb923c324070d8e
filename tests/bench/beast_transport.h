// A plain keep-alive HTTP/1.1 client over Boost.Beast and OpenSSL behind the product's transport interface. It does
// only the necessary work. So its cost is the lowest cost of a client on this machine, and the bound of the product's
// library.
#ifndef TESTS_BENCH_BEAST_TRANSPORT_H_
#define TESTS_BENCH_BEAST_TRANSPORT_H_

#include <memory>

#include "operator/client/transport/transport.h"
#include "operator/client/transport/transport_options.h"

namespace yad::bench {

// Returns a transport with one connection for each request under way. Send reuses idle connections, and ignores the
// time-out and the stop token. Read of a stream ends soon after the stop. The transport uses only `server`, `ca_pem`,
// `client_cert_pem` and `client_key_pem` of the options. If one of them is wrong, the function throws
// boost::system::system_error.
std::shared_ptr<HttpTransport> MakeBeastTransport(const TransportOptions& options);

}  // namespace yad::bench

#endif  // TESTS_BENCH_BEAST_TRANSPORT_H_
