// Bare load: a thread pool that sends prepared requests, and only checks the status of the answers. It measures a
// server's limit, and is the bound of a client that also computes.
#ifndef TESTS_BENCH_LOAD_H_
#define TESTS_BENCH_LOAD_H_

#include <cstddef>
#include <string>
#include <vector>

#include "operator/client/transport/transport.h"

namespace yad::bench {

struct Load {
  double seconds = 0;                // from the first request to the last answer
  double cpu_seconds = 0;            // of this whole process meanwhile
  std::vector<double> latencies_ms;  // one for each request, in no order
};

// Sends each request once, `parallel` at a time. Throws TestFailure if an answer is not 2xx.
Load SendAll(HttpTransport& transport, const std::vector<HttpRequest>& requests, std::size_t parallel);

// Sends the same request from `parallel` threads, `count` times in all.
Load SendRepeatedly(HttpTransport& transport, const HttpRequest& request, std::size_t count, std::size_t parallel);

// The options of wrk. With requests of the same kind, wrk measures a server's limit, because wrk itself costs almost
// nothing.
struct WrkOptions {
  std::string server;  // "https://127.0.0.1:port"
  std::string token;   // bearer token; "" for none
  std::string method;
  std::string path;  // "@N@" stands for a number that differs in each request
  std::string body;  // has "@N@" too; "@ROUND@" stands for the number of times that the numbers have restarted
  int connections = 16;
  int seconds = 3;
  int names = 0;  // the numbers restart when this many have been used; 0: never
};
// Returns requests a second. 0: wrk is not installed, or not all answers were 2xx.
double RunWrk(const WrkOptions& options, const std::string& dir);

}  // namespace yad::bench

#endif  // TESTS_BENCH_LOAD_H_
