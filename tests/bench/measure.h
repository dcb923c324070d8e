// What a process costs: CPU time, memory; and how times are summed up.
#ifndef TESTS_BENCH_MEASURE_H_
#define TESTS_BENCH_MEASURE_H_

#include <sys/types.h>

#include <chrono>
#include <utility>
#include <vector>

#include "operator/base/clock.h"

namespace yad::bench {

// Seconds of CPU, user and system, of all threads of the process since its start, to the nanosecond. TestFailure where
// it has ended.
double CpuSeconds(pid_t pid);
double OwnCpuSeconds();

struct Memory {
  double resident_mb = 0;  // 2^20 bytes
  double peak_mb = 0;      // the most that was ever resident
};
Memory MemoryOf(pid_t pid);

// The share of the machine's CPU that is in use, 0 to 1, over `time`.
double BusyShare(Duration time);

double Seconds(Duration duration);
double SecondsSince(SteadyTime begin);

// Waits until the process has used next to no CPU for `quiet`. Returns when it last did something. Looks every 2 ms,
// and costs that process nothing. TestFailure where it is still busy at `timeout`.
SteadyTime WaitUntilQuiet(pid_t pid, Duration quiet = std::chrono::milliseconds(500),
                          Duration timeout = std::chrono::minutes(3));

// The value that the share `p` (0 to 1) of the values does not exceed; 0 for none.
double Percentile(std::vector<double> values, double p);
inline double Median(std::vector<double> values) { return Percentile(std::move(values), 0.5); }
double Mean(const std::vector<double>& values);

}  // namespace yad::bench

#endif  // TESTS_BENCH_MEASURE_H_
