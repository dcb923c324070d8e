// Bare load: a thread pool that sends requests made beforehand, and does nothing with the answers but look at their
// status. What a server takes, and the bound for whoever also has to think.
#ifndef TESTS_BENCH_LOAD_H_
#define TESTS_BENCH_LOAD_H_

#include <cstddef>
#include <string>
#include <vector>

#include "operator/client/transport.h"

namespace yad::bench {

struct Load {
  double seconds = 0;                // from the first request to the last answer
  double cpu_seconds = 0;            // of this whole process meanwhile
  std::vector<double> latencies_ms;  // one for each request, in no order
};

// Sends each request once, `parallel` at a time. TestFailure where one is not answered with 2xx.
Load SendAll(HttpTransport& transport, const std::vector<HttpRequest>& requests, std::size_t parallel);

// The same request again and again, from `parallel` threads, `count` times in all.
Load SendRepeatedly(HttpTransport& transport, const HttpRequest& request, std::size_t count, std::size_t parallel);

// What wrk makes of a server: the most that requests like these can be, from a client that costs next to nothing.
struct WrkOptions {
  std::string server;  // "https://127.0.0.1:port"
  std::string token;   // bearer token; "" for none
  std::string method;
  std::string path;  // "@N@" stands for a number of its own for each request
  std::string body;  // likewise; "@ROUND@" is how often the numbers have begun anew
  int connections = 16;
  int seconds = 3;
  int names = 0;  // after so many numbers it begins anew; 0: never
};
// Requests a second. 0: wrk is not installed, or not all answers were 2xx.
double RunWrk(const WrkOptions& options, const std::string& dir);

}  // namespace yad::bench

#endif  // TESTS_BENCH_LOAD_H_
