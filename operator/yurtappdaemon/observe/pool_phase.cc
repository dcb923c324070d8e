#include "operator/yurtappdaemon/observe/pool_phase.h"

#include <array>
#include <utility>

namespace yad {
namespace {

// Returns whether the apiserver's authorizer rejected the request, because the operator lacks a permission. Its message
// has the form `deployments.apps "web" is forbidden: User "system:serviceaccount:sys:yad" cannot update resource
// "deployments"`.
//
// Admission plugins and webhooks reject requests with the same reason, but with other messages. A message that was read
// from status may be truncated after the user's name, and then ends with "...".
bool IsOfAuthorizer(std::string_view message) {
  const std::size_t user = message.find("is forbidden: User \"");
  if (user == std::string_view::npos) return false;
  return message.find("\" cannot ", user) != std::string_view::npos || message.ends_with("...");
}

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

bool CountsAsFailure(std::string_view reason, std::string_view message) {
  return IsRevisionsFault(reason) && reason != kWebhookFailed && !IsOfAuthorizer(message);
}

}  // namespace yad
