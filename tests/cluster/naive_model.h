// A second, naive implementation of a YurtAppDaemon. It shares no code with the operator.
#ifndef TESTS_CLUSTER_NAIVE_MODEL_H_
#define TESTS_CLUSTER_NAIVE_MODEL_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/yurtappdaemon.h"

namespace yad::testing {

// Returns the names of the pools that a spec selects, sorted. nullopt: a selector is not valid.
std::optional<std::vector<std::string>> NaivePools(const Json& spec, const std::vector<Json>& pools);

// Returns {metadata: {labels, annotations}, spec} of the pool's workload, before the apiserver's defaults and without
// the labels and annotations of its origin. nullopt: the workload cannot be made. Patches of overrides are read as RFC
// 7386 merge patches.
std::optional<Json> NaiveWorkload(const Json& spec, WorkloadKind kind, const Json& pool);

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_NAIVE_MODEL_H_
