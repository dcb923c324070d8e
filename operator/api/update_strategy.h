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

// A group of pools. The groups are updated one after the other.
struct RolloutGroup {
  std::string name;
  std::set<std::string> pools;
  std::optional<LabelSelector> selector;  // an alternative to `pools`
  int percent = 0;                        // another alternative: this share of the daemon's pools, 1 to 100; 0: none
  std::optional<IntOrPercent> max_unavailable;
  std::optional<IntOrPercent> max_failures;
  bool manual = false;  // the group waits for an approval

  bool Selects(const NodePool& pool) const;  // false for a group with `percent`
};

// The name of the group for the pools that no other group selects.
inline constexpr char kDefaultGroup[] = "default";
inline constexpr int kDefaultProgressDeadlineSeconds = 600;  // the default of a Deployment

// The options of a prefetch, in which the nodes of a pool pull the new images before the update of the pool.
struct Prefetch {
  std::size_t ahead = 2;  // the number of pools that pull at the same time before their updates
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
  std::vector<Check> checks;          // run in this order in each updated pool
  std::optional<Prefetch> prefetch;   // nullopt: the update pulls the images
  std::vector<UpdateWindow> windows;  // {}: updates may start at any time
  std::vector<RolloutGroup> groups;   // the last one is kDefaultGroup, for the pools that no other group selects

  // Returns the index of the first group that selects the pool; that of kDefaultGroup if there is none. A group with
  // `percent` selects no pool here (operator/yurtappdaemon/rollout/percent_groups.h).
  std::size_t GroupOf(const NodePool& pool) const;
};

struct UpdateStrategy {
  UpdateStrategyType type = UpdateStrategyType::kAll;
  RollingUpdate rolling;  // for kRollingUpdate; other types have the defaults
};

// Reads a strategy that ValidateUpdateStrategy accepts. Null or absent fields have their defaults.
UpdateStrategy ParseUpdateStrategy(const Json& strategy);

}  // namespace yad

#endif  // OPERATOR_API_UPDATE_STRATEGY_H_
