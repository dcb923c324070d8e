// A daemon with updateStrategy RollingUpdate, with real controllers, scheduler and pods.
#ifndef TESTS_CLUSTER_ROLLOUT_FIXTURE_H_
#define TESTS_CLUSTER_ROLLOUT_FIXTURE_H_

#include <string>
#include <vector>

#include "tests/cluster/fixture.h"

namespace yad::testing {

class RolloutFixture : public BothKinds {
 protected:
  // Starts an operator and a daemon with one replica in each of these pools. Adds a node to each pool. Blocks until the
  // daemon is Ready.
  void Deploy(const std::vector<std::string>& pools, const Json& rolling) {
    StartOperator();
    for (const std::string& pool : pools) AddNode(AddPool(pool));
    Json daemon = Daemon("web", 1);
    daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", rolling}};
    CreateDaemon(daemon);
    WaitUntilReady("web");
  }
};

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_ROLLOUT_FIXTURE_H_
