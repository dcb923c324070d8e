// A plain keep-alive HTTP/1.1 client over Boost.Beast and OpenSSL behind the product's transport interface. It does
// only the necessary work. So its cost is the lowest cost of a client on this machine, and the bound of the product's
// library.
#ifndef TESTS_BENCH_BEAST_TRANSPORT_H_
#define TESTS_BENCH_BEAST_TRANSPORT_H_

#include <memory>

#include "operator/client/transport/transport.h"
#include "operator/client/transport/transport_options.h"

namespace yad::bench {

// Uses one connection for each request under way, and keeps idle ones. Reads server, ca_pem, client_cert_pem and
// client_key_pem, and throws boost::system::system_error if they are wrong. Sends ignore the time-out and the stop
// token; a stream's Read ends soon after the stop.
std::shared_ptr<HttpTransport> MakeBeastTransport(const TransportOptions& options);

}  // namespace yad::bench

#endif  // TESTS_BENCH_BEAST_TRANSPORT_H_
