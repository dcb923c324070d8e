// Workloads that other clients also change: a mutating webhook, an autoscaler, a controller and users. The apiserver's
// audit log shows the operator's writes.
#include <algorithm>
#include <cstdlib>
#include <thread>

#include "tests/cluster/fixture.h"
#include "tests/cluster/workload_watch.h"
#include "tests/support/mutating_webhook.h"

namespace yad::testing {
namespace {

constexpr char kMirrored[] = "mirror.example.org/app:1";

class OwnershipTest : public BothKinds {
 protected:
  // Returns the successful writes of workloads.
  std::vector<AuditedRequest> WorkloadWrites(WallTime since) {
    std::vector<AuditedRequest> writes = WritesSince(since);
    std::erase_if(writes, [&](const AuditedRequest& write) {
      return write.resource != type().resource || write.code < 200 || write.code > 299;
    });
    return writes;
  }
  void ExpectAtRest() {
    Barrier();
    Eventually("no replica reconciles",
               [&] { return op().Metric("workqueue_depth") + op().Metric("controller_runtime_active_workers") == 0; });
    const WallTime since = Now();
    for (int i = 0; i < 2; ++i) Barrier();
    const auto writes = WorkloadWrites(since);
    EXPECT_TRUE(writes.empty()) << "the operator wrote although nothing had changed:" << ToString(writes);
  }
  int EventCount(const std::string& reason) {
    int count = 0;
    for (const Json& event : EventsAbout("web")) {
      if (StringAt(event, {"reason"}) == reason) count += static_cast<int>(IntAt(event, {"series", "count"}, 1));
    }
    return count;
  }
  void WaitForImage(const std::string& image, const std::vector<std::string>& pools) {
    Eventually("the image is " + image, [&] {
      const auto by_pool = ByPool("web");
      return std::all_of(pools.begin(), pools.end(),
                         [&](const std::string& pool) { return ImageOf(by_pool.at(pool)) == image; });
    });
  }
};
INSTANTIATE_ONE_KIND(OwnershipTest, WorkloadKind::kDeployment);

TEST_P(OwnershipTest, FieldsThatAMutatingWebhookAddsAreKeptWithoutRepeatedWrites) {
  const MutatingWebhook webhook(kube(), type(), [](Json& workload) {
    workload["metadata"]["annotations"]["theirs"] = "1";
    workload["metadata"]["labels"]["theirs"] = "1";
    Json& pod = workload["spec"]["template"];
    pod["metadata"]["annotations"]["theirs"] = "1";
    Json& containers = pod["spec"]["containers"];
    if (containers.size() == 1) {
      containers.insert(containers.begin(), R"({"name": "sidecar", "image": "example.org/sidecar:1"})"_json);
    }
    for (Json& container : containers) {
      if (container["name"] != "main") continue;
      container["env"] = R"([{"name": "THEIRS", "value": "1"}, {"name": "OURS", "value": "1"}])"_json;
      container["resources"] = R"({"requests": {"cpu": "1000m"}, "limits": {"memory": "1Gi"}})"_json;
    }
    pod["spec"]["priorityClassName"] = "";
    pod["spec"]["dnsPolicy"] = "Default";
    pod["spec"]["tolerations"] = R"([{"key": "theirs", "operator": "Exists"}])"_json;
  });
  StartOperator();
  const std::vector<std::string> pools = {AddPool("a"), AddPool("b")};
  Json daemon = Daemon("web");
  daemon["spec"]["workloadTemplate"][TemplateField(kind())]["spec"]["template"]["spec"]["containers"][0]["env"] =
      R"([{"name": "OURS", "value": "1"}])"_json;
  CreateDaemon(daemon);
  WaitUntilReady("web");
  ExpectAtRest();

  const WallTime before = Now();
  SetImage("web", "example.org/app:2");
  Eventually("all workloads have the new image", [&] {
    const auto by_pool = ByPool("web");
    return std::all_of(by_pool.begin(), by_pool.end(), [](const auto& entry) {
      return StringAt(*Container(entry.second, "main"), {"image"}) == "example.org/app:2";
    });
  });
  WaitUntilReady("web");
  ExpectAtRest();
  EXPECT_EQ(WorkloadWrites(before).size(), 2U) << ToString(WorkloadWrites(before));
  for (const auto& [pool, workload] : ByPool("web")) {
    EXPECT_EQ(At(workload, "/spec/template/spec/containers").size(), 2U);
    EXPECT_EQ(At(*Container(workload, "main"), "/env").size(), 2U);
  }

  StopOperator();
  const WallTime restart = Now();
  StartOperator();
  ExpectAtRest();
  EXPECT_EQ(WorkloadWrites(restart).size(), 0U);
  EXPECT_EQ(EventCount("WorkloadRepaired") + EventCount("ValueNotKept"), 0);
}

TEST_P(OwnershipTest, ValueOfAMutatingWebhookIsReportedAndNotOverwrittenRepeatedly) {
  auto webhook = std::make_unique<MutatingWebhook>(kube(), type(), [](Json& workload) {
    for (Json& container : workload["spec"]["template"]["spec"]["containers"]) container["image"] = kMirrored;
  });
  StartOperator();
  const std::vector<std::string> pools = {AddPool("a"), AddPool("b")};
  const WallTime begin = Now();
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  ExpectAtRest();
  EXPECT_EQ(WorkloadWrites(begin).size(), 2U) << ToString(WorkloadWrites(begin));
  const auto reported = [&] {
    for (const Json& event : EventsAbout("web")) {
      if (StringAt(event, {"reason"}) == "ValueNotKept" &&
          StringAt(event, {"note"}).find("/spec/template/spec/containers/0/image") != std::string::npos) {
        return StringAt(event, {"type"}) == "Warning";
      }
    }
    return false;
  };
  Eventually("the changed value is reported", reported);

  const WallTime edit = Now();
  SetImage("web", "example.org/app:2");
  WaitUntilReady("web");
  ExpectAtRest();
  EXPECT_EQ(WorkloadWrites(edit).size(), 2U) << ToString(WorkloadWrites(edit));
  for (const auto& [pool, workload] : ByPool("web")) EXPECT_EQ(ImageOf(workload), kMirrored);

  // A new process may write each workload once, because it does not know the webhook's changes.
  StopOperator();
  const WallTime restart = Now();
  StartOperator();
  ExpectAtRest();
  EXPECT_LE(WorkloadWrites(restart).size(), 2U) << ToString(WorkloadWrites(restart));

  webhook.reset();
  SetImage("web", "example.org/app:3");
  WaitForImage("example.org/app:3", pools);
  WaitUntilReady("web");
  ExpectAtRest();
}

TEST_P(OwnershipTest, RepairsBackOffWhileAnotherWriterKeepsChangingTheWorkload) {
  StartOperator();
  const std::string pool = AddPool("a");
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  const std::string name = NameOf(WorkloadOf("web", pool));
  const WallTime begin = Now();
  {
    const std::jthread fighter([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        Result<Json> workload = kube().client().Get(type(), {ns(), name});
        if (workload && ImageOf(*workload) != kMirrored) {
          (*workload)["spec"]["template"]["spec"]["containers"][0]["image"] = kMirrored;
          static_cast<void>(kube().client().Update(type(), *workload));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    });
    Eventually("the slower repairs are reported", [&] { return EventCount("RepairsSlowedDown") == 1; });
    Eventually("the operator keeps repairing the workload", [&] { return WorkloadWrites(begin).size() > 6; });
  }
  EXPECT_LE(WorkloadWrites(begin).size(), 16U) << "the backoff doubles, so more writes would take over 2^10 seconds";
  Eventually(
      "the workload has the image of the template",
      [&] { return ImageOf(kube().Get(type(), name)) == "example.org/app:1"; }, std::chrono::minutes(2));
  WaitUntilReady("web");
  ExpectAtRest();
}

TEST_P(OwnershipTest, OneRepairCausesOneWriteOneEventAndOneCount) {
  StartOperator();
  const std::string pool = AddPool("a");
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  const Json before = WorkloadOf("web", pool);
  const std::vector<std::pair<const char*, std::function<void(Json&)>>> edits = {
      {"image, nodeSelector, replicas",
       [](Json& workload) {
         workload["spec"]["template"]["spec"]["containers"][0]["image"] = "example.org/evil:1";
         workload["spec"]["template"]["spec"]["nodeSelector"].erase(kNodePoolLabel);
         workload["spec"]["replicas"] = 3;
       }},
      {"a wrong label", [](Json& workload) { workload["metadata"]["labels"]["app"] = "another"; }},
      {"a wrong revision", [](Json& workload) { workload["metadata"]["labels"][kRevisionLabel] = "web-nonsense"; }},
      {"no revision", [](Json& workload) { workload["metadata"]["labels"].erase(kRevisionLabel); }},
      {"another pool", [](Json& workload) { workload["metadata"]["labels"][kPoolNameLabel] = "another"; }},
      {"no pool", [](Json& workload) { workload["metadata"]["labels"].erase(kPoolNameLabel); }},
      {"no annotation", [](Json& workload) { workload["metadata"]["annotations"].erase(kRefNodePoolAnnotation); }},
  };
  int done = 0;
  for (const auto& [what, edit] : edits) {
    const WallTime since = Now();
    kube().Edit(type(), NameOf(before), edit);
    Eventually(std::string(what) + " is repaired", [&]() -> std::string {
      const Json now = kube().Get(type(), NameOf(before));
      const Json had = At(before, "/metadata/labels");
      if (At(now, "/metadata/labels") != had) return At(now, "/metadata/labels").dump();
      if (Annotation(now, kRefNodePoolAnnotation) != pool) return "no annotation";
      return At(now, "/spec") == At(before, "/spec") ? "" : Json::diff(At(before, "/spec"), At(now, "/spec")).dump();
    });
    ExpectAtRest();
    EXPECT_EQ(WorkloadWrites(since).size(), 1U) << what << ToString(WorkloadWrites(since));
    ++done;
    EXPECT_EQ(op().Metric("yurtappdaemon_workload_writes_total", {"operation=\"Repair\""}), done) << what;
    if (&edit == &edits.front().second)
      Eventually("the repair is reported", [&] { return EventCount("WorkloadRepaired") == 1; });
    if (done == 4) {  // a new process does not delay the next repair
      StopOperator();
      StartOperator();
      done = 0;
    }
  }
  EXPECT_EQ(UidOf(WorkloadOf("web", pool)), UidOf(before));
}

TEST_P(OwnershipTest, ReplicasOfAnAutoscalerAndARolloutRestartAreKept) {
  StartOperator();
  const std::string pool = AddPool("a");
  CreateDaemon(Daemon("web", std::nullopt));
  const std::string name = NameOf([&] {
    WaitForPools("web", {pool});
    return WorkloadOf("web", pool);
  }());
  const WallTime since = Now();
  for (const int replicas : {3, 0, 7, 2}) {
    kube().MergePatch(type(), name, {{"spec", {{"replicas", replicas}}}}, "scale");
    Barrier();
    EXPECT_EQ(At(kube().Get(type(), name), "/spec/replicas"), replicas);
  }
  Kubectl({"rollout", "restart", type().resource + "/" + name});
  ExpectAtRest();
  EXPECT_EQ(WorkloadWrites(since).size(), 0U) << ToString(WorkloadWrites(since));
}

TEST_P(OwnershipTest, AForeignWorkloadWithOurNameIsReportedOnceAndNeverChanged) {
  StartOperator();
  const std::string pool = AddPool("a");
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  Json foreign = WorkloadOf("web", pool);
  Unselect(pool);
  Eventually("the operator's workload is gone", [&] { return !kube().Find(type(), NameOf(foreign)).has_value(); });
  foreign = {{"metadata", {{"name", NameOf(foreign)}}}, {"spec", foreign["spec"]}};
  foreign["spec"]["selector"]["matchLabels"][kPoolNameLabel] = "another";
  foreign["spec"]["template"]["metadata"]["labels"][kPoolNameLabel] = "another";
  const Json made = kube().Create(type(), foreign);
  const WallTime since = Now();
  Select(pool);
  WaitForStatus("web", "the conflict is reported", [&](const Json& status) {
    return StringAt(PoolStatus({{"status", status}}, pool), {"reason"}) == "WorkloadConflict";
  });
  Eventually("the conflict is reported in an event", [&] { return EventCount("WorkloadConflict") == 1; });
  ExpectAtRest();
  EXPECT_EQ(EventCount("WorkloadConflict"), 1);
  EXPECT_EQ(WorkloadWrites(since).size(), 0U) << ToString(WorkloadWrites(since));
  EXPECT_EQ(At(kube().Get(type(), NameOf(foreign)), "/spec"), At(made, "/spec"));
}

// Like a DaemonSet, the operator removes the workload as soon as a pool loses its label. The next workload has the same
// name, so a StatefulSet uses its PersistentVolumeClaims again.
TEST_P(OwnershipTest, AFlappingPoolKeepsTheNameOfItsWorkloadAndNeverHasTwoWorkloads) {
  StartOperator();
  const std::string pool = AddPool("a");
  const std::string other = AddPool("b");
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  const std::string name = NameOf(WorkloadOf("web", pool));
  const Json untouched = WorkloadOf("web", other);
  WorkloadWatch watch(kube().client(), type(), ns(), "web");
  watch.ExpectRemoval(name);
  for (int i = 0; i < 20; ++i) {
    Unselect(pool);
    if (i % 4 == 3) Barrier();
    if (i % 10 == 9) WaitForPools("web", {other});
    Select(pool);
    if (i % 3 == 2) Barrier();
  }
  WaitForPools("web", {pool, other});
  WaitUntilReady("web");
  EXPECT_EQ(NameOf(WorkloadOf("web", pool)), name);
  EXPECT_EQ(WithoutStatus(WorkloadOf("web", other)), WithoutStatus(untouched));
  EXPECT_EQ(Revisions("web").size(), 1U);
  ExpectAtRest();
  EXPECT_THAT(watch.faults(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace yad::testing
