// A simple model of the users' specs, and of the removals of workloads that they permit.
#ifndef TESTS_CLUSTER_FAULT_INJECTION_MODEL_H_
#define TESTS_CLUSTER_FAULT_INJECTION_MODEL_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/cluster/workload_watch.h"

namespace yad::testing {

struct ModelPool {
  bool exists = true;
  bool labelled = true;  // has the label that all daemons of the cell select
  std::string ring;
  bool tainted = false;
};

struct ModelDaemon {
  bool exists = true;
  std::string uid;
  int image = 1;
  std::set<int> images{1};    // the images that its history may contain
  std::set<int> left_behind;  // the images of orphaned daemons of the same name
  bool paused = false;
  std::string ring;  // selects the pools of this ring; "": all pools
  Json strategy;     // null: none
};

// Not thread-safe. Times are resourceVersions.
class FaultInjectionModel {
 public:
  std::map<std::string, ModelPool> pools;      // by name
  std::map<std::string, ModelDaemon> daemons;  // by name

  bool Selects(const ModelDaemon& daemon, const ModelPool& pool) const;
  std::vector<std::string> PoolsOf(const std::string& daemon) const;  // in order of their names

  // Records a change of a pool, or of a daemon's `ring`. It happened between the resourceVersions `before` and `after`.
  void Note(std::int64_t before, std::int64_t after);
  // Permits the removal of this workload, which the test deletes.
  void AllowRemoval(const std::string& workload_uid) { by_hand_.insert(workload_uid); }
  // Permits the removal of all objects whose controller has this uid, which the garbage collector deletes.
  void DaemonIsDeleted(const std::string& uid) { dead_.insert(uid); }

  // Returns the violations:
  // - workloads that were removed although their pool was always selected
  // - two workloads of a pool at the same time
  std::vector<std::string> Judge(const std::string& daemon, const std::vector<WorkloadWatch::Life>& lives) const;

 private:
  struct Absence {
    std::int64_t begin = 0;
    std::int64_t end = 0;  // 0: it has not ended
  };
  bool MayHaveGone(const std::string& daemon, const WorkloadWatch::Life& life) const;

  // The times in which a pool was not selected, by daemon and pool.
  std::map<std::pair<std::string, std::string>, std::vector<Absence>> absences_;
  std::set<std::string> by_hand_;
  std::set<std::string> dead_;
};

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_FAULT_INJECTION_MODEL_H_
