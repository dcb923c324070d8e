// spec.overrides[]: what differs in some pools. Pure.
#ifndef OPERATOR_WORKLOAD_OVERRIDES_H_
#define OPERATOR_WORKLOAD_OVERRIDES_H_

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "operator/api/label_selector.h"
#include "operator/api/nodepool.h"
#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

// Which entries apply to a pool: by `pools` ("*" is every pool, "-x" all but x) or by nodepoolSelector. A malformed one
// applies to none. Made once for a list of them, because there may be thousands of entries and of pools: selectors are
// parsed, and entries that name their pools are found by name. Immutable; any thread may read it.
class OverrideIndex {
 public:
  OverrideIndex() = default;
  explicit OverrideIndex(const Json& overrides);

  // Indices of the entries that apply, rising.
  std::vector<int> Of(const NodePool& pool) const;
  // Whether a rendering may be much longer than the template and the overrides: an entry copies in a JSON patch, or has
  // variables.
  bool may_multiply() const { return may_multiply_; }

 private:
  struct Open {  // an entry that does not name all of its pools
    int index = 0;
    std::optional<LabelSelector> selector;  // none: every pool but `excluded`
    std::set<std::string> excluded;
  };
  void AddPools(int index, const Json& pools);

  std::unordered_map<std::string, std::vector<int>> by_name_;
  std::vector<Open> open_;
  bool may_multiply_ = false;
};

// Replaces {{nodepool-name}} and {{nodepool}} in every text of `value`.
void ReplaceVariables(Json& value, const std::string& pool);

// One rendering takes no more: each may cost as much as the workload is large.
inline constexpr int kMaxOverrideSteps = 1000;

// Applies entry `index` of spec.overrides to a workload ({metadata, spec}): replicas, images, patch, jsonPatches, in
// that order, with {{nodepool-name}} and {{nodepool}} replaced in their values. The entry, each image and each JSON
// patch operation take one of `steps`. kInvalid names the field that does not apply; the workload is then half done.
Status ApplyOverride(const Json& entry, std::size_t index, const std::string& pool, int& steps, Json& workload);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_OVERRIDES_H_
