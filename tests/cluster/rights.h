// Are the rights that the chart gives to the operator those that it uses? Proven by use: the operators of all tests
// have these rights, and the apiserver has written down what they asked.
#ifndef TESTS_CLUSTER_RIGHTS_H_
#define TESTS_CLUSTER_RIGHTS_H_

#include "tests/support/chart_install.h"
#include "tests/support/control_plane.h"

namespace yad::testing {

// A failure for each request that was denied, and for each Secret that is not the webhook's own. Where no test was
// filtered out, also for each verb that was granted and not used. Where the tests are divided into shards, the last to
// end looks at that: each leaves what was used in the folder $YAD_USED_RIGHTS, which was empty when they began.
void CheckRights(const ControlPlane& plane, const ChartInstall& install);

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_RIGHTS_H_
