#include "operator/yurtappdaemon/plan/merge_changes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "operator/workload/merge.h"

namespace yad {
namespace {

// Finds the differences of two objects. Takes linear time, because users determine the size of the workload.
class Differences {
 public:
  explicit Differences(MergeChanges& changes) : changes_(changes) {}

  // Compares the values of the two objects at the same path. A null pointer means that an object has no value there.
  void Add(const Json* live, const Json* merged) {
    const auto both = [&](bool (Json::*is)() const noexcept) {
      return live != nullptr && merged != nullptr && (live->*is)() && (merged->*is)();
    };
    if (both(&Json::is_object)) {
      for (const auto& [key, member] : live->items()) AddAt(key, &member, Find(*merged, {key}));
      for (const auto& [key, member] : merged->items()) {
        if (!live->contains(key)) AddAt(key, nullptr, &member);
      }
    } else if (both(&Json::is_array)) {
      for (std::size_t i = 0; i < std::max(live->size(), merged->size()); ++i) {
        AddAt(std::to_string(i), i < live->size() ? &(*live)[i] : nullptr,
              i < merged->size() ? &(*merged)[i] : nullptr);
      }
    } else if (live == nullptr || merged == nullptr || *live != *merged) {
      const std::string pointer = at_.to_string();
      if (changes_.at.empty()) changes_.at = pointer;
      changes_.digest = Fnv1a64(pointer, changes_.digest);
      if (live == nullptr || merged == nullptr || !pointer.starts_with("/spec/template/"))
        changes_.only_replaces_in_template = false;
      for (const Json* value : {live, merged}) {
        const std::string text = value == nullptr ? "" : DumpJson(*value);
        changes_.digest = Fnv1a64(text, changes_.digest);
      }
    }
  }

 private:
  void AddAt(const std::string& step, const Json* live, const Json* merged) {
    at_.push_back(step);
    Add(live, merged);
    at_.pop_back();
  }

  MergeChanges& changes_;
  Json::json_pointer at_;
};

}  // namespace

MergeChanges ChangesOfMerge(const Json& live, const Json& merged) {
  MergeChanges changes{static_cast<std::uint64_t>(IntAt(live, {"metadata", "generation"})), ""};
  Differences(changes).Add(&live, &merged);
  return changes;
}

void KeepPodTemplate(const Json& live, Json& merged) {
  const Json* pods = Find(live, {"spec", "template"});
  if (pods != nullptr) merged["spec"]["template"] = *pods;
}

bool HasMoreValues(Json a, Json b) {
  a["spec"].erase("replicas");
  b["spec"].erase("replicas");
  return IsMerged(b, a) && !IsMerged(a, b);
}

}  // namespace yad
