// Checks that a node can leave its pool without losing a pod that arrives in the meantime.
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

// Reads the pods of nodes with the releasing taint from the server, and not from a cache: twice, 30 s apart. Pods that
// have ended, pods of DaemonSets and static pods do not count. The result of the first read is only in memory, so a new
// process makes both reads again. Used by one thread at a time.
class NodeRelease {
 public:
  enum class Verdict {
    kEmpty,    // both reads found no pods: the node may leave
    kInUse,    // a pod has arrived
    kWaiting,  // the second read is not due yet
  };

  NodeRelease(Client& client, Clock& clock) : client_(client), clock_(clock) {}

  Result<Verdict> Look(const std::string& node, const std::string& uid, std::stop_token stop);
  // Forgets all nodes whose uid is not in `uids`.
  void Keep(const std::set<std::string>& uids);
  // Returns the time until the next second read; nullopt if none is pending.
  std::optional<Duration> Due() const;

 private:
  Client& client_;
  Clock& clock_;
  std::map<std::string, SteadyTime> empty_since_;  // by uid of the node: the time of the first read that found no pods
};

}  // namespace yad

#endif  // OPERATOR_CAPACITY_NODE_RELEASE_H_
