#include "operator/yurtappdaemon/rollout/waiting_for.h"

namespace yad {

std::string_view ToString(WaitingFor reason) {
  switch (reason) {
    case WaitingFor::kNone:
      return "";
    case WaitingFor::kSlot:
      return "Slot";
    case WaitingFor::kGroup:
      return "Group";
    case WaitingFor::kApproval:
      return "Approval";
    case WaitingFor::kPartition:
      return "Partition";
    case WaitingFor::kHold:
      return "Hold";
    case WaitingFor::kFreeze:
      return "Freeze";
    case WaitingFor::kWindow:
      return "Window";
    case WaitingFor::kPrefetch:
      return "Prefetch";
    case WaitingFor::kPause:
      return "Pause";
    case WaitingFor::kDeletion:
      return "Deletion";
  }
  return "";
}

const std::vector<std::string_view>& WaitingForValues() {
  static const std::vector<std::string_view> kValues = [] {
    std::vector<std::string_view> values;
    for (int i = 1; !ToString(static_cast<WaitingFor>(i)).empty(); ++i)
      values.push_back(ToString(static_cast<WaitingFor>(i)));
    return values;
  }();
  return kValues;
}

}  // namespace yad
