// Pods that keep a StatefulSet from getting on.
//
// A StatefulSet replaces its pods in order, each once the one before is ready. One whose new template is mended, or
// taken back, waits for ever for a pod of the bad template that never becomes ready (kubernetes/kubernetes issue
// 67250).
#ifndef OPERATOR_YURTAPPDAEMON_STUCK_PODS_H_
#define OPERATOR_YURTAPPDAEMON_STUCK_PODS_H_

#include <stop_token>
#include <string>
#include <vector>

#include "operator/base/error.h"
#include "operator/client/client.h"
#include "operator/yurtappdaemon/snapshot.h"

namespace yad {

// Deletes the StatefulSet's pods that have not been ready since `since` and are of an older template than its own,
// short of its partition: the update would replace them anyway. (One that was ready just now may be what a quorum
// needs.) Returns their names. Two requests and one for each pod.
Result<std::vector<std::string>> ReplaceStuckPods(Client& client, const ObjectKey& stateful_set, const std::string& uid,
                                                  WallTime since, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_STUCK_PODS_H_
