// Checks that no pod uses a node before the node leaves its pool.
#ifndef OPERATOR_CAPACITY_NODE_RELEASE_H_
#define OPERATOR_CAPACITY_NODE_RELEASE_H_

#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/client/client.h"

namespace yad {

// Reads the pods of a node from the server, and returns whether there are any. Ignores terminated pods, pods of
// DaemonSets and static pods.
Result<bool> RunsPods(Client& client, const std::string& node, std::stop_token stop);

// Checks that a node with the releasing taint has no pods. Reads the node's pods from the server twice, 30 s apart. The
// second read finds pods that the scheduler bound before it observed the taint. The time of the first read is stored
// only in memory, so a new process makes both reads again. Not thread-safe.
class NodeRelease {
 public:
  enum class Verdict {
    kEmpty,    // both reads found no pods, so the node may leave
    kInUse,    // a pod has arrived
    kWaiting,  // the second read must be made later
  };

  NodeRelease(Client& client, Clock& clock) : client_(client), clock_(clock) {}

  Result<Verdict> Check(const std::string& node, const std::string& uid, std::stop_token stop);
  // Keeps only the nodes whose uid is in `uids`.
  void Keep(const std::set<std::string>& uids);
  // Returns the time until a node must be read for the second time. Returns nullopt if no node waits for this.
  std::optional<Duration> Due() const;

 private:
  Client& client_;
  Clock& clock_;
  std::map<std::string, SteadyTime> empty_since_;  // time of the first read, by uid of the node
};

}  // namespace yad

#endif  // OPERATOR_CAPACITY_NODE_RELEASE_H_
