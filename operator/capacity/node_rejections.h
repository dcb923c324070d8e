// Remembers the Nodes whose changes the server has rejected.
#ifndef OPERATOR_CAPACITY_NODE_REJECTIONS_H_
#define OPERATOR_CAPACITY_NODE_REJECTIONS_H_

#include <cstdint>
#include <map>
#include <string>

#include "operator/base/clock.h"

namespace yad {

// The Nodes of one autoscaler whose last change the server has rejected. For ten minutes after a rejection, the
// autoscaler begins no lease and no release of the Node. It continues with other Nodes, because the reason may be this
// Node alone, such as annotations that are too large. Not thread-safe.
class NodeRejections {
 public:
  struct Rejected {
    SteadyTime at;
    std::string message;
    bool in_a_row = true;  // no change of a Node was accepted since then
  };

  // Forgets all Nodes if the autoscaler has a new generation, because its new spec may avoid the rejections.
  void SetGeneration(std::int64_t generation);
  // Forgets the Nodes that were rejected ten minutes ago.
  void Expire(SteadyTime now);
  bool empty() const { return nodes_.empty(); }

  // Returns false if the Node was rejected already. The time of the first rejection stays, so that the ten minutes end.
  bool Add(const std::string& uid, SteadyTime now, std::string message);
  // Records that the server has accepted a change of a Node's pool.
  void Accept();

  bool Has(const std::string& uid) const { return nodes_.contains(uid); }
  // Returns whether the autoscaler may still write to a Node whose release has begun: until one minute after a
  // rejection. These writes remove the releasing taint, with which no pod can use the Node.
  bool MayComplete(const std::string& uid, SteadyTime now) const;
  // Returns whether three Nodes in a row were rejected, so that the server probably rejects the changes of all Nodes.
  bool AreMany() const;
  // Returns the last one that is `in_a_row`; nullptr if there is none.
  const Rejected* Last() const;

 private:
  std::int64_t generation_ = 0;
  std::map<std::string, Rejected> nodes_;  // by uid
};

}  // namespace yad

#endif  // OPERATOR_CAPACITY_NODE_REJECTIONS_H_
