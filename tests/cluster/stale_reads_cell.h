// A cell whose operator observes changes late: it gets an old list after its restart, or no events for a while. `act`
// changes the cluster during this time.
#ifndef TESTS_CLUSTER_STALE_READS_CELL_H_
#define TESTS_CLUSTER_STALE_READS_CELL_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/cluster/cell.h"
#include "tests/support/stale_reads.h"

namespace yad::testing {

// A set of resources, one letter for each: p (pools), d (daemons), w (workloads), r (revisions). Example: "dr".
using Views = std::string;

class StaleReadsCell : public Cell {
 public:
  using Cell::AddNode;
  using Cell::AddPoolNamed;
  using Cell::Cell;
  using Cell::KillOperator;
  using Cell::StartOperator;

  // Sets up or changes the cluster. Returns the expected state of the cluster.
  using Act = Wanted (*)(StaleReadsCell&);
  // Stops the operator, runs `act`, and starts the operator with lists of the resources `stale` that are older than
  // `act`.
  void PlayStale(Act before, Act act, const Views& stale);
  // Runs `act` while the operator observes no changes of the resources `withheld`. Then makes it list them again.
  void PlayUnobserved(Act before, Act act, const Views& withheld);

  // ---- for acts ----
  // Permits the operator to create and delete a workload of the pool, because its view may be stale.
  void MayComeAndGo(const std::string& pool);
  void MayGo(const std::string& pool);  // permits the removal of the workload that the pool has now
  void SetTaints(const std::string& pool, const Json& taints);
  void SetPoolSelector(const Json& labels);  // of the daemon, besides the cell's own label
  void LabelPool(const std::string& pool, const std::string& label, const Json& value);

 private:
  Fault OnRequest(const ProxiedRequest& request) override { return stale_reads_(request); }
  std::map<std::string, Json> ListAll();
  std::set<std::string> ResourcesOf(const Views& views) const;
  // Returns the uid and generation of each workload. Leaves out the pools of MayComeAndGo.
  std::map<std::string, std::string> States();
  void WaitUntilItHasReconciled();

  StaleReads stale_reads_;
  std::set<std::string> coming_and_going_;  // the pools of MayComeAndGo
  std::set<std::string> going_;             // the names of the workloads of MayGo
};

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_STALE_READS_CELL_H_
