// spec.overrides[]: how the workloads of some pools differ from the template. Pure.
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

// Finds the entries that apply to a pool, by `pools` or by nodepoolSelector. In `pools`, "*" selects every pool and
// "-x" excludes x; if all items are exclusions, all other pools are selected. A malformed selector or item of `pools`
// selects no pool. The index contains parsed selectors, and a map from pool names to entries. The index is made once
// for a list of entries, because there may be thousands of entries and pools. Immutable; any thread may read it.
class OverrideIndex {
 public:
  OverrideIndex() = default;
  explicit OverrideIndex(const Json& overrides);

  // Returns the indices of the entries that apply to the pool, in ascending order.
  std::vector<int> Of(const NodePool& pool) const;
  // Returns whether a JSON patch has a "copy" operation. If so, a rendering may be much longer than the template and
  // the overrides together.
  bool copies() const { return copies_; }

 private:
  struct Open {  // an entry that does not list all of its pools by name
    int index = 0;
    std::optional<LabelSelector> selector;  // nullopt: every pool except those in `excluded`
    std::set<std::string> excluded;
  };
  void AddPools(int index, const Json& pools);

  std::unordered_map<std::string, std::vector<int>> by_name_;
  std::vector<Open> open_;
  bool copies_ = false;
};

// Replaces {{nodepool-name}} and {{nodepool}} in the strings of `value`. Keys, and strings that are nested deeper than
// kMaxDepth, stay unchanged.
void ReplaceVariables(Json& value, const std::string& pool);

// The maximum number of steps (see ApplyOverride) in one rendering. The cost of a step may grow with the size of the
// workload.
inline constexpr int kMaxOverrideSteps = 1000;
// The maximum size of a workload with overrides, in bytes of JSON text. etcd does not store larger objects.
inline constexpr std::size_t kMaxRenderedText = 1536u << 10;

// The limits of one rendering. Not thread-safe.
class OverrideBounds {
 public:
  // `workload` is the rendering before the first override.
  explicit OverrideBounds(const Json& workload) : text_(MeasureJson(workload).text) {}

  // Counts a step. Returns false if the rendering has made too many steps.
  bool Step() { return --steps_ >= 0; }
  // Counts the JSON values that a JSON patch copies. Returns false if this rendering has copied too many.
  bool Copy(std::size_t values);
  // Adds the `text` bytes by which the JSON text of `workload` may have grown. Returns false if the text is too long.
  bool Grow(std::size_t text, const Json& workload);

 private:
  int steps_ = kMaxOverrideSteps;
  std::size_t text_;  // bytes of JSON text; an upper bound for the workload
  std::size_t copied_values_ = 0;
};

// Applies entry `index` of spec.overrides to a workload ({metadata, spec}): replicas, images, patch, jsonPatches, in
// this order, after {{nodepool-name}} and {{nodepool}} are replaced in their values. The entry, each image and each
// JSON patch operation count as a step. Fails with kInvalid if a field does not apply or exceeds `bounds`; the error
// names the field. The workload is then partly changed and must not be used.
Status ApplyOverride(const Json& entry, std::size_t index, const std::string& pool, OverrideBounds& bounds,
                     Json& workload);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_OVERRIDES_H_
