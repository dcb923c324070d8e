// The caches that the controller reads.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_STORES_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_STORES_H_

#include <string>
#include <vector>

#include "operator/api/yurtappdaemon.h"
#include "operator/runtime/controller.h"
#include "operator/runtime/informer.h"
#include "operator/runtime/store.h"

namespace yad {

// The stores of workloads and of revisions have this index and Controller::kControllerUidIndex.
inline constexpr char kOrphansByNamespace[] = "orphans";  // key: the namespace of an object without a controller

// Adds these two indexes. Must be called before the informers run.
inline void AddIndexes(Store& store) {
  Controller::AddControllerUidIndex(store);
  store.AddIndex(kOrphansByNamespace, [](const StoredObject& object) -> std::vector<std::string> {
    if (object.meta().controller() != nullptr) return {};
    return {object.meta().key.ns};
  });
}

struct ReconcilerStores {
  Store& daemons;
  Store& pools;
  Store& deployments;
  Store& stateful_sets;
  Store& revisions;
  // These informers start when the first daemon needs them, except for `freeze`.
  Informer* services = nullptr;    // for daemons with Services; null: no Services are read
  Informer* freeze = nullptr;      // null: the operator's namespace is not known, so no freeze is read
  Informer* jobs = nullptr;        // for daemons with checks that are Jobs; null: no Jobs are read
  Informer* nodes = nullptr;       // for daemons with RollingUpdate; null: no Nodes are read
  Informer* prefetches = nullptr;  // for daemons with prefetch; null: no DaemonSets are read

  Store& WorkloadsOf(WorkloadKind kind) const {
    return kind == WorkloadKind::kDeployment ? deployments : stateful_sets;
  }
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_STORES_H_
