// A server of the product's own class that only returns the body. Its speed is a bound for the webhook.
#ifndef TESTS_BENCH_ECHO_H_
#define TESTS_BENCH_ECHO_H_

#include <string>

namespace yad::bench {

// Serves on 127.0.0.1:port until SIGTERM, with tls.crt and tls.key in the folder `certificates`. Returns the exit code.
int ServeEcho(int port, const std::string& certificates);

}  // namespace yad::bench

#endif  // TESTS_BENCH_ECHO_H_
