// A daemon with objects that OpenYurt, or an earlier daemon of the same name, has left.
#ifndef TESTS_UNIT_YURTAPPDAEMON_TAKEOVER_FIXTURE_H_
#define TESTS_UNIT_YURTAPPDAEMON_TAKEOVER_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/yurtappdaemon/world.h"

namespace yad::testing {

class TakeoverTest : public ::testing::Test {
 protected:
  // Creates a daemon on app:1 with these pools, and reconciles until it is at rest.
  void Deployed(const std::vector<std::string>& pools, Json daemon = DaemonJson()) {
    world_.AddPools(pools);
    world_.CreateDaemon(std::move(daemon));
    ASSERT_LE(world_.Converge(), 10);
    world_.events.Take();
    world_.cluster.ClearWrites();
  }

  // Creates a daemon as OpenYurt 1.6 leaves it: status refers to revision 1, although all workloads are on revision 2.
  // The pools have `taints`.
  void LeftByOpenYurt(const std::vector<std::string>& pools, const Json& newest = DaemonJson("app:2"),
                      const std::vector<std::string>& taints = {}) {
    Json first = newest;
    PodSpecOf(TemplateOf(first))["containers"][0]["image"] = "app:1";
    LeftByOpenYurt(pools, {first, newest}, 2, taints);
  }
  // Creates one revision of OpenYurt for each of these daemons. The workloads have the content of the last revision.
  // Their label and pod label refer to revision `label`. The webhook of OpenYurt 1.5 and 1.6 always sets revision 1.
  void LeftByOpenYurt(const std::vector<std::string>& pools, const std::vector<Json>& specs, int label,
                      const std::vector<std::string>& taints = {}) {
    for (const std::string& pool : pools) world_.AddPool(pool, taints);
    world_.CreateDaemon(specs.back());
    const Json daemon = world_.Daemon();
    int number = 0;
    for (const Json& spec : specs) {
      Json object = daemon;
      object["spec"] = spec["spec"];
      const YurtAppDaemon parsed = *ParseYurtAppDaemon(object);
      // The revision has OpenYurt's name and format, and not the operator's label.
      const std::string hash = "5c69b69bd" + std::to_string(++number);
      Json revision = MakeControllerRevision(parsed, ContentOf(parsed), hash, number);
      revision["metadata"]["name"] = "web-" + hash;
      revision["metadata"]["labels"] = {{"app", "web"}, {kHashLabel, hash}};
      Json& stored = *revision["data"]["spec"]["workloadTemplate"].find("deploymentTemplate");
      stored["metadata"]["creationTimestamp"] = nullptr;
      stored["spec"]["strategy"] = Json::object();
      stored["spec"]["template"]["metadata"]["creationTimestamp"] = nullptr;
      world_.cluster.Create(kControllerRevisionType, revision);
    }
    auto made = std::make_shared<Revision>(*MakeRevision(daemon));
    made->name = made->label = "web-5c69b69bd" + std::to_string(label);
    for (const std::string& pool : pools) {
      Json workload = OpenYurtWorkloadJson(daemon, made, PoolJson(pool, taints));
      workload["metadata"]["ownerReferences"][0]["uid"] = world_.uid;
      world_.cluster.Create(kDeploymentType, workload);
    }
    world_.EditDaemon([](Json& d) {
      d["status"] =
          R"({"collisionCount": 0, "observedGeneration": 1, "templateType": "Deployment", "currentRevision": "web-5c69b69bd1",
                        "conditions": [{"type": "WorkLoadProvisioned", "status": "True", "lastTransitionTime": "2025-01-01T00:00:00Z"}]})"_json;
    });
    world_.RunWorkloadControllers();
    world_.cluster.ClearWrites();
  }

  // The same daemon twice: Manifest has the template as a user writes it, and Defaulted as OpenYurt's webhook stored
  // it.
  static Json Manifest() {
    Json daemon = DaemonJson("app:2");
    PodSpecOf(TemplateOf(daemon)) =
        R"({"hostNetwork": true, "volumes": [{"name": "tmp"}],
            "containers": [{"name": "main", "image": "app:2", "imagePullPolicy": "IfNotPresent",
              "ports": [{"containerPort": 80}], "readinessProbe": {"httpGet": {"port": 80}}}]})"_json;
    return daemon;
  }
  static Json Defaulted() {
    Json daemon = Manifest();
    PodSpecOf(TemplateOf(daemon)) =
        R"({"hostNetwork": true, "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "securityContext": {},
            "schedulerName": "default-scheduler", "terminationGracePeriodSeconds": 30,
            "volumes": [{"name": "tmp", "emptyDir": {}}],
            "containers": [{"name": "main", "image": "app:2", "imagePullPolicy": "Always",
              "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
              "ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}],
              "readinessProbe": {"httpGet": {"port": 80, "path": "/", "scheme": "HTTP"}, "timeoutSeconds": 1,
                                 "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}}]})"_json;
    return daemon;
  }
  // Changes the daemon as kubectl apply of the manifest does.
  void Apply(const Json& manifest) {
    world_.EditDaemon([&](Json& d) { d["spec"]["workloadTemplate"] = manifest["spec"]["workloadTemplate"]; });
  }
  // Expects that every pool is updated, and that neither this process nor the next process writes again.
  void ExpectAtRest() {
    EXPECT_LE(world_.Converge(), 6);
    world_.Restart();
    world_.cluster.ClearWrites();
    EXPECT_TRUE(world_.Reconcile());
    EXPECT_THAT(world_.Writes(), ::testing::SizeIs(0));
    EXPECT_EQ(world_.Status()["updatedPools"], world_.Status()["desiredPools"]);
    EXPECT_EQ(world_.Status()["currentRevision"], world_.Status()["updateRevision"]);
  }
  Json Template(const std::string& pool) {
    return (*world_.cluster.Get(kDeploymentType, {kNs, "web-" + pool + "-x7k2p"}))["spec"]["template"];
  }
  std::map<std::string, Json> Templates(const std::vector<std::string>& pools) {
    std::map<std::string, Json> templates;
    for (const std::string& pool : pools) templates[pool] = Template(pool);
    return templates;
  }
  void EditOpenYurts(const std::string& pool, const std::function<void(Json&)>& edit) {
    world_.cluster.Edit(kDeploymentType, {kNs, "web-" + pool + "-x7k2p"}, edit);
  }

  World world_;
};

}  // namespace yad::testing

#endif  // TESTS_UNIT_YURTAPPDAEMON_TAKEOVER_FIXTURE_H_
