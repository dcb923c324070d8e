// One run of a crash test: a namespace with an operator whose connection leads through a proxy.
#ifndef TESTS_CLUSTER_CRASH_CELL_H_
#define TESTS_CLUSTER_CRASH_CELL_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/cluster/fixture.h"
#include "tests/cluster/workload_watch.h"
#include "tests/support/fault_proxy.h"
#include "tests/support/write_gate.h"

namespace yad::testing {

// The one daemon of a cell.
inline constexpr char kCellDaemon[] = "web";

// What a naive model says of the cluster at the end.
struct Wanted {
  std::vector<std::string> pools;        // each with exactly one workload, in order of their names
  int image = 1;                         // example.org/app:IMAGE, everywhere
  int containers = 1;                    // all of that image
  int generation = 1;                    // of each workload: how often its spec was written
  std::map<int, int> revisions{{1, 1}};  // number → image; the last one is current
};
std::string Image(int number);

// Everything that a ClusterTest can do, without being run by GoogleTest: many of them live at the same time, each used
// by one thread. Only construction, Open and destruction must not run side by side: a ::testing::Test saves
// GoogleTest's flags and puts them back, and the fixture counts its namespaces.
class CrashCell : public ClusterTest {
 public:
  explicit CrashCell(WorkloadKind kind) : kind_(kind) {}
  void TestBody() override {}
  WorkloadKind kind() const override { return kind_; }
  void Open() { SetUp(); }
  void Close();
  OperatorOptions DefaultOptions() override;

  // ---- what scenarios use ----
  using ClusterTest::AddPool;
  using ClusterTest::CreateDaemon;
  using ClusterTest::Daemon;
  using ClusterTest::GetDaemon;
  using ClusterTest::kube;
  using ClusterTest::Pool;
  using ClusterTest::SetImage;
  using ClusterTest::Unselect;
  std::vector<std::string> ThreePools() const { return {Pool("a"), Pool("b"), Pool("c")}; }
  // The pool's workload may go from now on.
  void ExpectRemovalOf(const std::string& pool);
  // Makes a second workload for that pool, which the operator has to remove.
  void AddSecondWorkload(const std::string& pool);

  // What was before a scenario (nullopt: nothing but the pools a, b and c), and what happens in it.
  using Prepare = std::optional<Wanted> (*)(CrashCell&);
  using Act = Wanted (*)(CrashCell&);
  // The operator is killed right after write number `at` (0: never) of the scenario, and started again. Returns how
  // many were counted. TestFailure where the cluster does not become as wanted, or was at some time as it must never
  // be.
  int Play(Prepare prepare, Act act, int at);
  // For the report of a failure.
  std::string Story();

 private:
  void AddBystander();
  std::vector<Json> AllButTheBystander();
  void WaitUntil(const Wanted& wanted);
  std::string WhyNot(const Wanted& wanted);
  void ExpectNoMoreWrites();
  void ExpectNoFaultWasSeen();

  const WorkloadKind kind_;
  WriteGate gate_;
  std::unique_ptr<FaultProxy> proxy_;  // asks the gate
  std::string kubeconfig_;
  Json bystander_;                           // as it was made
  std::map<std::string, std::string> uids_;  // of the workloads that were there before the scenario began, by pool
  std::unique_ptr<WorkloadWatch> watch_;
};

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_CRASH_CELL_H_
