#include "operator/base/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <sstream>
#include <system_error>

#include "operator/base/file.h"

namespace yad::metrics {
namespace {

// The metrics of one type, by their names and labels.
template <typename Metric, typename Handle, auto Build>
class Families {
 public:
  template <typename... Args>
  Handle& Get(prometheus::Registry& registry, const std::string& name, const std::string& help, const Labels& labels,
              const Args&... args) {
    Family& family = by_name_[name];
    if (family.registered == nullptr) family.registered = &Build().Name(name).Help(help).Register(registry);
    auto found = family.entries.find(labels);
    if (found == family.entries.end()) {
      Metric& metric = family.registered->Add(prometheus::Labels(labels.begin(), labels.end()), args...);
      found = family.entries.try_emplace(labels, metric).first;
    }
    return found->second.handle;
  }

  void Remove(const std::string& name, const Labels& labels) {
    auto family = by_name_.find(name);
    if (family == by_name_.end()) return;
    auto found = family->second.entries.find(labels);
    if (found == family->second.entries.end()) return;
    family->second.registered->Remove(found->second.metric);
    family->second.entries.erase(found);
  }

 private:
  struct Entry {
    explicit Entry(Metric& made) : metric(&made), handle(made) {}
    Metric* metric;
    Handle handle;
  };
  struct Family {
    prometheus::Family<Metric>* registered = nullptr;
    std::map<Labels, Entry> entries;  // a std::map, because references to the handles must stay valid
  };
  std::map<std::string, Family> by_name_;
};

struct State {
  std::mutex mutex;
  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Throw};
  Families<prometheus::Counter, Counter, prometheus::BuildCounter> counters;
  Families<prometheus::Gauge, Gauge, prometheus::BuildGauge> gauges;
  Families<prometheus::Histogram, Histogram, prometheus::BuildHistogram> histograms;
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

void Counter::Increment(double by) { metric_.Increment(by); }
double Counter::Value() const { return metric_.Value(); }

void Gauge::Set(double value) { metric_.Set(value); }
void Gauge::Add(double by) { metric_.Increment(by); }
double Gauge::Value() const { return metric_.Value(); }

void Histogram::Observe(double value) { metric_.Observe(value); }

Counter& GetCounter(const std::string& name, const std::string& help, const Labels& labels) noexcept {
  State& state = Global();
  std::lock_guard lock(state.mutex);
  return state.counters.Get(state.registry, name, help, labels);
}

Gauge& GetGauge(const std::string& name, const std::string& help, const Labels& labels) noexcept {
  State& state = Global();
  std::lock_guard lock(state.mutex);
  return state.gauges.Get(state.registry, name, help, labels);
}

Histogram& GetHistogram(const std::string& name, const std::string& help, const Labels& labels,
                        const Buckets& buckets) noexcept {
  State& state = Global();
  std::lock_guard lock(state.mutex);
  return state.histograms.Get(state.registry, name, help, labels, buckets);
}

void Remove(const std::string& name, const Labels& labels) {
  State& state = Global();
  std::lock_guard lock(state.mutex);
  state.counters.Remove(name, labels);
  state.gauges.Remove(name, labels);
  state.histograms.Remove(name, labels);
}

std::string Render() {
  std::vector<prometheus::MetricFamily> families = Global().registry.Collect();
  AppendProcessMetrics(families);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace yad::metrics
