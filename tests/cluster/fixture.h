// One namespace and one operator process for each test, on one control plane for all tests.
#ifndef TESTS_CLUSTER_FIXTURE_H_
#define TESTS_CLUSTER_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/well_known.h"
#include "operator/api/yurtappdaemon.h"
#include "tests/support/chart_install.h"
#include "tests/support/control_plane.h"
#include "tests/support/eventually.h"
#include "tests/support/kube.h"
#include "tests/support/operator_process.h"
#include "tests/support/test_run.h"

namespace yad::testing {

// Returns the control plane of all tests. The first call starts it. If its programs are missing, returns nullptr and
// skips the test, or fails it in CI.
ControlPlane* SharedControlPlane();
// Returns the installed chart, or nullptr without a control plane.
// - Its ServiceAccount has the permissions that the operators of all tests need.
// - Its webhooks review only namespaces with the label kReviewedLabel: "yes".
ChartInstall* SharedInstall();
inline constexpr char kReviewedLabel[] = "cluster-test-reviewed";

class ClusterTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // ---- the operator ----
  virtual OperatorOptions DefaultOptions();
  OperatorProcess& LaunchOperator(const std::vector<std::string>& flags = {});
  OperatorProcess& StartOperator(const std::vector<std::string>& flags = {});  // also waits until it is ready
  OperatorProcess& op() { return *operator_; }
  void StopOperator();  // sends SIGTERM, and expects exit code 0
  void KillOperator();

  // ---- pools: cluster-scoped, so each test has its own prefix and its own label ----
  std::string Pool(const std::string& suffix) const { return prefix_ + "-" + suffix; }
  // Creates the NodePool Pool(suffix) with `spec`, `labels` and the label that Daemon() selects.
  std::string AddPool(const std::string& suffix, const Json& spec = Json::object(),
                      const Json& labels = Json::object());
  std::string AddPoolNamed(const std::string& name, const Json& spec = Json::object(),
                           const Json& labels = Json::object());
  std::vector<std::string> AddPools(int count);  // "p000" …
  void Unselect(const std::string& pool);        // removes the label that Daemon() selects
  void Select(const std::string& pool);
  void DeletePool(const std::string& pool);
  // Creates a Node in the pool. KWOK makes the Node and its pods Ready.
  void AddNode(const std::string& pool, const Json& taints = Json::array(), const Json& labels = Json::object());

  // ---- daemons ----
  // Returns a daemon that selects the pools of this test. It has one container "main" with image "example.org/app:1".
  Json Daemon(const std::string& name, std::optional<int> replicas = 0) const;
  Json CreateDaemon(const Json& daemon) { return kube().Create(kYurtAppDaemonType, daemon); }
  // Sends a merge patch of the deploymentTemplate or statefulSetTemplate.
  Json PatchTemplate(const std::string& daemon, const Json& patch);
  Json SetImage(const std::string& daemon, const std::string& image);
  Json PatchSpec(const std::string& daemon, const Json& patch);
  Json GetDaemon(const std::string& name) { return kube().Get(kYurtAppDaemonType, name); }
  // Blocks until the status is Ready, for the newest spec and all selected pools. Returns the daemon.
  Json WaitUntilReady(const std::string& daemon);
  // Blocks until status.observedGeneration is the newest generation.
  Json WaitUntilObserved(const std::string& daemon);
  Json WaitForStatus(const std::string& daemon, const std::string& what,
                     const std::function<bool(const Json& status)>& is);
  // Blocks until condition Progressing of daemon "web" has this reason. Returns the daemon.
  Json WaitForProgress(const std::string& reason);
  // Sets a template of daemon "web" whose pods do not match any node.
  void SetBadTemplate();

