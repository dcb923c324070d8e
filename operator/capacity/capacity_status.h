// What a NodePoolAutoscaler's status should say. Pure.
#ifndef OPERATOR_CAPACITY_CAPACITY_STATUS_H_
#define OPERATOR_CAPACITY_CAPACITY_STATUS_H_

#include <nlohmann/json.hpp>
#include <string>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "operator/capacity/planner.h"

namespace yad {

// Why an autoscaler does not do what its mode says; an empty reason: it does.
struct Refusal {
  std::string reason;  // CamelCase
  std::string message;
  bool operator==(const Refusal&) const = default;
};

// Conditions Ready (False: a Refusal) and Short (True: somebody waits for a node that there is not). Without a plan the
// rest of `previous` stays.
Json BuildCapacityStatus(const ObjectMeta& meta, const Json& previous, const CapacityPlan* plan, const Refusal& refusal,
                         WallTime now);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_CAPACITY_STATUS_H_
