// Evaluates the gates that may delay the start of a pool's update: the hold of its site, and its update windows.
#ifndef OPERATOR_YURTAPPDAEMON_PLAN_GATES_H_
#define OPERATOR_YURTAPPDAEMON_PLAN_GATES_H_

#include <map>
#include <string>

#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/rollout/windows.h"

namespace yad {

struct PoolGate {
  bool held = false;             // updates and rollbacks of the pool are blocked
  std::string hold;              // the reason; may be ""
  bool invalid_windows = false;  // held because its windows are invalid; `hold` contains the name of the annotation
  bool maintenance = false;      // held because of a condition of a Node; `hold` contains the Node and the condition
  WindowState window;

  // Returns whether the pool is held by the annotation that `kubectl yad release` removes.
  bool by_annotation() const { return held && !invalid_windows && !maintenance; }
};

// Evaluates the gates of a snapshot's pools. Equal windows are evaluated once. The snapshot must outlive the object.
class Gates {
 public:
  explicit Gates(const Snapshot& snapshot) : snapshot_(snapshot) {}
  PoolGate Of(const NodePool& pool);

 private:
  const Snapshot& snapshot_;
  std::map<std::string, WindowState> by_zone_;  // of the daemon's own windows, by the pool's time zone
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_GATES_H_
