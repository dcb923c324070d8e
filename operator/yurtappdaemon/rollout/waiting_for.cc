#include "operator/yurtappdaemon/rollout/waiting_for.h"

#include <iterator>

namespace yad {
namespace {

// In the order of WaitingFor.
constexpr std::string_view kWaitingForValues[] = {"",       "Slot",   "Group",    "Approval", "Partition", "Hold",
                                                  "Freeze", "Window", "Prefetch", "Pause",    "Deletion"};
static_assert(std::size(kWaitingForValues) == static_cast<std::size_t>(WaitingFor::kDeletion) + 1);

}  // namespace

std::string_view ToString(WaitingFor reason) { return kWaitingForValues[static_cast<std::size_t>(reason)]; }

const std::vector<std::string_view>& WaitingForValues() {
  static const std::vector<std::string_view> kValues(std::begin(kWaitingForValues) + 1, std::end(kWaitingForValues));
  return kValues;
}

}  // namespace yad
