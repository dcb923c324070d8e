// A minimal keep-alive HTTP/1.1 client over Boost.Beast and OpenSSL, behind the product's transport interface. Its cost
// is a lower bound for that of the product's client.
#ifndef TESTS_BENCH_BEAST_TRANSPORT_H_
#define TESTS_BENCH_BEAST_TRANSPORT_H_

#include <memory>

#include "operator/client/transport/transport.h"
#include "operator/client/transport/transport_options.h"

namespace yad::bench {

// Each concurrent request has its own connection. Idle connections are reused.
// - Send ignores the time-out and the stop token. Reads of a stream end soon after a stop.
// - Only `server`, `ca_pem`, `client_cert_pem` and `client_key_pem` of the options are used. If one of them is wrong,
//   throws boost::system::system_error.
std::shared_ptr<HttpTransport> MakeBeastTransport(const TransportOptions& options);

}  // namespace yad::bench

#endif  // TESTS_BENCH_BEAST_TRANSPORT_H_
