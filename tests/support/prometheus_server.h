// A real Prometheus server on 127.0.0.1, which scrapes metrics that a test sets.
#ifndef TESTS_SUPPORT_PROMETHEUS_SERVER_H_
#define TESTS_SUPPORT_PROMETHEUS_SERVER_H_

#include <memory>
#include <string>

namespace yad::testing {

// The constructor waits until the server is ready. The destructor stops it and removes its data.
class PrometheusServer {
 public:
  // Returns "" if Prometheus is installed. Otherwise, returns how to install it.
  static std::string Missing();

  // `prefix` comes before the path of the API: "" or "/path".
  explicit PrometheusServer(const std::string& prefix = "");
  ~PrometheusServer();

  std::string url() const;  // "http://127.0.0.1:PORT/path"
  // Replaces all metrics with these lines, such as `errors{pool="a"} 0.01`. Ends the series that are not in the lines.
  // Blocks until queries return the new values.
  void Export(const std::string& metrics);
  void Signal(int signal);  // to its process

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_PROMETHEUS_SERVER_H_
