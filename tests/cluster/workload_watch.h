// Observes all states of a daemon's workloads, and reports forbidden states.
#ifndef TESTS_CLUSTER_WORKLOAD_WATCH_H_
#define TESTS_CLUSTER_WORKLOAD_WATCH_H_

#include <cstdint>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "operator/client/client.h"

namespace yad::testing {

// Watches the daemon's workloads by their selectors (`app: DAEMON` and the pool), even if they have another controller.
// Thread-safe.
class WorkloadWatch {
 public:
  // A workload from its creation to its end. Times are resourceVersions, which are comparable across objects.
  struct Life {
    std::string name;
    std::string uid;
    std::string pool;
    std::string owner;       // the uid of its last controller; "": none
    std::int64_t begin = 0;  // 0: before the watch began
    std::int64_t end = 0;    // the time of its removal or deletionTimestamp; 0: it exists
    bool SharesATimeWith(const Life& other) const;
  };

  WorkloadWatch(Client& client, const ResourceType& type, const std::string& ns, std::string daemon);
  ~WorkloadWatch();

  void ExpectSecond(const std::string& name);
  void ExpectRemoval(const std::string& name);
  // Returns whether the watch has observed this resourceVersion of any object, and so all earlier changes.
  bool HasSeen(const std::string& version) const;
  std::vector<Life> lives() const;  // in order of their beginnings
  // Returns the violations: second workloads of a pool, removals without ExpectRemoval, and the error that ended the
  // watch.
  std::vector<std::string> faults() const;
  std::string broken() const;  // the error that ended the watch, or ""

 private:
  void Run(const std::stop_token& stop, WatchOptions options);
  void See(WatchEventType type, const Json& object, bool first);

  Client& client_;
  const ResourceType type_;
  const std::string daemon_;
  mutable std::mutex mutex_;
  std::set<std::string> expected_seconds_;
  std::set<std::string> expected_removals_;
  std::vector<Life> lives_;
  std::set<std::string> versions_;
  std::string broken_;
  std::jthread thread_;
};

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_WORKLOAD_WATCH_H_
