// The bound of a program that follows a watch: a process that only reads the watch's bytes, and looks at nothing.
#ifndef TESTS_BENCH_BARE_WATCH_H_
#define TESTS_BENCH_BARE_WATCH_H_

#include <string>
#include <vector>

#include "tests/bench/bench.h"

namespace yad::bench {

// That process's CPU in µs for each of the requests, which change one object of `collection` each. `parallel` at a
// time.
Bound BareWatch(Cluster& cluster, const std::string& collection, const std::vector<HttpRequest>& requests,
                std::size_t parallel);

// Such a process, with Beast: reads until it is killed. The exit code.
int ServeBareWatch(const std::string& kubeconfig, const std::string& collection);

}  // namespace yad::bench

#endif  // TESTS_BENCH_BARE_WATCH_H_
