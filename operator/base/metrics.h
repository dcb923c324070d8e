// The metrics of the process, in Prometheus' exposition format.
#ifndef OPERATOR_BASE_METRICS_H_
#define OPERATOR_BASE_METRICS_H_

#include <map>
#include <string>
#include <vector>

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace yad::metrics {

using Labels = std::map<std::string, std::string>;

// A metric. Thread-safe. Callers should keep the reference that GetCounter returns; only Remove invalidates it.
class Counter {
 public:
  explicit Counter(prometheus::Counter& metric) : metric_(metric) {}
  void Increment(double by = 1);  // ignores negative amounts
  double Value() const;

 private:
  prometheus::Counter& metric_;
};

class Gauge {
 public:
  explicit Gauge(prometheus::Gauge& metric) : metric_(metric) {}
  void Set(double value);
  void Add(double by);
  double Value() const;

 private:
  prometheus::Gauge& metric_;
};

class Histogram {
 public:
  explicit Histogram(prometheus::Histogram& metric) : metric_(metric) {}
  void Observe(double value);

 private:
  prometheus::Histogram& metric_;
};

// The upper bounds of the buckets of a histogram, in ascending order, without +Inf.
using Buckets = std::vector<double>;

// Return the metric with this name and these labels, and create it if it does not exist. Thread-safe. These programming
// errors terminate the process: a malformed name or label, and a name that already has another type of metric.
Counter& GetCounter(const std::string& name, const std::string& help, const Labels& labels = {}) noexcept;
Gauge& GetGauge(const std::string& name, const std::string& help, const Labels& labels = {}) noexcept;
Histogram& GetHistogram(const std::string& name, const std::string& help, const Labels& labels,
                        const Buckets& buckets) noexcept;

// Removes a metric, for example because its labels identify a deleted object. Invalidates references to it.
void Remove(const std::string& name, const Labels& labels);

// Returns all metrics in Prometheus' exposition format. The metrics process_* are read from /proc by each call.
std::string Render();

}  // namespace yad::metrics

#endif  // OPERATOR_BASE_METRICS_H_
