// Decides whether the nodepool controller may run here. The controller must not run while OpenYurt's yurt-manager
// manages the pools.
#ifndef OPERATOR_NODEPOOL_YURT_MANAGER_H_
#define OPERATOR_NODEPOOL_YURT_MANAGER_H_

#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/client/client.h"

namespace yad {

// Returns "" if no other controller manages the pools and this operator has the required rights. Otherwise returns the
// reason why the controller has to stay off, as a sentence. The reasons, in the order of the checks:
// - The operator lacks a right to manage the pools, or a right to make the checks below. The operator checks the rights
//   to manage pools with access reviews, so that no real request is rejected.
// - The webhook configuration of yurt-manager contains webhooks for NodePools. If a controller of yurt-manager is
//   switched off, its webhooks are removed from that configuration. So webhooks for other types alone do not count.
// - This configuration does not exist, but yurt-manager's Lease is held.
Result<std::string> WhyNotNodePool(Client& client, WallTime now, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_YURT_MANAGER_H_
