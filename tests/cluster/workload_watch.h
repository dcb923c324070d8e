// Sees every state of a daemon's workloads while it lives, and says what must never be.
#ifndef TESTS_CLUSTER_WORKLOAD_WATCH_H_
#define TESTS_CLUSTER_WORKLOAD_WATCH_H_

#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "operator/client/client.h"

namespace yad::testing {

// A fault is a second workload for a pool, or the removal of one, unless it was expected by name. Workloads are told by
// their selectors, `app: DAEMON` and the pool, whoever controls them. Thread-safe.
class WorkloadWatch {
 public:
  WorkloadWatch(Client& client, const ResourceType& type, const std::string& ns, std::string daemon);
  ~WorkloadWatch();

  void ExpectSecond(const std::string& name);
  void ExpectRemoval(const std::string& name);
  // Whether the state of some object of this type and namespace has been seen, and so everything before it.
  bool HasSeen(const std::string& version) const;
  std::vector<std::string> faults() const;

 private:
  void Run(const std::stop_token& stop, WatchOptions options);
  void See(const WatchEvent& event);

  Client& client_;
  const ResourceType type_;
  const std::string daemon_;
  mutable std::mutex mutex_;
  std::set<std::string> expected_seconds_;
  std::set<std::string> expected_removals_;
  std::map<std::string, std::string> pool_of_;  // by name of a workload that is there and not being deleted
  std::set<std::string> versions_;
  std::vector<std::string> faults_;
  std::jthread thread_;
};

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_WORKLOAD_WATCH_H_
