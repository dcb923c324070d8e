// spec.updateStrategy as the operator reads it.
#ifndef OPERATOR_API_UPDATE_STRATEGY_H_
#define OPERATOR_API_UPDATE_STRATEGY_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/api/label_selector.h"
#include "operator/api/nodepool.h"
#include "operator/api/object.h"

namespace yad {

enum class UpdateStrategyType { kAll, kRollingUpdate, kOnDelete };

// A number, or a percentage of something.
struct IntOrPercent {
  int value = 0;
  bool percent = false;

  std::size_t Of(std::size_t total) const;  // percentages are rounded up
};

// Pools that are updated one group after the other.
struct RolloutGroup {
  std::string name;
  std::set<std::string> pools;
  std::optional<LabelSelector> selector;  // instead of `pools`
  std::optional<IntOrPercent> max_unavailable;
  bool manual = false;  // waits for an approval

  bool Selects(const NodePool& pool) const;
};

// The name of the group of the pools that no other group has.
inline constexpr char kDefaultGroup[] = "default";
inline constexpr int kDefaultProgressDeadlineSeconds = 600;  // as in a Deployment

struct RollingUpdate {
  IntOrPercent max_unavailable{1, false};
  IntOrPercent partition;
  IntOrPercent max_failures;
  std::chrono::seconds min_ready{0};
  std::chrono::seconds progress_deadline{kDefaultProgressDeadlineSeconds};
  bool rollback = false;             // onFailure: Rollback
  std::vector<RolloutGroup> groups;  // the last one is kDefaultGroup, which selects every pool

  // Index of the first group that selects the pool.
  std::size_t GroupOf(const NodePool& pool) const;
};

struct UpdateStrategy {
  UpdateStrategyType type = UpdateStrategyType::kAll;
  RollingUpdate rolling;  // what it says for kRollingUpdate; else the defaults
};

// Reads what ValidateUpdateStrategy accepts; null or absent fields take their defaults.
UpdateStrategy ParseUpdateStrategy(const Json& strategy);

}  // namespace yad

#endif  // OPERATOR_API_UPDATE_STRATEGY_H_
