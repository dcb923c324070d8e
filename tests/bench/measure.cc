#include "tests/bench/measure.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>

#include "tests/support/eventually.h"

namespace yad::bench {
namespace {

double ClockSeconds(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) throw testing::TestFailure("a measured process has exited");
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace

double CpuSeconds(pid_t pid) {
  clockid_t clock{};
  if (clock_getcpuclockid(pid, &clock) != 0) {
    throw testing::TestFailure("process " + std::to_string(pid) + ", which is measured, has exited");
  }
  return ClockSeconds(clock);
}

double OwnCpuSeconds() { return ClockSeconds(CLOCK_PROCESS_CPUTIME_ID); }

Memory MemoryOf(pid_t pid) {
  Memory memory;
  const std::string proc = "/proc/" + std::to_string(pid);
  std::string word;
  // smaps_rollup is exact. VmRSS in `status` may be out of date.
  std::ifstream rollup(proc + "/smaps_rollup");
  while (rollup >> word) {
    if (word == "Rss:" && rollup >> memory.resident_mb) break;
  }
  std::ifstream status(proc + "/status");
  while (status >> word) {
    if (word == "VmHWM:" && status >> memory.peak_mb) break;
  }
  memory.resident_mb /= 1024;
  memory.peak_mb /= 1024;
  return memory;
}

double BusyShare(Duration time) {
  struct Ticks {
    double idle = 0;
    double all = 0;
  };
  const auto read = [] {
    std::ifstream stat("/proc/stat");
    std::string cpu;
    stat >> cpu;  // user nice system idle iowait irq softirq steal
    Ticks ticks;
    double value = 0;
    for (int i = 0; i < 8 && stat >> value; ++i) {
      ticks.all += value;
      if (i == 3 || i == 4) ticks.idle += value;
    }
    return ticks;
  };
  const Ticks before = read();
  std::this_thread::sleep_for(time);
  const Ticks after = read();
  return after.all > before.all ? 1 - (after.idle - before.idle) / (after.all - before.all) : 0;
}

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

double SecondsSince(SteadyTime begin) { return Seconds(std::chrono::steady_clock::now() - begin); }

SteadyTime WaitUntilQuiet(pid_t pid, Duration quiet, Duration timeout) {
  // A timer without work uses less: a few microseconds of CPU.
  constexpr double kNothing = 0.00005;
  const SteadyTime begin = std::chrono::steady_clock::now();
  SteadyTime last = begin;
  double cpu = CpuSeconds(pid);
  for (SteadyTime now = begin; now - last < quiet; now = std::chrono::steady_clock::now()) {
    if (now - begin > timeout) throw testing::TestFailure("a process is still busy at the timeout");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const double cpu_now = CpuSeconds(pid);
    if (cpu_now - cpu > kNothing) last = now;
    cpu = cpu_now;
  }
  return last;
}

double Percentile(std::vector<double> values, double p) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::clamp<std::size_t>(rank, 1, values.size()) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double Mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace yad::bench
