// The lease of a Node, in an annotation.
#ifndef OPERATOR_CAPACITY_LEASE_H_
#define OPERATOR_CAPACITY_LEASE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/node.h"
#include "operator/api/object.h"
#include "operator/api/well_known.h"
#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/cluster/attributes.h"

namespace yad {

inline constexpr char kReleasingTaint[] = "capacity.openyurt.io/releasing";  // NoSchedule

enum class LeasePhase {
  kReserved,  // Ready, and reserved for a pod that is not on the node yet
  kJoining,   // leased, but has not been Ready in the pool yet
  kIdle,
  kInUse,
  kReleasing,
};
std::string_view ToString(LeasePhase phase);

struct NodeLease {
  std::string pool;
  LeasePhase phase = LeasePhase::kJoining;
  std::string for_pod;     // uid of the expected pod; "": none
  WallTime since;          // last change of phase or for_pod; in phase Joining, a change of for_pod does not count
  PoolAttributes applied;  // removed when the node is released
  bool operator==(const NodeLease&) const = default;
};

// Fails with kInvalid if the annotation is malformed, which means that another actor has written it. The operator must
// not change such a node.
Result<NodeLease> ParseLease(const std::string& annotation);
std::string FormatLease(const NodeLease& lease);

// These functions return merge patches, each with the uid and resourceVersion of `node`.

// Leases the node to the pool, in one write. Attributes that the node already has do not change, and stay when the node
// is released.
Json LeasePatch(const Node& node, NodeLease lease, const PoolAttributes& pool);
// Sets another phase or pod. Adds the releasing taint in phase Releasing, and removes it in all other phases.
Json PhasePatch(const Node& node, const NodeLease& lease);
// Releases the node. `quarantine` is the reason for a quarantine, in which the node is in no inventory; "": no
// quarantine.
Json ReleasePatch(const Node& node, const NodeLease& lease, const std::string& quarantine);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_LEASE_H_
