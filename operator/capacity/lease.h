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
  WallTime since;          // the last change of `phase` or `for_pod`; in phase Joining, the start of the lease
  PoolAttributes applied;  // the labels, annotations and taints that the lease added; the release removes them
  bool operator==(const NodeLease&) const = default;
};

// Fails with kInvalid if the annotation is malformed. The operator must not change the node, because another client has
// written the annotation.
Result<NodeLease> ParseLease(const std::string& annotation);
std::string FormatLease(const NodeLease& lease);

// Returns whether a lease to the pool would evict the node's pods: it would add a NoExecute taint to the node, or
// change the value of such a taint.
bool Evicts(const PoolAttributes& pool, const Node& node);

bool HasReleasingTaint(const Node& node);

// The functions below return merge patches. Each patch has the uid and resourceVersion of `node`, so that the write
// fails if the node has changed.

// Leases the node to the pool, and adds the pool's labels, annotations and taints. They replace other values that the
// node has. The release removes them, except those that the node had before with the same value.
Json LeasePatch(const Node& node, NodeLease lease, const PoolAttributes& pool);
// Writes a lease whose phase or pod has changed. Phase Releasing adds the releasing taint; every other phase removes
// it.
Json PhasePatch(const Node& node, const NodeLease& lease);
// Removes only the releasing taint.
Json UntaintPatch(const Node& node);
// Releases the node. If `quarantine` is not empty, it becomes the value of the quarantine annotation. No pool may lease
// the node until a user removes this annotation.
Json ReleasePatch(const Node& node, const NodeLease& lease, const std::string& quarantine);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_LEASE_H_
