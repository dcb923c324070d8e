// May the nodepool controller run here, or does OpenYurt's yurt-manager look after the pools?
#ifndef OPERATOR_NODEPOOL_YURT_MANAGER_H_
#define OPERATOR_NODEPOOL_YURT_MANAGER_H_

#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/client/client.h"

namespace yad {

// "": nobody else does, and we have the rights that it takes. Else why it has to stay off, as a sentence. In this
// order:
// - Rights to do it, or to look, are missing (the apiserver is asked about the former, so that nothing is refused).
// - yurt-manager's webhook configuration reviews NodePools. yurt-manager takes the webhooks of a controller that is
//   switched off out of it, so that its other webhooks alone mean that nobody looks after the pools.
// - There is no such configuration, and somebody holds yurt-manager's Lease.
Result<std::string> WhyNotNodePool(Client& client, WallTime now, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_YURT_MANAGER_H_
