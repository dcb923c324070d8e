// One Node: what it has from its pool.
#ifndef OPERATOR_NODEPOOL_NODE_RECONCILER_H_
#define OPERATOR_NODEPOOL_NODE_RECONCILER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/guarded.h"
#include "operator/base/retry_pace.h"
#include "operator/client/client.h"
#include "operator/runtime/controller.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/store.h"

namespace yad {

// Thread-safe as a controller calls it: never twice at once for one key.
class NodeReconciler {
 public:
  // `pool_type`: the version of NodePool to read live.
  NodeReconciler(Client& client, const Store& pools, Store& nodes, EventSink& events,
                 std::function<ResourceType()> pool_type, Clock& clock = Clock::Real())
      : client_(client),
        pools_(pools),
        nodes_(nodes),
        events_(events),
        pool_type_(std::move(pool_type)),
        clock_(clock) {}

  Result<ReconcileResult> Reconcile(const Request& request, std::stop_token stop);

 private:
  enum class Absence {
    kUnknown,      // the server has it, or its CRD is gone
    kMayComeBack,  // the server does not have it, and its CRD is a newer one: it went, or may have gone, with the old
                   // one
    kGone,
  };
  // Of a Node's pool that the cache does not show.
  Result<Absence> AbsenceOf(const std::string& pool, const ObjectMeta& node, std::stop_token stop) const;
  // kConflict unless the server's pool has the spec that was read. Asked once for each of its specs.
  Status ConfirmPool(const ObjectMeta& pool, std::stop_token stop);
  // Once for each Node and pool.
  void ReportMissingPool(const ObjectMeta& node, const std::string& pool);

  Client& client_;
  const Store& pools_;
  Store& nodes_;
  EventSink& events_;
  const std::function<ResourceType()> pool_type_;
  Clock& clock_;
  Guarded<std::map<std::string, std::string>> told_;       // Nodes whose pool is missing, and that pool
  Guarded<std::map<std::string, std::uint64_t>> written_;  // a digest of what each Node was to have
  Guarded<std::map<std::string, std::string>> created_;    // pools that were seen, and when they were made
  Guarded<std::map<std::string, std::string>> confirmed_;  // pools, and of which object and generation
  Guarded<RetryPace> repairs_;
};

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_NODE_RECONCILER_H_
