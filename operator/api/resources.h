// Amounts of cpu, memory and what else pods ask for and nodes have, as kube-scheduler counts them.
#ifndef OPERATOR_API_RESOURCES_H_
#define OPERATOR_API_RESOURCES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/object.h"

namespace yad {

// Sums end at the type's limits. Plain data.
struct Resources {
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;             // bytes
  std::int64_t ephemeral_storage = 0;  // bytes
  std::int64_t pods = 0;
  std::vector<std::pair<std::string, std::int64_t>> others;  // sorted by name; whole units

  bool operator==(const Resources&) const = default;

  // A ResourceList ({"cpu": "250m", …}); nullptr, and what is no quantity or negative, counts as nothing.
  static Resources Parse(const Json* list);

  void Add(const Resources& more);
  void Subtract(const Resources& less);
  // The larger of both, resource by resource.
  void Raise(const Resources& to);
  // Whether this is no more than `room` of each resource that is asked for.
  bool FitsIn(const Resources& room) const;
  // By a ResourceList's name; cpu in milli. 0 where there is none.
  std::int64_t Get(const std::string& name) const;
};

// What the scheduler sets aside for a pod: the sum over its containers and restartable init containers, or what one of
// the init containers needs where that is more; its overhead; a pod's own requests instead, where it states them. One
// of `pods`.
Resources RequestsOf(const Json& pod);

}  // namespace yad

#endif  // OPERATOR_API_RESOURCES_H_
