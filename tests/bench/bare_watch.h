// The bound of a program that follows a watch: a process that only reads the watch's bytes, and parses nothing.
#ifndef TESTS_BENCH_BARE_WATCH_H_
#define TESTS_BENCH_BARE_WATCH_H_

#include <string>
#include <vector>

#include "tests/bench/bench.h"

namespace yad::bench {

// Returns the CPU time of such a process for each request, in µs. Each request changes one object of `collection`.
// `parallel` requests run at a time.
Bound BareWatch(Cluster& cluster, const std::string& collection, const std::vector<HttpRequest>& requests,
                std::size_t parallel);

// Runs such a process, with Beast, which reads until it is killed. Returns the exit code.
int ServeBareWatch(const std::string& kubeconfig, const std::string& collection);

}  // namespace yad::bench

#endif  // TESTS_BENCH_BARE_WATCH_H_
