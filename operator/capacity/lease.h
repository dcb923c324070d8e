// The lease of a Node. It is stored in an annotation of the Node.
#ifndef OPERATOR_CAPACITY_LEASE_H_
#define OPERATOR_CAPACITY_LEASE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "operator/api/node.h"
#include "operator/api/object.h"
#include "operator/api/well_known.h"
#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/cluster/attributes.h"

namespace yad {

inline constexpr char kReleasingTaint[] = "capacity.openyurt.io/releasing";  // its effect is NoSchedule

enum class LeasePhase {
  kReserved,  // Ready, and reserved for a pod that has no node yet
  kJoining,   // leased, but not Ready in the pool yet
  kIdle,
  kInUse,
  kReleasing,
};
std::string_view ToString(LeasePhase phase);

struct NodeLease {
  std::string pool;
  LeasePhase phase = LeasePhase::kJoining;
  std::string for_pod;     // uid of the expected pod; "": none
  WallTime since;          // the last change of phase or for_pod; in phase Joining, the start of the lease
  PoolAttributes applied;  // added by the lease; removed when the node is released
  bool operator==(const NodeLease&) const = default;
};

// Fails with kInvalid if the annotation is malformed. The operator must not change the node, because another client has
// written the annotation.
Result<NodeLease> ParseLease(const std::string& annotation);
std::string FormatLease(const NodeLease& lease);

// Returns whether the lease adds a NoExecute taint to the node. This taint evicts the node's pods. If the node already
// has the taint with another value, the taint counts as new, because the lease replaces the value.
bool Evicts(const PoolAttributes& pool, const Node& node);

bool HasReleasingTaint(const Node& node);

// The functions below return merge patches. Each patch has the uid and resourceVersion of `node`, so that the write
// fails if the node has changed.

// Leases the node to the pool. If the node has a label, annotation or taint of the pool with another value, the pool's
// value replaces it, and the release removes it. If the node has it with the same value, the release keeps it.
Json LeasePatch(const Node& node, NodeLease lease, const PoolAttributes& pool);
// Writes a lease whose phase or pod has changed. Phase Releasing adds the releasing taint; every other phase removes
// it.
Json PhasePatch(const Node& node, const NodeLease& lease);
// Removes the releasing taint, and changes nothing else.
Json UntaintPatch(const Node& node);
// Releases the node. If `quarantine` is not empty, it becomes the value of the quarantine annotation. No pool may lease
// the node until a user removes this annotation.
Json ReleasePatch(const Node& node, const NodeLease& lease, const std::string& quarantine);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_LEASE_H_
