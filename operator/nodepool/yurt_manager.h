// Checks whether OpenYurt's yurt-manager, or yurt-app-manager before OpenYurt 1.3, manages the pools. While it does,
// the nodepool controller of this operator must be off.
#ifndef OPERATOR_NODEPOOL_YURT_MANAGER_H_
#define OPERATOR_NODEPOOL_YURT_MANAGER_H_

#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/client/client.h"

namespace yad {

// Returns "" if the nodepool controller may run. Otherwise, returns the reason as a sentence. Checks in this order:
// - The operator must have the permissions that the controller needs. Access reviews check this, so that no real
//   request fails.
// - The Lease of yurt-app-manager must not be held.
// - If the webhook configuration of yurt-manager exists, it must have no webhooks for NodePools. (yurt-manager removes
//   the webhooks of a controller that is switched off.)
// - If the configuration does not exist, the Lease of yurt-manager must not be held.
//
// If the operator may not read the configuration or a Lease, the controller must also stay off.
Result<std::string> WhyNotNodePool(Client& client, WallTime now, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_YURT_MANAGER_H_
