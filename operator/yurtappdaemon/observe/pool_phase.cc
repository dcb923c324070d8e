#include "operator/yurtappdaemon/observe/pool_phase.h"

#include <array>
#include <utility>

namespace yad {
namespace {

constexpr std::array<std::pair<PoolPhase, std::string_view>, 9> kPhases{{{PoolPhase::kPending, "Pending"},
                                                                         {PoolPhase::kUpdating, "Updating"},
                                                                         {PoolPhase::kSoaking, "Soaking"},
                                                                         {PoolPhase::kVerifying, "Verifying"},
                                                                         {PoolPhase::kReady, "Ready"},
                                                                         {PoolPhase::kUnhealthy, "Unhealthy"},
                                                                         {PoolPhase::kFailed, "Failed"},
                                                                         {PoolPhase::kOffline, "Offline"},
                                                                         {PoolPhase::kRemoving, "Removing"}}};

}  // namespace

std::string_view ToString(PoolPhase phase) {
  for (const auto& [value, text] : kPhases) {
    if (value == phase) return text;
  }
  return "";
}

PoolPhase ParsePoolPhase(std::string_view text) {
  for (const auto& [value, name] : kPhases) {
    if (name == text) return value;
  }
  return PoolPhase::kUnknown;
}

}  // namespace yad
