// The bound of whoever is told of changes: processes that only read what a watch brings, and look at nothing.
#ifndef TESTS_BENCH_BARE_WATCH_H_
#define TESTS_BENCH_BARE_WATCH_H_

#include <string>
#include <vector>

#include "tests/bench/bench.h"

namespace yad::bench {

// CPU in µs for each of the requests, which change one object of `collection` each: of a process with the operator's
// transport class, and of one with Beast. `parallel` at a time.
std::vector<Bound> BareWatches(Cluster& cluster, const std::string& collection,
                               const std::vector<HttpRequest>& requests, std::size_t parallel);

// Such a process: reads until it is killed. `transport`: "cpprest" or "beast". The exit code.
int ServeBareWatch(const std::string& transport, const std::string& kubeconfig, const std::string& collection);

}  // namespace yad::bench

#endif  // TESTS_BENCH_BARE_WATCH_H_
