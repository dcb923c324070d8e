// What a leased Node says of its lease.
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
#include "operator/nodepool/attributes.h"

namespace yad {

inline constexpr char kReleasingTaint[] = "capacity.openyurt.io/releasing";  // NoSchedule

enum class LeasePhase {
  kReserved,  // Ready, for a pod that has not come yet
  kJoining,   // leased, and not seen Ready in the pool yet
  kIdle,
  kInUse,
  kReleasing,
};
std::string_view ToString(LeasePhase phase);

struct NodeLease {
  std::string pool;
  LeasePhase phase = LeasePhase::kJoining;
  std::string for_pod;     // the uid of the pod that is expected; "": none
  WallTime since;          // of phase and for_pod
  PoolAttributes applied;  // what goes when the node is given back
  bool operator==(const NodeLease&) const = default;
};

// kInvalid: somebody else wrote there, and the node is left alone.
Result<NodeLease> ParseLease(const std::string& annotation);
std::string FormatLease(const NodeLease& lease);

// The merge patches, each with the resourceVersion of `node`.
// The one write that makes a node the pool's: what it has already is not touched, and not taken back.
Json LeasePatch(const Node& node, NodeLease lease, const PoolAttributes& pool);
// Another phase or pod; comes and goes with the releasing taint.
Json PhasePatch(const Node& node, const NodeLease& lease);
// Gives it back. `quarantine`: why it is to be kept out of the inventory; "": it is not.
Json ReleasePatch(const Node& node, const NodeLease& lease, const std::string& quarantine);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_LEASE_H_