  // ---- objects of the operator ----
  virtual WorkloadKind kind() const { return WorkloadKind::kDeployment; }
  const ResourceType& type() const { return TypeOf(kind()); }
  std::vector<Json> Workloads(const std::string& daemon);  // those that the daemon controls, by uid
  // Returns Workloads() by annotation ref-nodepool. Throws TestFailure if a pool has two.
  std::map<std::string, Json> ByPool(const std::string& daemon);
  Json WorkloadOf(const std::string& daemon, const std::string& pool);  // TestFailure if there is none
  // Blocks until exactly these pools have a workload.
  void WaitForPools(const std::string& daemon, const std::vector<std::string>& pools);
  std::vector<Json> Revisions(const std::string& daemon);  // the daemon's own, oldest first
  std::vector<AuditedRequest> WritesSince(WallTime since) { return plane().OperatorWrites(ns(), since); }
  // The apiserver has the same clock.
  static WallTime Now() { return std::chrono::system_clock::now(); }
  // Blocks until the operator has processed all keys that are queued now: creates an unrelated daemon, and waits until
  // the operator has observed it.
  void Barrier();
  std::vector<Json> EventsAbout(const std::string& name, const std::string& kind = "YurtAppDaemon");

  bool HasControlPlane() const { return plane_ != nullptr; }  // false: the test is skipped, or has already failed
  ControlPlane& plane() { return *plane_; }
  Kube& kube() { return *kube_; }
  const Kube& kube() const { return *kube_; }
  const std::string& ns() const { return ns_; }
  ProcessResult TryKubectl(std::vector<std::string> arguments, const std::string& input = "");
  std::string Kubectl(std::vector<std::string> arguments, const std::string& input = "");

 private:
  // Deletes the objects in the namespace that need CPU or could affect other tests. Deletion of the namespace would
  // take 75 requests and 0.2 s of CPU, because the namespace controller deletes the objects of each type separately.
  void DeleteObjects();
  // Returns the number of NodePools that the daemon's selector matches.
  std::size_t CountSelectedPools(const std::string& daemon);
  ControlPlane* plane_ = nullptr;
  std::string prefix_;
  std::string ns_;
  std::unique_ptr<Kube> kube_;
  std::unique_ptr<OperatorProcess> operator_;
  bool operator_expected_ = false;
  std::string log_file_;
  std::vector<std::string> pools_;
  std::vector<std::string> nodes_;
  int barriers_ = 0;
};

// Runs the same test for Deployments and StatefulSets.
class BothKinds : public ClusterTest, public ::testing::WithParamInterface<WorkloadKind> {
 protected:
  WorkloadKind kind() const override { return GetParam(); }
};
std::string KindName(const ::testing::TestParamInfo<WorkloadKind>& parameter);
#define INSTANTIATE_BOTH_KINDS(suite)                                                                             \
  INSTANTIATE_TEST_SUITE_P(Kind, suite, ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet), \
                           KindName)
// Tests of behaviour that does not depend on the kind run for one kind, and with YAD_ALL=1 for both kinds.
std::vector<WorkloadKind> KindsToRun(WorkloadKind usual);
#define INSTANTIATE_ONE_KIND(suite, usual) \
  INSTANTIATE_TEST_SUITE_P(Kind, suite, ::testing::ValuesIn(KindsToRun(usual)), KindName)

// Returns a value of /proc/PID/status in KiB, such as "VmRSS" (the memory now) or "VmHWM" (its maximum).
long MemoryOf(pid_t pid, const std::string& name);

// ---- parts of objects ----
std::string Label(const Json& object, const std::string& key);
std::string Annotation(const Json& object, const std::string& key);
std::string ImageOf(const Json& workload);                                 // of the first container
const Json* Container(const Json& workload, const std::string& name);      // nullptr: none
std::string ConditionStatus(const Json& daemon, const std::string& type);  // "": absent
Json ConditionOf(const Json& daemon, const std::string& type);             // null: absent
Json PoolStatus(const Json& daemon, const std::string& pool);              // the entry of status.pools, or null
// Returns the pod template. Its changes restart pods.
Json PodTemplate(const Json& workload);

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_FIXTURE_H_
