// One scenario in its own namespace, beside many others. A cell has:
// - daemon "web" with the pools a, b and c
// - a workload that does not belong to the daemon
// - an operator that connects to the apiserver through a proxy
#ifndef TESTS_CLUSTER_CELL_H_
#define TESTS_CLUSTER_CELL_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/cluster/fixture.h"
#include "tests/cluster/wanted.h"
#include "tests/cluster/workload_watch.h"
#include "tests/support/fault_proxy.h"

namespace yad::testing {

inline constexpr char kCellDaemon[] = "web";

// A ClusterTest that GoogleTest does not run. Each cell has its own thread. Construct, open and destroy cells only
// through InTurn, because these steps change global variables of GoogleTest and of the fixture.
class Cell : public ClusterTest {
 public:
  explicit Cell(WorkloadKind kind) : kind_(kind) {}
  void TestBody() override {}
  WorkloadKind kind() const override { return kind_; }
  void Open() { SetUp(); }
  // Ends all calls of other threads into this object. Call it before destruction.
  virtual void Close();
  // Returns additional lines for the report of a failure.
  virtual std::string Details();

  using ClusterTest::AddPool;
  using ClusterTest::CreateDaemon;
  using ClusterTest::Daemon;
  using ClusterTest::DeletePool;
  using ClusterTest::GetDaemon;
  using ClusterTest::kube;
  using ClusterTest::PatchSpec;
  using ClusterTest::PatchTemplate;
  using ClusterTest::Pool;
  using ClusterTest::Select;
  using ClusterTest::SetImage;
  using ClusterTest::type;
  using ClusterTest::Unselect;
  using ClusterTest::WorkloadOf;
  std::vector<std::string> ThreePools() const { return {Pool("a"), Pool("b"), Pool("c")}; }
  // Creates the daemon. Returns the expected state of the cluster.
  Wanted Create();
  // Runs kubectl delete --cascade=orphan, and blocks until the daemon is gone.
  void Orphan();
  // From now on, permits the removal of the pool's workload.
  void ExpectRemovalOf(const std::string& pool);
  void WaitUntil(const Wanted& wanted);

 protected:
  OperatorOptions DefaultOptions() override;
  // Handles a request of the operator. Runs on the proxy's threads.
  virtual Fault OnRequest(const ProxiedRequest&) { return {}; }
  FaultProxy& proxy() { return *proxy_; }

  void AddThreePools();
  // Creates a workload that the operator must not change. It has the labels and annotations of the pool's workload, but
  // another selector and no controller.
  void AddBystander(const std::string& pool);
  std::vector<Json> AllButTheBystander();  // in order of their pools
  void CompareBystander(Comparison& is);
  // Records the workloads. They must stay the same objects while their pools are selected.
  void RememberWorkloads();
  void WatchWorkloads();
  WorkloadWatch& watch() { return *watch_; }
  std::string DifferenceFrom(const Wanted& wanted);
  void ExpectNoFaultWasSeen();
  // Blocks until the watch has observed all changes up to now.
  void CatchUp(const WorkloadWatch& watch);

 private:
  const WorkloadKind kind_;
  std::unique_ptr<FaultProxy> proxy_;
  Json bystander_;                           // the object at its creation
  std::map<std::string, std::string> uids_;  // of the recorded workloads, by pool
  std::unique_ptr<WorkloadWatch> watch_;
};

void InTurn(const std::function<void()>& what);

// Makes and opens a cell, runs `play` with it, and destroys it. Returns "", or the failure with Details().
template <typename CellType>
std::string InACell(const std::function<std::unique_ptr<CellType>()>& make,
                    const std::function<void(CellType&)>& play) {
  std::string failure;
  std::unique_ptr<CellType> cell;
  try {
    InTurn([&] { (cell = make())->Open(); });
    play(*cell);
  } catch (const std::exception& thrown) {
    failure = thrown.what() + cell->Details();
  }
  try {
    cell->Close();
  } catch (const std::exception& thrown) {
    failure += std::string("\n  cleaning up: ") + thrown.what();
  }
  InTurn([&] { cell.reset(); });
  return failure;
}

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_CELL_H_
