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
  // Whether an entry copies in a JSON patch: a rendering may be much longer than the template and the overrides.
  bool copies() const { return copies_; }

 private:
  struct Open {  // an entry that does not name all of its pools
    int index = 0;
    std::optional<LabelSelector> selector;  // none: every pool but `excluded`
    std::set<std::string> excluded;
  };
  void AddPools(int index, const Json& pools);

  std::unordered_map<std::string, std::vector<int>> by_name_;
  std::vector<Open> open_;
  bool copies_ = false;
};

// Replaces {{nodepool-name}} and {{nodepool}} in every text of `value`.
void ReplaceVariables(Json& value, const std::string& pool);

// One rendering takes no more steps: each may cost as much as the workload is large.
inline constexpr int kMaxOverrideSteps = 1000;
// The longest workload that overrides may make, in bytes of JSON text. etcd takes no larger object.
inline constexpr std::size_t kMaxRenderedText = 1536u << 10;

// The bounds of one rendering. One thread.
class OverrideBounds {
 public:
  // `workload` is the rendering before the first override.
  explicit OverrideBounds(const Json& workload) : text_(MeasureJson(workload).text) {}

  // Takes a step. False: there is none left.
  bool Step() { return --steps_ >= 0; }
  // Takes what a JSON patch copies. False: the copies of this rendering have too many values.
  bool Copy(std::size_t values);
  // `workload` may have grown by `text` bytes. False: it is too long now.
  bool Grow(std::size_t text, const Json& workload);

 private:
  int steps_ = kMaxOverrideSteps;
  std::size_t text_;  // the workload has no more
  std::size_t copied_values_ = 0;
};

// Applies entry `index` of spec.overrides to a workload ({metadata, spec}): replicas, images, patch, jsonPatches, in
// that order, with {{nodepool-name}} and {{nodepool}} replaced in their values. The entry, each image and each JSON
// patch operation take a step of `bounds`. kInvalid names the field that does not apply, or that makes the workload too
// long; the workload is then half done.
Status ApplyOverride(const Json& entry, std::size_t index, const std::string& pool, OverrideBounds& bounds,
                     Json& workload);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_OVERRIDES_H_
