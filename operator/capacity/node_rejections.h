// Remembers the Nodes whose changes the server has rejected.
#ifndef OPERATOR_CAPACITY_NODE_REJECTIONS_H_
#define OPERATOR_CAPACITY_NODE_REJECTIONS_H_

#include <cstdint>
#include <map>
#include <string>

#include "operator/base/clock.h"

namespace yad {

// The Nodes of one autoscaler whose last change the server has rejected. For ten minutes after a rejection, the
// autoscaler does not begin a lease or release of the Node. It continues with other Nodes, because the cause may be
// this Node alone, such as annotations that are too large. Not thread-safe.
class NodeRejections {
 public:
  struct Rejected {
    SteadyTime at;
    std::string message;
    bool in_a_row = true;  // the server has not accepted a change of any Node since this rejection
  };

  // Forgets all Nodes if the autoscaler has a new generation, because its new spec may avoid the rejections.
  void SetGeneration(std::int64_t generation);
  // Forgets the Nodes that were rejected ten minutes ago.
  void Expire(SteadyTime now);
  bool empty() const { return nodes_.empty(); }

  // Adds a Node whose change the server has rejected. Returns false if the Node is already in the list. The Node still
  // leaves the list ten minutes after its first rejection.
  bool Add(const std::string& uid, SteadyTime now, std::string message);
  // Must be called when the server has accepted a change of a Node's pool. Earlier rejections then no longer count as
  // rejections in a row.
  void Accept();

  bool Has(const std::string& uid) const { return nodes_.contains(uid); }
  // Returns whether the autoscaler may still write to a Node whose release has begun. Returns true until one minute
  // after the first rejection of a change of this Node. These writes remove the releasing taint, because pods can't use
  // a Node that has this taint.
  bool MayComplete(const std::string& uid, SteadyTime now) const;
  // Returns whether three Nodes in a row were rejected, so that the server probably rejects the changes of all Nodes.
  bool AreMany() const;
  // Returns the last rejection since the server last accepted a change, or nullptr.
  const Rejected* Last() const;

 private:
  std::int64_t generation_ = 0;
  std::map<std::string, Rejected> nodes_;  // by uid
};

}  // namespace yad

#endif  // OPERATOR_CAPACITY_NODE_REJECTIONS_H_
