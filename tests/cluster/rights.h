// A check that the operator uses exactly the rights that the chart gives it. The operators of all tests have these
// rights, and the apiserver has logged their requests.
#ifndef TESTS_CLUSTER_RIGHTS_H_
#define TESTS_CLUSTER_RIGHTS_H_

#include "tests/support/chart_install.h"
#include "tests/support/control_plane.h"

namespace yad::testing {

// Reports a failure for each request that was denied, for each Secret that is not the webhook's own, and for each
// ConfigMap that is not the freeze. If no test was filtered out, also reports a failure for each granted verb that no
// operator used. With shards, each shard writes the rights that it used into the folder $YAD_USED_RIGHTS, which is
// empty at the start, and the last shard checks the rights of all shards.
void CheckRights(const ControlPlane& plane, const ChartInstall& install);

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_RIGHTS_H_
