// Builds the status of a NodePoolAutoscaler.
#ifndef OPERATOR_CAPACITY_CAPACITY_STATUS_H_
#define OPERATOR_CAPACITY_CAPACITY_STATUS_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "operator/capacity/capacity_plan.h"

namespace yad {

// The maximum number of shortages in status.
inline constexpr std::size_t kMaxShortages = 50;

// The reason why an autoscaler is not Ready. If it is Ready, `reason` is empty.
struct Rejection {
  std::string reason;  // CamelCase
  std::string message;
  bool operator==(const Rejection&) const = default;
};

// Returns the new status. If `plan` is nullptr, changes only condition Ready and observedGeneration.
// - Ready is False if there is a rejection.
// - Short is True while there are not enough nodes for the pods and standbys.
Json BuildCapacityStatus(const ObjectMeta& meta, const Json& previous, const CapacityPlan* plan,
                         const Rejection& rejection, WallTime now);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_CAPACITY_STATUS_H_
