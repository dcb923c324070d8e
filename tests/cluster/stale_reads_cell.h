// A cell whose operator sees the changes of an act late: it receives an old list after its restart, or it does not
// receive events for a while.
#ifndef TESTS_CLUSTER_STALE_READS_CELL_H_
#define TESTS_CLUSTER_STALE_READS_CELL_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/cluster/cell.h"
#include "tests/support/stale_reads.h"

namespace yad::testing {

// A set of resources: p is pools, d daemons, w workloads, and r revisions. "dr" is daemons and revisions.
using Views = std::string;

class StaleReadsCell : public Cell {
 public:
  using Cell::AddNode;
  using Cell::AddPoolNamed;
  using Cell::Cell;
  using Cell::KillOperator;
  using Cell::StartOperator;

  // Changes the cluster. Returns its expected state.
  using Act = Wanted (*)(StaleReadsCell&);
  // Stops the operator, runs `act`, and starts the operator. The operator receives lists of the resources `stale` from
  // before `act`.
  void PlayStale(Act before, Act act, const Views& stale);
  // Runs `act` while the operator does not receive events of the resources `withheld`. Then makes it list these
  // resources again.
  void PlayUnobserved(Act before, Act act, const Views& withheld);

  // ---- for acts ----
  // Permits the operator to create and delete a workload of the pool, as it may do with old data.
  void AllowCreateAndDelete(const std::string& pool);
  void AllowRemoval(const std::string& pool);  // permits the removal of the pool's current workload
  void SetTaints(const std::string& pool, const Json& taints);
  void SetPoolSelector(const Json& labels);  // of the daemon; keeps the cell's own label
  void LabelPool(const std::string& pool, const std::string& label, const Json& value);

 private:
  Fault OnRequest(const ProxiedRequest& request) override { return stale_reads_(request); }
  std::map<std::string, Json> ListAll();
  std::set<std::string> ResourcesOf(const Views& views) const;
  // Returns the uid and generation of each workload, except for the pools of AllowCreateAndDelete.
  std::map<std::string, std::string> States();
  void WaitUntilItHasReconciled();

  StaleReads stale_reads_;
  std::set<std::string> coming_and_going_;  // the pools of AllowCreateAndDelete
  std::set<std::string> going_;             // the names of the workloads of AllowRemoval
};

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_STALE_READS_CELL_H_
