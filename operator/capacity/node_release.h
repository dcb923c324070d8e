// How a node leaves a pool: no pod that lands on it meanwhile is left behind.
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

// Reads the pods of nodes that carry the releasing taint from the server, past all caches: twice, 30 s apart. What was
// read is forgotten with the process, which then begins anew. Used by one thread at a time.
class NodeRelease {
 public:
  enum class Verdict {
    kEmpty,    // both reads found no work: it may go
    kInUse,    // a pod has come
    kWaiting,  // for the second read
  };

  NodeRelease(Client& client, Clock& clock) : client_(client), clock_(clock) {}

  Result<Verdict> Look(const std::string& node, const std::string& uid, std::stop_token stop);
  // Forgets all nodes but these, by uid.
  void Keep(const std::set<std::string>& uids);
  // When the next second read is due.
  std::optional<Duration> Due() const;

 private:
  Client& client_;
  Clock& clock_;
  std::map<std::string, SteadyTime> empty_since_;  // by uid of the node: when it was first found to be empty
};

}  // namespace yad

#endif  // OPERATOR_CAPACITY_NODE_RELEASE_H_
