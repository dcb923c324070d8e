// One run of a crash test: a cell whose operator is killed after one of its writes.
#ifndef TESTS_CLUSTER_CRASH_CELL_H_
#define TESTS_CLUSTER_CRASH_CELL_H_

#include <optional>
#include <string>

#include "tests/cluster/cell.h"
#include "tests/support/write_gate.h"

namespace yad::testing {

class CrashCell : public Cell {
 public:
  using Cell::Cell;

  // Makes a second workload for the pool, which the operator must remove.
  void AddSecondWorkload(const std::string& pool);

  // Creates objects before a scenario. The pools a, b and c exist. Returns the state for which Play waits first;
  // nullopt: it does not wait.
  using Prepare = std::optional<Wanted> (*)(CrashCell&);
  // Performs the scenario. Returns the expected state of the cluster.
  using Act = Wanted (*)(CrashCell&);
  // Performs the scenario, kills the operator right after write number `at` (0: never), and starts it again. Returns
  // the number of writes. Throws TestFailure if the cluster does not reach the expected state, or was in a forbidden
  // state.
  int Play(Prepare prepare, Act act, int at);
  std::string Details() override;

 private:
  Fault OnRequest(const ProxiedRequest& request) override { return gate_(request); }
  void ExpectNoMoreWrites();

  WriteGate gate_;
};

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_CRASH_CELL_H_
