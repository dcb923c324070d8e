// Ordinary weather between a client and the apiserver: what a FaultProxy does to each request, at random and yet the
// same for the same seed.
#ifndef TESTS_SUPPORT_WEATHER_H_
#define TESTS_SUPPORT_WEATHER_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/fault_proxy.h"

namespace yad::testing {

// What happens to a request depends on the seed, on its kind (method and resource), and on how many of its kind came
// before. Thread-safe.
class Weather {
 public:
  explicit Weather(std::uint64_t seed) : seed_(seed) {}

  // For FaultProxy.
  Fault operator()(const ProxiedRequest& request);
  void Clear();  // No faults from here on.
  // "PUT deployments: 503 instead", oldest first.
  std::vector<std::string> faults() const;

 private:
  const std::uint64_t seed_;
  mutable std::mutex mutex_;
  bool clear_ = false;
  std::map<std::string, std::uint64_t> counts_;
  std::vector<std::string> faults_;
};

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_WEATHER_H_
