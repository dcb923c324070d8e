// A large idle cluster: 1,000 pools, and 100 daemons that select 100 pools each. All 10,000 workloads are healthy.
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
  static constexpr int kGroups = 10;             // each daemon selects the pools of one group
  static constexpr char kSharedGroup[] = "all";  // a group that all daemons select; it has no pools at first
  static constexpr int kWorkloads = kDaemons * kPools / kGroups;

  // Starts the operator, creates all objects, and waits until the operator is idle. Adds the figures of its memory.
  explicit World(Bench& bench);

  Cluster& cluster() { return cluster_; }
  const testing::Kube& kube() const { return kube_; }
  testing::OperatorProcess& op() { return *operator_; }
  // Starts a new operator process. Returns when it has filled its caches and is idle.
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
  double workload_bytes() const { return workload_bytes_; }  // the average size in JSON, without managedFields
  const Json& sample() const { return sample_; }             // one of them

 private:
  void Launch();
  // Writes a healthy status to the workloads, because no controllers run.
  void MakeHealthy(Bench& bench);

  Cluster cluster_;
  testing::Kube kube_;
  std::unique_ptr<testing::OperatorProcess> operator_;
  std::vector<std::string> workloads_;
  double workload_bytes_ = 0;
  Json sample_;
};

// Returns the World that all scenarios share. The first call creates it, which takes almost a minute.
World& TheWorld(Bench& bench);
void EndWorld();

}  // namespace yad::bench

#endif  // TESTS_BENCH_WORLD_H_
