// Checks in the audit log that the operators of all tests use exactly the chart's permissions.
#ifndef TESTS_CLUSTER_RIGHTS_H_
#define TESTS_CLUSTER_RIGHTS_H_

#include "tests/support/chart_install.h"
#include "tests/support/control_plane.h"

namespace yad::testing {

// Fails for:
// - each denied request
// - each access to a Secret or ConfigMap, except the webhook's Secret and the ConfigMap of the freeze
// - each granted permission that no operator used, if all tests ran
//
// If the tests are sharded, each shard writes its used permissions into the folder $YAD_USED_RIGHTS, which must be
// empty at the start. The last shard checks the permissions of all shards.
void CheckRights(const ControlPlane& plane, const ChartInstall& install);

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_RIGHTS_H_
