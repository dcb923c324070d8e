// Checks whether OpenYurt's yurt-manager manages the pools. While it does, the nodepool controller of this operator
// must be off.
#ifndef OPERATOR_NODEPOOL_YURT_MANAGER_H_
#define OPERATOR_NODEPOOL_YURT_MANAGER_H_

#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/client/client.h"

namespace yad {

// Returns "" if the nodepool controller may run, and otherwise the reason, as a sentence. It may run if, in the order
// of the checks,
// - the operator has the rights that the controller needs (by access reviews, so that no real request fails);
// - the webhook configuration of yurt-manager has no webhooks for NodePools. yurt-manager removes the webhooks of a
//   controller that is switched off;
// - the Lease of yurt-manager is not held, if that configuration does not exist.
//
// If the operator may not read the configuration or the Lease, the controller must stay off too.
Result<std::string> WhyNotNodePool(Client& client, WallTime now, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_YURT_MANAGER_H_
