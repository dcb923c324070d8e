#include "operator/base/metrics.h"

#include <prometheus/family.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>
#include <system_error>

#include "operator/base/file.h"
#include "operator/base/synchronized.h"

namespace yad::metrics {
namespace {

struct State {
  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Merge};
  // The families that Remove can find. The registry has no search by name.
  Synchronized<std::map<std::string, prometheus::Family<Gauge>*>> gauges;
};

// Never destroyed, because threads may still update metrics while the process exits.
State& Global() {
  static State* state = new State;
  return *state;
}

prometheus::MetricFamily Single(const char* name, const char* help, prometheus::MetricType type, double value) {
  prometheus::ClientMetric metric;
  metric.counter.value = value;
  metric.gauge.value = value;
  return {name, help, type, {metric}};
}

// Appends the metrics process_*. Prometheus client libraries in other languages export the same metrics.
void AppendProcessMetrics(std::vector<prometheus::MetricFamily>& out) {
  // In /proc/self/stat, the second field is the program's name in parentheses. The name may contain any character, so
  // the other fields are counted from the last parenthesis.
  const std::string stat = ReadSmallFile("/proc/self/stat").value_or("");
  const std::size_t name_end = stat.rfind(')');
  if (name_end != std::string::npos) {
    std::istringstream in(stat.substr(name_end + 1));
    std::vector<std::string> fields{std::istream_iterator<std::string>(in), {}};  // fields[0] is field 3, the state
    const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    auto field = [&fields](std::size_t number) { return std::strtod(fields[number - 3].c_str(), nullptr); };
    if (fields.size() >= 22 && ticks > 0) {
      out.push_back(Single("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.",
                           prometheus::MetricType::Counter, (field(14) + field(15)) / ticks));
      out.push_back(Single("process_resident_memory_bytes", "Resident memory size in bytes.",
                           prometheus::MetricType::Gauge, field(24) * static_cast<double>(sysconf(_SC_PAGESIZE))));
      const std::string system = ReadSmallFile("/proc/stat").value_or("");
      const std::size_t boot = system.find("\nbtime ");
      if (boot != std::string::npos) {
        out.push_back(Single("process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
                             prometheus::MetricType::Gauge,
                             std::strtod(system.c_str() + boot + 7, nullptr) + field(22) / ticks));
      }
    }
  }
  std::error_code error;
  std::filesystem::directory_iterator open_files("/proc/self/fd", error);
  if (!error) {
    double count = -1;  // The iterator's own descriptor is not counted.
    for (; !error && open_files != std::filesystem::directory_iterator(); open_files.increment(error)) ++count;
    out.push_back(Single("process_open_fds", "Number of open file descriptors.", prometheus::MetricType::Gauge, count));
  }
}

}  // namespace

Counter& GetCounter(const std::string& name, const std::string& help, const Labels& labels) noexcept {
  return prometheus::BuildCounter().Name(name).Help(help).Register(Global().registry).Add(labels);
}

Gauge& GetGauge(const std::string& name, const std::string& help, const Labels& labels) noexcept {
  auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(Global().registry);
  Global().gauges.With([&](auto& gauges) { gauges.try_emplace(name, &family); });
  return family.Add(labels);
}

Histogram& GetHistogram(const std::string& name, const std::string& help, const Labels& labels,
                        const Buckets& buckets) noexcept {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(Global().registry).Add(labels, buckets);
}

void Remove(const std::string& name, const Labels& labels) {
  Global().gauges.With([&](const auto& gauges) {
    const auto family = gauges.find(name);
    if (family != gauges.end() && family->second->Has(labels)) family->second->Remove(&family->second->Add(labels));
  });
}

std::string Render() {
  std::vector<prometheus::MetricFamily> families = Global().registry.Collect();
  AppendProcessMetrics(families);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace yad::metrics
