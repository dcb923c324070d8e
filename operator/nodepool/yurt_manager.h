// Checks whether OpenYurt's yurt-manager, or yurt-app-manager before OpenYurt 1.3, manages the pools. While it does,
// the nodepool controller of this operator must be off.
#ifndef OPERATOR_NODEPOOL_YURT_MANAGER_H_
#define OPERATOR_NODEPOOL_YURT_MANAGER_H_

#include <map>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/client/client.h"

namespace yad {

// A Lease of another program, as earlier calls of WhyNotNodePool observed it.
struct SeenLease {
  std::string renewed;   // its renewTime
  SteadyTime since;      // when this renewTime was first observed
  bool is_live = false;  // true after renewTime has changed between two calls
};
using SeenLeases = std::map<std::string, SeenLease>;  // by the name of the Lease

// Returns "" if the nodepool controller may run. Otherwise, returns the reason as a sentence. Checks in this order:
// - The operator must have the permissions that the controller needs. Access reviews check this, so that no real
//   request fails.
// - The Lease of yurt-app-manager must not be held.
// - If the webhook configuration of yurt-manager exists, it must have no webhooks for NodePools. (yurt-manager removes
//   the webhooks of a controller that is switched off.)
// - If the configuration does not exist, the Lease of yurt-manager must not be held.
//
// If the operator may not read the configuration or a Lease, the controller must also stay off.
//
// A Lease counts as held if its renewTime changes between two calls. Only before the first change, renewTime is
// compared with the wall clock, which may differ from the clock of the other program. `seen` keeps the observed Leases.
Result<std::string> WhyNotNodePool(Client& client, SeenLeases& seen, const Clock& clock, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_YURT_MANAGER_H_
