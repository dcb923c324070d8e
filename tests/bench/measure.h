// Measures the CPU time and memory of processes, and computes statistics.
#ifndef TESTS_BENCH_MEASURE_H_
#define TESTS_BENCH_MEASURE_H_

#include <sys/types.h>

#include <chrono>
#include <utility>
#include <vector>

#include "operator/base/clock.h"

namespace yad::bench {

// Returns the CPU time (user and system) of all threads of the process since its start, with a resolution of a
// nanosecond. Throws TestFailure if the process has exited.
double CpuSeconds(pid_t pid);
double OwnCpuSeconds();

struct Memory {
  double resident_mb = 0;  // 2^20 bytes
  double peak_mb = 0;      // the maximum of resident memory
};
Memory MemoryOf(pid_t pid);

// Returns the share of the machine's CPU that is in use, 0 to 1. Measures for `time`.
double BusyShare(Duration time);

double Seconds(Duration duration);
double SecondsSince(SteadyTime begin);

// Blocks until the process has used almost no CPU for `quiet`. Returns the time of its last activity. Throws
// TestFailure at `timeout`. Does not slow the process down: it only reads the CPU time, every 2 ms.
SteadyTime WaitUntilQuiet(pid_t pid, Duration quiet = std::chrono::milliseconds(500),
                          Duration timeout = std::chrono::minutes(3));

// Returns a percentile of the values, such as the median for p = 0.5. Returns 0 without values.
double Percentile(std::vector<double> values, double p);
inline double Median(std::vector<double> values) { return Percentile(std::move(values), 0.5); }
double Mean(const std::vector<double>& values);

}  // namespace yad::bench

#endif  // TESTS_BENCH_MEASURE_H_
