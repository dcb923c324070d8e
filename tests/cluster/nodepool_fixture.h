// The fixture for the nodepool controller. The tests write the conditions of the Nodes.
#ifndef TESTS_CLUSTER_NODEPOOL_FIXTURE_H_
#define TESTS_CLUSTER_NODEPOOL_FIXTURE_H_

#include <string>
#include <vector>

#include "tests/cluster/fixture.h"

namespace yad::testing {

inline const Json kOwnTaint = {{"key", "own-node"}, {"effect", "NoSchedule"}};

class NodePoolTest : public ClusterTest {
 protected:
  void TearDown() override {
    if (HasControlPlane()) {
      for (const std::string& node : own_nodes_) {
        if (kube().Find(kNodeType, node)) kube().Delete(kNodeType, node);
      }
    }
    ClusterTest::TearDown();
  }

  OperatorProcess& StartNodePools(std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), "--controllers=*,nodepool");
    return StartOperator(std::move(flags));
  }
  // Creates a Node whose condition Ready is `ready`, with the pool label `pool` ("": no label). KWOK ignores the Node,
  // and a taint keeps other pods away.
  std::string AddOwnNode(const std::string& suffix, const std::string& pool, const std::string& ready = "True") {
    const std::string name = Pool("own-" + suffix);
    Json labels = {{"own-node-of", ns()}};
    if (!pool.empty()) labels[kNodePoolLabel] = pool;
    const Json resources = {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}};
    kube().Create(
        kNodeType,
        {{"metadata", {{"name", name}, {"labels", labels}, {"annotations", {{"kwok.x-k8s.io/status", "custom"}}}}},
         {"spec", {{"taints", Json::array({kOwnTaint})}}},
         {"status",
          {{"capacity", resources}, {"allocatable", resources}, {"conditions", Conditions({{"Ready", ready}})}}}});
    own_nodes_.push_back(name);
    return name;
  }
  static Json Conditions(const std::map<std::string, std::string>& statuses) {
    Json list = Json::array();
    for (const auto& [type, status] : statuses)
      list.push_back({{"type", type}, {"status", status}, {"lastHeartbeatTime", "2026-11-22T08:00:00Z"}});
    return list;
  }
  void SetConditions(const std::string& node, const std::map<std::string, std::string>& statuses) {
    kube().MergePatch(kNodeType, node, {{"status", {{"conditions", Conditions(statuses)}}}}, "status");
  }
  Json PoolStatusNow(const std::string& pool) { return At(kube().Get(kNodePoolType, pool), "/status"); }
  // Blocks until the pool's status has these fields.
  Json WaitForPoolStatus(const std::string& pool, const Json& fields) {
    Json status;
    Eventually(pool + " has status " + fields.dump(), [&]() -> std::string {
      status = PoolStatusNow(pool);
      for (const auto& [field, value] : fields.items()) {
        if (At(status, "/" + field) != value) return status.dump();
      }
      return "";
    });
    return status;
  }
  std::vector<std::string> NodeEvents(const std::string& node) {
    std::vector<std::string> reasons;
    for (const Json& event : Kube(kube().client(), "default").List(kEventType)) {
      if (StringAt(event, {"regarding", "name"}) == node) reasons.push_back(StringAt(event, {"reason"}));
    }
    return reasons;
  }

 private:
  std::vector<std::string> own_nodes_;
};

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_NODEPOOL_FIXTURE_H_
