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

// Handles. Thread-safe and cheap: get one once and keep the reference, which lives as long as the process (or until
// Remove).
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

// Upper bounds of histograms, in rising order; +Inf is implied.
using Buckets = std::vector<double>;

// The metric of that name and these labels, made at the first call; the same call gives the same metric. Thread-safe. A
// malformed name or label, or one name for two types, is a mistake in the program and ends it.
Counter& GetCounter(const std::string& name, const std::string& help, const Labels& labels = {}) noexcept;
Gauge& GetGauge(const std::string& name, const std::string& help, const Labels& labels = {}) noexcept;
Histogram& GetHistogram(const std::string& name, const std::string& help, const Labels& labels,
                        const Buckets& buckets) noexcept;

// For label sets that end, for instance with an object. References to that metric must not be used afterwards.
void Remove(const std::string& name, const Labels& labels);

// Everything registered, and process_* as read from /proc now.
std::string Render();

}  // namespace yad::metrics

#endif  // OPERATOR_BASE_METRICS_H_
