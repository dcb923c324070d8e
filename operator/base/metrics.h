// The metrics of the process, in Prometheus' exposition format.
#ifndef OPERATOR_BASE_METRICS_H_
#define OPERATOR_BASE_METRICS_H_

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/labels.h>

#include <string>
#include <vector>

namespace yad::metrics {

using prometheus::Labels;

// The types of metrics. They are thread-safe. Callers should keep the reference that GetCounter returns; only Remove
// invalidates it.
using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;

// The upper bounds of the buckets of a histogram, in ascending order, without +Inf.
using Buckets = std::vector<double>;

// Return the metric with this name and these labels, and create it if it does not exist. Thread-safe. These programming
// errors terminate the process: a malformed name or label, and a name that already has another type of metric.
Counter& GetCounter(const std::string& name, const std::string& help, const Labels& labels = {}) noexcept;
Gauge& GetGauge(const std::string& name, const std::string& help, const Labels& labels = {}) noexcept;
Histogram& GetHistogram(const std::string& name, const std::string& help, const Labels& labels,
                        const Buckets& buckets) noexcept;

// Removes a gauge, for example because its labels identify a deleted object. Invalidates references to it.
void Remove(const std::string& name, const Labels& labels);

// Returns all metrics in Prometheus' exposition format. The metrics process_* are read from /proc by each call.
std::string Render();

}  // namespace yad::metrics

#endif  // OPERATOR_BASE_METRICS_H_
