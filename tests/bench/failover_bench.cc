// Measures the time without writes after a leader has stopped.
#include <memory>

#include "operator/api/well_known.h"
#include "tests/bench/bench.h"
#include "tests/bench/measure.h"
#include "tests/bench/raw_watch.h"
#include "tests/support/eventually.h"

namespace yad::bench {
namespace {

using testing::OperatorProcess;

class Replicas {
 public:
  Replicas() : cluster_(/*audit=*/false), kube_(cluster_.Namespace("failover")) {
    kube_.Create(kYurtAppDaemonType, Daemon("till", {"shops"}));
    leader_ = Launch();
    testing::Eventually("a replica leads", [&] { return Leads(*leader_); });
  }

  // Stops the leader with `end`, and adds a pool. Returns the seconds until another replica has created the pool's
  // workload.
  template <typename End>
  double Gap(End end) {
    std::unique_ptr<OperatorProcess> next = Launch();
    WaitUntilQuiet(leader_->pid());
    const RawWatch watch(cluster_.beast(), ResourcePath(kDeploymentType, kube_.ns()));
    const SteadyTime begin = std::chrono::steady_clock::now();
    end(*leader_);
    cluster_.AddPools("pool-" + std::to_string(++pools_), 1, "shops");
    watch.WaitForCount(1);
    const double seconds = Seconds(watch.event(0).at - begin);
    leader_ = std::move(next);
    return seconds;
  }

 private:
  std::unique_ptr<OperatorProcess> Launch() {
    testing::OperatorOptions options;
    options.kubeconfig = cluster_.plane().kubeconfig();
    options.leader_elect = true;
    auto process = cluster_.Operator(std::move(options));
    process->WaitUntilReady();
    return process;
  }
  static bool Leads(const OperatorProcess& process) { return process.Metric("leader_election_master_status") == 1; }

  Cluster cluster_;
  testing::Kube kube_;
  std::unique_ptr<OperatorProcess> leader_;
  int pools_ = 0;
};

void Failover(Bench& bench) {
  Replicas replicas;
  std::vector<double> stops;
  for (int i = 0; i < 3; ++i) stops.push_back(replicas.Gap([](OperatorProcess& leader) { leader.Stop(); }));
  bench.Add({"failover",
             "failover after a clean stop: until the other replica writes",
             Median(stops),
             "s",
             {},
             TargetKind::kAtMost,
             1,
             "median of 3; maximum " + Number(Percentile(stops, 1)) +
                 " s; from the signal to the leader until the other replica has created a workload"});
  const double kill = replicas.Gap([](OperatorProcess& leader) { leader.Kill(); });
  constexpr double kLeaseSeconds = 15;  // the default
  bench.Add({"failover",
             "failover after a kill: until the other replica writes",
             kill,
             "s",
             {{"the lease's duration", kLeaseSeconds}},
             TargetKind::kAtMost,
             kLeaseSeconds + 1,
             "the target is the default duration of the Lease plus 1 s"});
}

}  // namespace

std::vector<Scenario> FailoverScenarios() { return {{"failover", Failover}}; }

}  // namespace yad::bench
