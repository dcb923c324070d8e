// A minimal HTTP/1.1 client over Boost.Beast and OpenSSL, behind the product's transport interface. Its CPU time is a
// lower bound for the CPU time of the product's client.
#ifndef TESTS_BENCH_BEAST_TRANSPORT_H_
#define TESTS_BENCH_BEAST_TRANSPORT_H_

#include <memory>

#include "operator/client/transport/transport.h"
#include "operator/client/transport/transport_options.h"

namespace yad::bench {

// Each concurrent request has its own connection. Idle connections are reused.
// - Send ignores the timeout and the stop token. Reads of a stream end soon after a stop request.
// - The options are `server` and `tls`. All other options are ignored.
//
// Throws boost::system::system_error if an option is wrong.
std::shared_ptr<HttpTransport> MakeBareTransport(const TransportOptions& options);

}  // namespace yad::bench

#endif  // TESTS_BENCH_BEAST_TRANSPORT_H_
