// The process's metrics, in Prometheus' text format.
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

// Handles to metrics, thread-safe and cheap. Get a handle once and keep the reference: it is valid until Remove, or
// until the process ends.
class Counter {
 public:
  explicit Counter(prometheus::Counter& metric) : metric_(metric) {}
  void Increment(double by = 1);  // Negative amounts are ignored.
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

// Upper bounds of a histogram's buckets, in ascending order. +Inf is implied.
using Buckets = std::vector<double>;

// Returns the metric with this name and these labels, and creates it on the first call. Thread-safe. A malformed name
// or label, or one name with two types, is a programming error and ends the process.
Counter& GetCounter(const std::string& name, const std::string& help, const Labels& labels = {}) noexcept;
Gauge& GetGauge(const std::string& name, const std::string& help, const Labels& labels = {}) noexcept;
Histogram& GetHistogram(const std::string& name, const std::string& help, const Labels& labels,
                        const Buckets& buckets) noexcept;

// Removes the metric. This is for label sets that end, for instance with an object. References to the metric must not
// be used afterwards.
void Remove(const std::string& name, const Labels& labels);

// Returns all registered metrics in Prometheus' text format, with process_* as read from /proc at the time of the call.
std::string Render();

}  // namespace yad::metrics

#endif  // OPERATOR_BASE_METRICS_H_
