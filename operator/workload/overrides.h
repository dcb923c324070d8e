// Applies spec.overrides[], the changes to the template for the workloads of some pools.
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

// Finds the entries of spec.overrides that apply to a pool. Immutable, so thread-safe. Fast even for thousands of
// entries and pools.
// An entry selects pools by nodepoolSelector, or by the items of `pools`:
// - "x" selects pool x, and "*" selects every pool.
// - "-x" excludes pool x. If all items are exclusions, all other pools are selected.
// - A malformed selector or item selects no pool.
class OverrideIndex {
 public:
  OverrideIndex() = default;
  explicit OverrideIndex(const Json& overrides);

  // Returns the indices of the entries in spec.overrides that apply to the pool, in ascending order.
  std::vector<int> Of(const NodePool& pool) const;
  // Returns whether a JSON patch has a "copy" operation. The workload may then be much larger than the template and the
  // overrides together.
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

// Replaces {{nodepool-name}} and {{nodepool}} in the strings of `value`. Does not change keys, or strings that are
// nested deeper than kMaxDepth.
void ReplaceVariables(Json& value, const std::string& pool, int depth = 0);

// The maximum number of steps for rendering one workload, which limits the time (see ApplyOverride).
inline constexpr int kMaxOverrideSteps = 1000;
// The maximum size of a workload with overrides, in bytes of JSON. etcd rejects larger objects.
inline constexpr std::size_t kMaxRenderedText = 1536u << 10;

// Counts the work of rendering one workload, so that overrides cannot use too much time or memory. Not thread-safe.
class OverrideBounds {
 public:
  // `workload` is the workload before the first override.
  explicit OverrideBounds(const Json& workload) : text_(MeasureJson(workload).text) {}

  // Counts a step. Returns false if there were too many steps.
  bool Step() { return --steps_ >= 0; }
  // Counts JSON values that a JSON patch copies. Returns false if it has copied too many values.
  bool Copy(std::size_t values);
  // Must be called after a change that adds at most `text` bytes to the JSON of `workload`. Returns false if the JSON
  // is now too long.
  bool Grow(std::size_t text, const Json& workload);

 private:
  int steps_ = kMaxOverrideSteps;
  std::size_t text_;  // upper bound for the JSON of the workload, in bytes
  std::size_t copied_values_ = 0;
};

// Replaces {{nodepool-name}} and {{nodepool}} in entry `index` of spec.overrides, and applies the entry to a workload
// ({metadata, spec}). Applies its replicas first, and then its images, patch and jsonPatches.
//
// Fails with kInvalid if a field can't be applied or exceeds `bounds`. The error contains the path of the field. The
// workload is then partly changed and must not be used. `rules` is the version of the rendering rules (see
// RenderInputs). `bounds` counts one step for the entry, one for each of its images, and one for each operation of its
// JSON patches.
Status ApplyOverride(const Json& entry, std::size_t index, const std::string& pool, int rules, OverrideBounds& bounds,
                     Json& workload);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_OVERRIDES_H_
