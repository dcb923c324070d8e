// One run of fault_injection_test: daemons, pools, and one or two operators, each behind its own proxy. Users make
// random changes. In the end, the cluster must match the specs.
#ifndef TESTS_CLUSTER_FAULT_INJECTION_CELL_H_
#define TESTS_CLUSTER_FAULT_INJECTION_CELL_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/cluster/cell.h"
#include "tests/cluster/fault_injection_model.h"
#include "tests/support/random_faults.h"

namespace yad::testing {

inline const Json kShopTaint = {{{"key", "shop"}, {"value", "closed"}, {"effect", "NoSchedule"}}};
// Exit codes.
inline constexpr int kLeaseLost = 3;
inline constexpr int kNotYetBegun = 128 + 15;  // SIGTERM before its handler was installed

class FaultInjectionCell : public Cell {
 public:
  explicit FaultInjectionCell(std::uint64_t seed);

  void Play();
  void Close() override;
  std::string Details() override;

 private:
  // A replica of the operator. When its process exits, a new process starts.
  struct Replica {
    std::unique_ptr<RandomFaults> faults;
    std::unique_ptr<FaultProxy> proxy;
    std::unique_ptr<OperatorProcess> process;
    OperatorOptions options;
  };
  struct Act {
    const char* name;
    int weight;
    bool (FaultInjectionCell::*perform)();  // returns false if there is no object for the act
  };
  static const Act kActs[];

  int Throw(int sides);  // 0 … sides-1
  template <typename Map, typename Which>
  std::string PickName(const Map& map, Which which);  // "": there is none
  void Log(const std::string& what);                  // adds a line to story_

  void SetUpReplicas();
  void GrantLease();
  void Supervise();  // restarts exited processes; throws TestFailure for an unexpected exit code
  void SomethingHappens();

  // ---- acts ----
  // Each act first draws its random numbers, so the acts depend only on the seed.
  bool PoolIsMade();
  bool PoolIsDeleted();
  bool PoolIsLabelledOrNot();
  bool PoolMovesToARing();
  bool PoolIsTaintedOrNot();
  bool DaemonIsMade();
  bool DaemonIsDeleted();
  bool DaemonIsOrphanedAndAppliedAgain();
  bool DaemonGetsANewImage();
  bool DaemonGetsAnOldImage();
  bool DaemonIsPausedOrNot();
  bool DaemonMovesToARing();
  bool DaemonGetsAnotherStrategy();
  bool WorkloadIsEdited();
  bool WorkloadIsDeleted();
  bool WorkloadLosesALabel();
  bool OperatorIsKilled();
  bool OperatorIsStopped();
  bool ConnectionsAreClosed();
  bool ApiserverIsDown();

  Json DaemonOf(const std::string& name);
  void Apply(const std::string& name);  // runs kubectl apply with the daemon of the model
  void EditDaemon(const std::string& name, const std::function<void(Json& spec)>& edit);
  void GiveImage(const std::string& name, int image);
  // Returns a live workload of an existing daemon, or null.
  Json SomeWorkload();
  // Calls `change`, which changes the model and the cluster. Then records its time in the model.
  void Note(const std::function<void()>& change);
  std::int64_t Version();  // the newest resourceVersion of the cluster

  // ---- the end ----
  std::string Difference();
  std::string Difference(const std::string& daemon);
  void WaitUntilAllIsWell(const std::string& what);
  void RollOutAndUndo();
  void ExpectNoMoreWrites();
  void ExpectNothingWrongWasSeen();

  const std::uint64_t seed_;
  std::mt19937_64 random_;
  FaultInjectionModel model_;
  std::vector<Replica> replicas_;
  std::map<std::string, std::unique_ptr<WorkloadWatch>> watches_;  // by daemon
  int last_image_ = 1;
  std::chrono::steady_clock::time_point begin_;
  std::vector<std::string> story_;
};

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_FAULT_INJECTION_CELL_H_
