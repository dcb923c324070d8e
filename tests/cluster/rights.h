// Checks by the audit log that the operator uses exactly the rights that the chart grants. The operators of all tests
// have these rights.
#ifndef TESTS_CLUSTER_RIGHTS_H_
#define TESTS_CLUSTER_RIGHTS_H_

#include "tests/support/chart_install.h"
#include "tests/support/control_plane.h"

namespace yad::testing {

// Reports a failure for:
// - each denied request
// - each access to a Secret or ConfigMap, except the webhook's Secret and the ConfigMap of the freeze
// - if all tests ran: each granted right that no operator used
//
// With shards, each one writes the rights that it used into the folder $YAD_USED_RIGHTS, which must be empty at the
// start.
// The last one checks the rights of all.
void CheckRights(const ControlPlane& plane, const ChartInstall& install);

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_RIGHTS_H_
