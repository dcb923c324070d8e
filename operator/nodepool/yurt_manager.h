// Decides whether the nodepool controller may run here: it must not while OpenYurt's yurt-manager manages the pools.
#ifndef OPERATOR_NODEPOOL_YURT_MANAGER_H_
#define OPERATOR_NODEPOOL_YURT_MANAGER_H_

#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/client/client.h"

namespace yad {

// Returns "" if no other controller manages the pools and this operator has the required rights. Otherwise returns the
// reason why the controller has to stay off, as a sentence. The checks, in this order:
// - The operator lacks a right to manage the pools, or a right to make the checks below. The apiserver reviews the
//   former rights on request, so that no actual request is rejected.
// - yurt-manager's webhook configuration reviews NodePools. yurt-manager removes the webhooks of a controller that is
//   switched off from that configuration, so other webhooks alone mean that no controller manages the pools.
// - That configuration does not exist, and yurt-manager's Lease is held.
Result<std::string> WhyNotNodePool(Client& client, WallTime now, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_YURT_MANAGER_H_
