// A naive implementation of a YurtAppDaemon. It shares no code with the operator.
#ifndef TESTS_CLUSTER_NAIVE_MODEL_H_
#define TESTS_CLUSTER_NAIVE_MODEL_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/yurtappdaemon.h"

namespace yad::testing {

// Returns the sorted names of the pools that a spec selects, or nullopt for an invalid selector.
std::optional<std::vector<std::string>> NaivePools(const Json& spec, const std::vector<Json>& pools);

// Returns {metadata: {labels, annotations}, spec} of the pool's workload, or nullopt if it cannot be rendered.
// - The apiserver's defaults, and the label and the annotation with the revision, are missing.
// - Patches in overrides are RFC 7386 merge patches.
std::optional<Json> NaiveWorkload(const Json& spec, WorkloadKind kind, const Json& pool);

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_NAIVE_MODEL_H_
