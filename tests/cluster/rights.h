// Are the rights that the chart gives to the operator those that it uses? Proven by use: the operators of all tests
// have these rights, and the apiserver has written down what they asked.
#ifndef TESTS_CLUSTER_RIGHTS_H_
#define TESTS_CLUSTER_RIGHTS_H_

#include "tests/support/chart_install.h"
#include "tests/support/control_plane.h"

namespace yad::testing {

// A failure for each request that was denied, for each Secret that is not the webhook's own, and, where
// `everything_ran`, for each verb that was granted and not used.
void CheckRights(const ControlPlane& plane, const ChartInstall& install, bool everything_ran);

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_RIGHTS_H_
