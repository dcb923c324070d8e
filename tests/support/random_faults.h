// Random faults of the network between a client and the apiserver, for a FaultProxy. The same seed always causes the
// same faults.
#ifndef TESTS_SUPPORT_RANDOM_FAULTS_H_
#define TESTS_SUPPORT_RANDOM_FAULTS_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/fault_proxy.h"

namespace yad::testing {

// Chooses a fault for each request from the seed, the request's kind (method and resource), and the number of earlier
// requests of that kind. Thread-safe.
class RandomFaults {
 public:
  explicit RandomFaults(std::uint64_t seed) : seed_(seed) {}

  // The hook of a FaultProxy.
  Fault operator()(const ProxiedRequest& request);
  void Clear();  // no faults from here on
  // Returns the faults, oldest first: "PUT deployments 3: 503" for the third PUT of a Deployment.
  std::vector<std::string> faults() const;

 private:
  const std::uint64_t seed_;
  mutable std::mutex mutex_;
  bool clear_ = false;
  std::map<std::string, std::uint64_t> counts_;
  std::vector<std::string> faults_;
};

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_RANDOM_FAULTS_H_
