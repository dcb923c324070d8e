// A second, naive implementation of a YurtAppDaemon. It shares no code with the operator.
#ifndef TESTS_CLUSTER_NAIVE_MODEL_H_
#define TESTS_CLUSTER_NAIVE_MODEL_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/yurtappdaemon.h"

namespace yad::testing {

// Returns the sorted names of the pools that a spec selects, or nullopt if a selector is not valid.
std::optional<std::vector<std::string>> NaivePools(const Json& spec, const std::vector<Json>& pools);

// Returns {metadata: {labels, annotations}, spec} of the pool's workload, or nullopt if it cannot be made.
// - It lacks the apiserver's defaults, and the label and annotation that name the revision.
// - The patches of overrides count as RFC 7386 merge patches.
std::optional<Json> NaiveWorkload(const Json& spec, WorkloadKind kind, const Json& pool);

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_NAIVE_MODEL_H_
