// A plain keep-alive HTTP/1.1 client over Boost.Beast and OpenSSL behind the product's transport interface. It does no
// more than it must: what a client costs at least on this machine, and so what the product's library costs beyond that.
#ifndef TESTS_BENCH_BEAST_TRANSPORT_H_
#define TESTS_BENCH_BEAST_TRANSPORT_H_

#include <memory>

#include "operator/client/transport.h"
#include "operator/client/transport_options.h"

namespace yad::bench {

// One connection for each request under way; idle ones are kept. Understands server, ca_pem, client_cert_pem and
// client_key_pem, and throws boost::system::system_error where they are wrong. Sends do not heed the time-out or the
// stop token; a stream's Read ends soon after the stop.
std::shared_ptr<HttpTransport> MakeBeastTransport(const TransportOptions& options);

}  // namespace yad::bench

#endif  // TESTS_BENCH_BEAST_TRANSPORT_H_
