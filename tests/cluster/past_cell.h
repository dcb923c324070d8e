// A cell whose operator sees the cluster late: a list of the past after its restart, or nothing for a while. And what
// happens in it meanwhile.
#ifndef TESTS_CLUSTER_PAST_CELL_H_
#define TESTS_CLUSTER_PAST_CELL_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/cluster/cell.h"
#include "tests/support/past_reads.h"

namespace yad::testing {

// Some of p (pools), d (daemons), w (workloads), r (revisions): "dr".
using Views = std::string;

class PastCell : public Cell {
 public:
  using Cell::AddNode;
  using Cell::AddPoolNamed;
  using Cell::Cell;

  // What was before, and what happens: both make something of the cluster, and say what.
  using Act = Wanted (*)(PastCell&);
  // `act` is over when the operator is started again, but its lists of these are from before it.
  void PlayStale(Act before, Act act, const Views& stale);
  // The operator runs, and does not see these during `act`; then it has to list them anew.
  void PlayUnobserved(Act before, Act act, const Views& withheld);

  // ---- for acts ----
  // A stale view may make an operator create what it then takes away again.
  void MayComeAndGo(const std::string& pool);
  void MayGo(const std::string& pool);  // the workload that it has now
  void SetTaints(const std::string& pool, const Json& taints);
  void SetPoolSelector(const Json& labels);  // of the daemon, besides the cell's own label
  void LabelPool(const std::string& pool, const std::string& label, const Json& value);

 private:
  Fault OnRequest(const ProxiedRequest& request) override { return past_(request); }
  std::map<std::string, Json> ListAll();
  std::set<std::string> ResourcesOf(const Views& views) const;
  // The workloads, uid and generation; a pool that may come and go left out.
  std::map<std::string, std::string> States();
  void WaitUntilItHasReconciled();

  PastReads past_;
  std::set<std::string> coming_and_going_;  // pools
  std::set<std::string> going_;             // names of workloads
};

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_PAST_CELL_H_
