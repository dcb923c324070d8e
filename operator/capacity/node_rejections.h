// Remembers the Nodes whose changes the server has rejected.
#ifndef OPERATOR_CAPACITY_NODE_REJECTIONS_H_
#define OPERATOR_CAPACITY_NODE_REJECTIONS_H_

#include <cstdint>
#include <map>
#include <string>

#include "operator/base/clock.h"

namespace yad {

// The rejected Nodes of one autoscaler. A Node is rejected for ten minutes after the server has rejected a write to it.
// The autoscaler then begins no lease and no release of the Node, and continues with the others: the cause may be this
// Node alone, such as annotations that are too large. Not thread-safe.
class NodeRejections {
 public:
  struct Rejected {
    SteadyTime at;
    std::string message;
    bool in_a_row = true;  // the server has accepted no change of another Node's pool since then
  };

  // Forgets all Nodes if the autoscaler has a new generation, because its new spec may avoid the rejections.
  void SetGeneration(std::int64_t generation);
  // Forgets the Nodes that were rejected ten minutes ago.
  void Expire(SteadyTime now);
  bool empty() const { return nodes_.empty(); }

  // Returns false if the Node was rejected already. Its time then stays, so that the Node is tried again in the end.
  bool Add(const std::string& uid, SteadyTime now, std::string message);
  // Records that the server has accepted a change of a Node's pool.
  void Accept();

  bool Has(const std::string& uid) const { return nodes_.contains(uid); }
  // Returns whether the autoscaler may complete or undo a release of the Node that has begun: for one minute after the
  // rejection. Otherwise the Node would keep the releasing taint, and no pod could use it.
  bool MayComplete(const std::string& uid, SteadyTime now) const;
  // Returns whether three Nodes in a row were rejected, so that the server probably rejects the changes of all Nodes.
  bool AreMany() const;
  // Returns the last one in a row; nullptr if there is none.
  const Rejected* Last() const;

 private:
  std::int64_t generation_ = 0;
  std::map<std::string, Rejected> nodes_;  // by uid
};

}  // namespace yad

#endif  // OPERATOR_CAPACITY_NODE_REJECTIONS_H_
