// A server of the product's own class whose handler only returns the body: the webhook can't be faster.
#ifndef TESTS_BENCH_ECHO_H_
#define TESTS_BENCH_ECHO_H_

#include <string>

namespace yad::bench {

// Serves on 127.0.0.1:port until SIGTERM. The folder `certificates` has tls.crt and tls.key. Returns the exit code.
int ServeEcho(int port, const std::string& certificates);

}  // namespace yad::bench

#endif  // TESTS_BENCH_ECHO_H_
