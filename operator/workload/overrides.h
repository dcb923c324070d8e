// spec.overrides[]: what differs in some pools. Pure.
#ifndef OPERATOR_WORKLOAD_OVERRIDES_H_
#define OPERATOR_WORKLOAD_OVERRIDES_H_

#include <cstddef>

#include "operator/api/nodepool.h"
#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

// Whether an entry applies to the pool: by `pools` ("*" is every pool, "-x" all but x) or by nodepoolSelector.
// Malformed: it does not.
bool OverrideSelects(const Json& entry, const NodePool& pool);

// Applies entry `index` of spec.overrides to a workload ({metadata, spec}): replicas, images, patch, jsonPatches, in
// that order, with
// {{nodepool-name}} and {{nodepool}} replaced in their values. kInvalid names the field that does not apply.
Status ApplyOverride(const Json& entry, std::size_t index, const std::string& pool, Json& workload);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_OVERRIDES_H_
