// A cell whose operator observes changes of the cluster with a delay: after its restart it gets an old list, or for a
// while it gets no events. `act` changes the cluster meanwhile.
#ifndef TESTS_CLUSTER_STALE_READS_CELL_H_
#define TESTS_CLUSTER_STALE_READS_CELL_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/cluster/cell.h"
#include "tests/support/stale_reads.h"

namespace yad::testing {

// A set of p (pools), d (daemons), w (workloads), r (revisions): "dr".
using Views = std::string;

class StaleReadsCell : public Cell {
 public:
  using Cell::AddNode;
  using Cell::AddPoolNamed;
  using Cell::Cell;

  // Sets up or changes the cluster. Returns the expected cluster.
  using Act = Wanted (*)(StaleReadsCell&);
  // Runs `act` while the operator is down, and starts the operator with lists of these resources from before `act`.
  void PlayStale(Act before, Act act, const Views& stale);
  // Runs `act` while the operator observes none of these resources; then the operator has to list them again.
  void PlayUnobserved(Act before, Act act, const Views& withheld);

  // ---- for acts ----
  // Permits that a workload of the pool is created and deleted again, as by an operator with a stale view.
  void MayComeAndGo(const std::string& pool);
  void MayGo(const std::string& pool);  // permits the removal of the workload that the pool has now
  void SetTaints(const std::string& pool, const Json& taints);
  void SetPoolSelector(const Json& labels);  // of the daemon, besides the cell's own label
  void LabelPool(const std::string& pool, const std::string& label, const Json& value);

 private:
  Fault OnRequest(const ProxiedRequest& request) override { return stale_reads_(request); }
  std::map<std::string, Json> ListAll();
  std::set<std::string> ResourcesOf(const Views& views) const;
  // Returns the uid and generation of the workloads, without those of pools that may come and go.
  std::map<std::string, std::string> States();
  void WaitUntilItHasReconciled();

  StaleReads stale_reads_;
  std::set<std::string> coming_and_going_;  // pools
  std::set<std::string> going_;             // names of workloads
};

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_STALE_READS_CELL_H_
