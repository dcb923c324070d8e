// Typed view of spec.updateStrategy.
#ifndef OPERATOR_API_UPDATE_STRATEGY_H_
#define OPERATOR_API_UPDATE_STRATEGY_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/api/check.h"
#include "operator/api/label_selector.h"
#include "operator/api/nodepool.h"
#include "operator/api/object.h"
#include "operator/api/update_window.h"

namespace yad {

enum class UpdateStrategyType { kAll, kRollingUpdate, kOnDelete };

// A number, or a percentage of a total.
struct IntOrPercent {
  int value = 0;
  bool percent = false;

  std::size_t Of(std::size_t total) const;  // rounds percentages up
  std::string ToString() const;             // "3" or "10%"
};

// A group of pools in a rollout. The groups are updated one after the other.
struct RolloutGroup {
  std::string name;
  std::set<std::string> pools;
  std::optional<LabelSelector> selector;  // used instead of `pools`
  int percent = 0;  // used instead of `pools`: the group's share of the daemon's pools, 1 to 100; 0: not used
  std::optional<IntOrPercent> max_unavailable;
  std::optional<IntOrPercent> max_failures;
  bool manual = false;  // the group waits for an approval

  bool Selects(const NodePool& pool) const;  // false for a group with `percent`
};

// The name of the group for pools that no other group selects.
inline constexpr char kDefaultGroup[] = "default";
inline constexpr int kDefaultProgressDeadlineSeconds = 600;  // the same default as in a Deployment

// Options of a prefetch: the nodes of a pool pull the new images before the pool is updated.
struct Prefetch {
  std::size_t ahead = 2;  // maximum number of pools that prefetch at the same time
  std::chrono::seconds timeout{3600};
  bool waits = false;  // onTimeout: Wait
};

struct RollingUpdate {
  IntOrPercent max_unavailable{1, false};
  IntOrPercent partition;
  IntOrPercent max_failures;
  std::chrono::seconds min_ready{0};
  std::chrono::seconds progress_deadline{kDefaultProgressDeadlineSeconds};
  bool rollback = false;              // onFailure: Rollback
  std::vector<Check> checks;          // run one after the other in each updated pool
  std::optional<Prefetch> prefetch;   // nullopt: no prefetch
  std::vector<UpdateWindow> windows;  // empty: updates may start at any time
  std::vector<RolloutGroup> groups;   // the last group is kDefaultGroup

  // Returns the index of the first group that selects the pool by name or by selector. If no group selects the pool,
  // returns the index of kDefaultGroup. Ignores groups with `percent`; AssignGroups in
  // operator/yurtappdaemon/rollout/percent_groups.h assigns their pools.
  std::size_t GroupOf(const NodePool& pool) const;
};

struct UpdateStrategy {
  UpdateStrategyType type = UpdateStrategyType::kAll;
  RollingUpdate rolling;  // used only for kRollingUpdate; has the defaults otherwise
};

// Reads a strategy, and adds an error for each invalid value. The result is usable only if no error was added. Null and
// absent fields are set to their defaults.
UpdateStrategy ReadUpdateStrategy(const JsonField& strategy, FieldErrors& errors);
// Returns a group with the pools of `entry`, which has either `pools` (a list of pool names) or `nodepoolSelector`. If
// both are missing, the error lists the fields in `choices`.
RolloutGroup ReadPoolsOrSelector(const JsonField& entry, FieldErrors& errors, const char* choices);

// Returns the entries of the annotation apps.openyurt.io/approve, a comma-separated list, without white space around
// them.
std::vector<std::string> ApprovalEntries(const std::string& annotation);

}  // namespace yad

#endif  // OPERATOR_API_UPDATE_STRATEGY_H_
