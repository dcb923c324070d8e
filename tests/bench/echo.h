// The bound of the webhook: the product's own server class, with a handler that sends the body back.
#ifndef TESTS_BENCH_ECHO_H_
#define TESTS_BENCH_ECHO_H_

#include <string>

namespace yad::bench {

// Serves on 127.0.0.1:port with tls.crt and tls.key of the folder until SIGTERM. Returns the exit code.
int ServeEcho(int port, const std::string& certificates);

}  // namespace yad::bench

#endif  // TESTS_BENCH_ECHO_H_
