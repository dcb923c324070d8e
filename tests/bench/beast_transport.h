// A plain keep-alive HTTP/1.1 client over Boost.Beast and OpenSSL behind the product's transport interface. It does
// only the necessary work. So its cost is a lower bound for the cost of the product's client.
#ifndef TESTS_BENCH_BEAST_TRANSPORT_H_
#define TESTS_BENCH_BEAST_TRANSPORT_H_

#include <memory>

#include "operator/client/transport/transport.h"
#include "operator/client/transport/transport_options.h"

namespace yad::bench {

// Each concurrent request has its own connection. Send reuses idle connections, and ignores the time-out and the stop
// token. Reads of a stream end soon after a stop. Only the options `server`, `ca_pem`, `client_cert_pem` and
// `client_key_pem` are used. Throws boost::system::system_error if one of them is wrong.
std::shared_ptr<HttpTransport> MakeBeastTransport(const TransportOptions& options);

}  // namespace yad::bench

#endif  // TESTS_BENCH_BEAST_TRANSPORT_H_
