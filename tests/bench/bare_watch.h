// A lower bound for the CPU of a watch: a process that reads the bytes without parsing them.
#ifndef TESTS_BENCH_BARE_WATCH_H_
#define TESTS_BENCH_BARE_WATCH_H_

#include <string>
#include <vector>

#include "tests/bench/bench.h"

namespace yad::bench {

// Starts a process with ServeBareWatch, and sends the requests, `parallel` at a time. Each request changes one object
// of `collection`. Returns the CPU time of the process for each request, in µs.
Bound BareWatch(Cluster& cluster, const std::string& collection, const std::vector<HttpRequest>& requests,
                std::size_t parallel);

// The main function of the process. It reads with Beast until it is killed. Returns the exit code.
int ServeBareWatch(const std::string& kubeconfig, const std::string& collection);

}  // namespace yad::bench

#endif  // TESTS_BENCH_BARE_WATCH_H_
