// Amounts of cpu, memory and other resources: requests of pods, and capacity of nodes. They are computed as in
// kube-scheduler.
#ifndef OPERATOR_API_RESOURCES_H_
#define OPERATOR_API_RESOURCES_H_

#include <boost/container/flat_map.hpp>
#include <cstdint>
#include <string>

#include "operator/api/object.h"

namespace yad {

// An amount for each resource. A sum that does not fit into the type becomes the limit of the type.
struct Resources {
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;             // bytes
  std::int64_t ephemeral_storage = 0;  // bytes
  std::int64_t pods = 0;
  boost::container::flat_map<std::string, std::int64_t> others;  // by name; whole units

  bool operator==(const Resources&) const = default;

  // Parses a ResourceList ({"cpu": "250m", …}). Negative and malformed quantities count as zero. `list` may be nullptr.
  static Resources Parse(const Json* list);

  void Add(const Resources& more);
  void Subtract(const Resources& less);
  // Sets each resource to the larger of the two amounts.
  void Raise(const Resources& to);
  // Returns true if each amount is at most that of `room`. Ignores amounts <= 0.
  bool FitsIn(const Resources& room) const;
  // Returns the amount of the resource `name`, such as "memory". The amount of "cpu" is in millicores. Returns 0 if the
  // name is unknown.
  std::int64_t Get(const std::string& name) const;
};

// Returns the amounts that the scheduler reserves for a pod, with `pods` = 1. For each resource, the amount is the
// larger of these two sums:
// - the sum of all containers and sidecars (restartable init containers);
// - the largest sum of an init container and the sidecars before it.
// If the pod itself has requests for cpu or memory, they are used instead. The pod's overhead is added.
Resources RequestsOf(const Json& pod);

}  // namespace yad

#endif  // OPERATOR_API_RESOURCES_H_
