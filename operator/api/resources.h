// Amounts of cpu, memory and other resources in pods' requests and on nodes, counted as in kube-scheduler.
#ifndef OPERATOR_API_RESOURCES_H_
#define OPERATOR_API_RESOURCES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/object.h"

namespace yad {

// Amounts by resource. Sums stop at the limits of the type. Plain data.
struct Resources {
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;             // bytes
  std::int64_t ephemeral_storage = 0;  // bytes
  std::int64_t pods = 0;
  std::vector<std::pair<std::string, std::int64_t>> others;  // sorted by name; whole units

  bool operator==(const Resources&) const = default;

  // Parses a ResourceList ({"cpu": "250m", …}). nullptr, negative amounts and malformed quantities count as zero.
  static Resources Parse(const Json* list);

  void Add(const Resources& more);
  void Subtract(const Resources& less);
  // Sets each resource to the larger of both amounts.
  void Raise(const Resources& to);
  // Returns true if each positive amount is at most that in `room`.
  bool FitsIn(const Resources& room) const;
  // Returns the amount by its name in a ResourceList, cpu in milli; 0 if there is none.
  std::int64_t Get(const std::string& name) const;
};

// Returns the amount that the scheduler reserves for a pod. For each resource, this is the larger of two amounts: the
// sum over the containers and the sidecars (restartable init containers), and the most that one init container and the
// sidecars before it request. If the pod itself has cpu or memory requests, these count instead. The overhead is added.
// `pods` is 1.
Resources RequestsOf(const Json& pod);

}  // namespace yad

#endif  // OPERATOR_API_RESOURCES_H_
