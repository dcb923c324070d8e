// The metrics of the process, in Prometheus' text format.
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

// A handle to a metric, thread-safe and cheap. Callers should get a handle once and keep the reference, which is valid
// until Remove or until the process ends.
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

// The upper bounds of a histogram's buckets, in ascending order, without +Inf.
using Buckets = std::vector<double>;

// Return the metric with this name and these labels. The first call creates it. Thread-safe. A malformed name or label,
// or a name with two types, is a programming error and ends the process.
Counter& GetCounter(const std::string& name, const std::string& help, const Labels& labels = {}) noexcept;
Gauge& GetGauge(const std::string& name, const std::string& help, const Labels& labels = {}) noexcept;
Histogram& GetHistogram(const std::string& name, const std::string& help, const Labels& labels,
                        const Buckets& buckets) noexcept;

// Removes a metric whose labels name an object that no longer exists. References to the metric must not be used
// afterwards.
void Remove(const std::string& name, const Labels& labels);

// Returns all registered metrics in Prometheus' text format, with the present values of process_* from /proc.
std::string Render();

}  // namespace yad::metrics

#endif  // OPERATOR_BASE_METRICS_H_
