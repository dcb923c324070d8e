// A large cluster at rest: 1,000 pools, 100 daemons of 100 pools each, 10,000 healthy workloads, made by the operator.
#ifndef TESTS_BENCH_WORLD_H_
#define TESTS_BENCH_WORLD_H_

#include <memory>
#include <string>
#include <vector>

#include "tests/bench/bench.h"
#include "tests/bench/measure.h"

namespace yad::bench {

class World {
 public:
  static constexpr int kPools = 1000;
  static constexpr int kDaemons = 100;
  static constexpr int kGroups = 10;            // a daemon is for the pools of one of them,
  static constexpr char kEverybodys[] = "all";  // and for this group's, which has none at first
  static constexpr int kWorkloads = kDaemons * kPools / kGroups;

  // With the operator running, and at rest. Adds the figures of the memory that it needs until there.
  explicit World(Bench& bench);

  Cluster& cluster() { return cluster_; }
  const testing::Kube& kube() const { return kube_; }
  testing::OperatorProcess& op() { return *operator_; }
  // A new process in the place of the one that runs; returns when it has read everything and has nothing to do.
  struct Start {
    double ready_seconds = 0;    // until /readyz says so
    double settled_seconds = 0;  // until it had nothing to do
    double cpu_seconds = 0;
    Memory memory;
  };
  Start Restart();
  void StopOperator() { operator_.reset(); }

  const std::vector<std::string>& workloads() const { return workloads_; }  // names
  std::string WorkloadPath(const std::string& name = "", const std::string& subresource = "") const;
  double workload_bytes() const { return workload_bytes_; }  // of JSON without managedFields, on average
  const Json& sample() const { return sample_; }             // one of them

 private:
  void Launch();
  // The part of Kubernetes' controllers.
  void MakeHealthy(Bench& bench);

  Cluster cluster_;
  testing::Kube kube_;
  std::unique_ptr<testing::OperatorProcess> operator_;
  std::vector<std::string> workloads_;
  double workload_bytes_ = 0;
  Json sample_;
};

// The one that all scenarios share: making it takes the better part of a minute. Made at its first use.
World& TheWorld(Bench& bench);
void EndWorld();

}  // namespace yad::bench

#endif  // TESTS_BENCH_WORLD_H_
