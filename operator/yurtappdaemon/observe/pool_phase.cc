#include "operator/yurtappdaemon/observe/pool_phase.h"

#include <algorithm>
#include <iterator>

namespace yad {
namespace {

// Returns whether the apiserver's authorizer rejected the request, because the operator lacks a permission. Its message
// has the form `deployments.apps "web" is forbidden: User "system:serviceaccount:sys:yad" cannot update resource
// "deployments"`.
//
// Admission plugins and webhooks reject requests with the same reason, but with other messages. If the message was read
// from status, it may be truncated after the user's name. It then ends with "...".
bool IsOfAuthorizer(std::string_view message) {
  const std::size_t user = message.find("is forbidden: User \"");
  if (user == std::string_view::npos) return false;
  return message.find("\" cannot ", user) != std::string_view::npos || message.ends_with("...");
}

// In the order of PoolPhase.
constexpr std::string_view kPhases[] = {"",      "Pending",   "Updating", "Soaking", "Verifying",
                                        "Ready", "Unhealthy", "Failed",   "Offline", "Removing"};
static_assert(std::size(kPhases) == static_cast<std::size_t>(PoolPhase::kRemoving) + 1);

}  // namespace

std::string_view ToString(PoolPhase phase) { return kPhases[static_cast<std::size_t>(phase)]; }

PoolPhase ParsePoolPhase(std::string_view text) {
  const auto* const found = std::find(std::begin(kPhases), std::end(kPhases), text);
  return found == std::end(kPhases) ? PoolPhase::kUnknown : static_cast<PoolPhase>(found - std::begin(kPhases));
}

bool CountsAsFailure(std::string_view reason, std::string_view message) {
  return IsCausedByRevision(reason) && reason != kWebhookFailed && !IsOfAuthorizer(message);
}

}  // namespace yad
