// Checks that the operator uses exactly the rights that the chart grants. The operators of all tests have these rights,
// and the apiserver has logged their requests.
#ifndef TESTS_CLUSTER_RIGHTS_H_
#define TESTS_CLUSTER_RIGHTS_H_

#include "tests/support/chart_install.h"
#include "tests/support/control_plane.h"

namespace yad::testing {

// Reports a failure for each request that was denied, and for each access to a Secret or ConfigMap other than the
// webhook's Secret and the ConfigMap of the freeze. If all tests ran, also reports each granted right that no operator
// used. With shards, each shard writes the rights that it used into the folder $YAD_USED_RIGHTS, which must be empty at
// the start. The last shard then checks the rights of all shards.
void CheckRights(const ControlPlane& plane, const ChartInstall& install);

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_RIGHTS_H_
