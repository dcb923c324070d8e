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
  static constexpr int kGroups = 10;            // each daemon selects the pools of one group,
  static constexpr char kEverybodys[] = "all";  // and the pools of this group, which is empty at first
  static constexpr int kWorkloads = kDaemons * kPools / kGroups;

  // Starts the operator, and returns when it is at rest. Adds the figures of the memory that it needs until then.
  explicit World(Bench& bench);

  Cluster& cluster() { return cluster_; }
  const testing::Kube& kube() const { return kube_; }
  testing::OperatorProcess& op() { return *operator_; }
  // Replaces the operator's process; returns when the new one has read everything and is idle.
  struct Start {
    double ready_seconds = 0;    // until /readyz succeeds
    double settled_seconds = 0;  // until it is idle
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
  // Does the work of Kubernetes' controllers.
  void MakeHealthy(Bench& bench);

  Cluster cluster_;
  testing::Kube kube_;
  std::unique_ptr<testing::OperatorProcess> operator_;
  std::vector<std::string> workloads_;
  double workload_bytes_ = 0;
  Json sample_;
};

// Returns the world that all scenarios share, and creates it at the first call, which takes most of a minute.
World& TheWorld(Bench& bench);
void EndWorld();

}  // namespace yad::bench

#endif  // TESTS_BENCH_WORLD_H_
