// What a YurtAppDaemon means, said a second time and as plainly as possible: nothing here is shared with the operator.
#ifndef TESTS_CLUSTER_NAIVE_MODEL_H_
#define TESTS_CLUSTER_NAIVE_MODEL_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/yurtappdaemon.h"

namespace yad::testing {

// The names of the pools that a spec selects, sorted. nullopt: its selectors say nothing that makes sense.
std::optional<std::vector<std::string>> NaivePools(const Json& spec, const std::vector<Json>& pools);

// {metadata: {labels, annotations}, spec} of the pool's workload, before the apiserver fills in its defaults; without
// the labels and annotations that say where it comes from. nullopt: it can't be made. Patches of overrides are taken as
// RFC 7386 merge patches.
std::optional<Json> NaiveWorkload(const Json& spec, WorkloadKind kind, const Json& pool);

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_NAIVE_MODEL_H_
