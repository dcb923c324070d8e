// Sends prepared requests from several threads, and checks only the status of the responses, so that the server limits
// the result, and not the client.
#ifndef TESTS_BENCH_LOAD_H_
#define TESTS_BENCH_LOAD_H_

#include <cstddef>
#include <string>
#include <vector>

#include "operator/client/transport/transport.h"

namespace yad::bench {

struct Load {
  double seconds = 0;                // from the first request to the last response
  double cpu_seconds = 0;            // of this process in that time
  std::vector<double> latencies_ms;  // one for each request, not sorted
};

// Sends each request once, from `parallel` threads. Throws TestFailure if a response is not 2xx.
Load SendAll(HttpTransport& transport, const std::vector<HttpRequest>& requests, std::size_t parallel);

// Sends the same request from `parallel` threads, `count` times in all.
Load SendRepeatedly(HttpTransport& transport, const HttpRequest& request, std::size_t count, std::size_t parallel);

// The options of wrk, an HTTP load generator. It needs almost no CPU, so the server limits the result.
struct WrkOptions {
  std::string server;  // "https://127.0.0.1:port"
  std::string token;   // bearer token; "" for none
  std::string method;
  std::string path;  // "@N@" stands for the number of the request
  std::string body;  // may contain "@N@", and "@ROUND@": how often @N@ has restarted
  int connections = 16;
  int seconds = 3;
  int names = 0;  // @N@ begins again at its first number after this many requests; 0: never
};
// Returns the requests per second, or 0 if wrk is not installed or a response was not 2xx.
double RunWrk(const WrkOptions& options, const std::string& dir);

}  // namespace yad::bench

#endif  // TESTS_BENCH_LOAD_H_
