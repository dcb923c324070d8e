// The new status of a NodePoolAutoscaler. Pure.
#ifndef OPERATOR_CAPACITY_CAPACITY_STATUS_H_
#define OPERATOR_CAPACITY_CAPACITY_STATUS_H_

#include <nlohmann/json.hpp>
#include <string>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "operator/capacity/capacity_plan.h"

namespace yad {

// The reason why an autoscaler does not do what its mode requires. Empty `reason`: no refusal.
struct Refusal {
  std::string reason;  // CamelCase
  std::string message;
  bool operator==(const Refusal&) const = default;
};

// Returns the status with conditions Ready (False for a Refusal) and Short (True if pods or a standby wait for a node
// that is not available). Without a plan, the other fields are those of `previous`.
Json BuildCapacityStatus(const ObjectMeta& meta, const Json& previous, const CapacityPlan* plan, const Refusal& refusal,
                         WallTime now);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_CAPACITY_STATUS_H_
