// The cost of a process in CPU time and memory, and statistics of times.
#ifndef TESTS_BENCH_MEASURE_H_
#define TESTS_BENCH_MEASURE_H_

#include <sys/types.h>

#include <chrono>
#include <utility>
#include <vector>

#include "operator/base/clock.h"

namespace yad::bench {

// Returns the seconds of CPU, user and system, of all threads of the process since its start, to the nanosecond. Throws
// TestFailure if it has ended.
double CpuSeconds(pid_t pid);
double OwnCpuSeconds();

struct Memory {
  double resident_mb = 0;  // 2^20 bytes
  double peak_mb = 0;      // the maximum of resident memory
};
Memory MemoryOf(pid_t pid);

// Returns the share of the machine's CPU that is in use, 0 to 1, over `time`.
double BusyShare(Duration time);

double Seconds(Duration duration);
double SecondsSince(SteadyTime begin);

// Blocks until the process has used almost no CPU for `quiet`. Returns the time of its last activity. The function
// checks every 2 ms, which costs that process nothing. Throws TestFailure if it is still busy at `timeout`.
SteadyTime WaitUntilQuiet(pid_t pid, Duration quiet = std::chrono::milliseconds(500),
                          Duration timeout = std::chrono::minutes(3));

// Returns the value that the share `p` (0 to 1) of the values does not exceed; 0 if there are no values.
double Percentile(std::vector<double> values, double p);
inline double Median(std::vector<double> values) { return Percentile(std::move(values), 0.5); }
double Mean(const std::vector<double>& values);

}  // namespace yad::bench

#endif  // TESTS_BENCH_MEASURE_H_
