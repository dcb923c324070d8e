// A takeover from OpenYurt, and the return to OpenYurt. Only with Deployments, because OpenYurt never created
// StatefulSets.
#include <cstdlib>
#include <iostream>
#include <set>

#include "tests/cluster/fixture.h"
#include "tests/cluster/gated.h"
#include "tests/support/openyurt_state.h"

namespace yad::testing {
namespace {

class TakeoverTest : public ClusterTest {
 protected:
  // Adds three pools with a node each. Two pools have taints.
  void AddThreePools() {
    const Json region = {{"key", "region"}, {"value", "x"}, {"effect", "NoSchedule"}};
    const Json site = {{"key", "site"}, {"effect", "NoExecute"}};
    pool_objects_.clear();
    for (const auto& [suffix, taints] : std::map<std::string, Json>{
             {"a", Json::array({region})}, {"b", Json::array({region, site})}, {"c", Json::array()}}) {
      const std::string name = AddPool(suffix, {{"taints", taints}});
      AddNode(name, taints, LostNodeSelector());
      pool_objects_.push_back(kube().Get(kNodePoolType, name));
    }
  }
  const std::vector<Json>& pool_objects() const { return pool_objects_; }
  std::vector<std::string> PoolNames() const {
    std::vector<std::string> names;
    for (const Json& pool : pool_objects_) names.push_back(NameOf(pool));
    return names;
  }
  Json OpenYurts(const std::string& name, int replicas = 1) const {
    return OpenYurtDaemon(name, At(Daemon(name), "/spec/nodepoolSelector"), replicas);
  }
  void WaitForPods(const std::string& daemon) {
    for (const std::string& pool : PoolNames()) {
      Eventually("the pod of " + pool + " is Ready",
                 [&] { return At(kube().Get(type(), OpenYurtName(daemon, pool)), "/status/availableReplicas") == 1; });
    }
  }
  // Makes three pools and daemon "web" as OpenYurt leaves them, and blocks until the pods are Ready.
  void MakeClusterOfOpenYurt(const OpenYurtOptions& options = {}) {
    AddThreePools();
    MakeOpenYurtState(kube(), OpenYurts("web"), pool_objects(), options);
    WaitForPods("web");
  }
  // Returns the workloads by pool, for a later ExpectUntouched.
  std::map<std::string, Json> Remember(const std::string& daemon) {
    auto workloads = ByPool(daemon);
    EXPECT_EQ(workloads.size(), pool_objects_.size());
    return workloads;
  }
  std::set<std::string> Pods() {
    std::set<std::string> uids;
    for (const Json& pod : kube().List(kPodType)) uids.insert(UidOf(pod));
    return uids;
  }
  void ExpectUntouched(const std::string& daemon, const std::map<std::string, Json>& before) {
    WaitForPools(daemon, PoolNames());
    for (const auto& [pool, workload] : ByPool(daemon)) {
      EXPECT_EQ(NameOf(workload), NameOf(before.at(pool)));
      EXPECT_EQ(UidOf(workload), UidOf(before.at(pool))) << pool;
      EXPECT_EQ(At(workload, "/metadata/generation"), At(before.at(pool), "/metadata/generation")) << pool;
      EXPECT_EQ(At(workload, "/spec"), At(before.at(pool), "/spec")) << pool;
    }
  }
  // Returns the images of the daemon's revisions, by revision number.
  std::map<std::int64_t, std::string> History(const std::string& daemon) {
    std::map<std::int64_t, std::string> history;
    for (const Json& revision : Revisions(daemon)) {
      const Json image =
          At(revision, "/data/spec/workloadTemplate/deploymentTemplate/spec/template/spec/containers/0/image");
      history[IntAt(revision, {"revision"})] = image.get<std::string>();
    }
    return history;
  }
  void Orphan(const std::string& daemon) {
    Kubectl({"delete", "yad", daemon, "--cascade=orphan"});
    Eventually("the daemon is gone", [&] { return !kube().Find(kYurtAppDaemonType, daemon).has_value(); });
  }

 private:
  std::vector<Json> pool_objects_;
};

TEST_F(TakeoverTest, TakeoverWritesNoWorkloadAndReusesTheRevisions) {
  OpenYurtOptions three;
  three.images = {"example.org/app:0", "example.org/app:5", "example.org/app:1"};
  MakeClusterOfOpenYurt(three);
  const auto before = Remember("web");
  const auto pods = Pods();
  const WallTime since = Now();
  StartOperator();
  const Json daemon = WaitUntilReady("web");
  Barrier();
  EXPECT_EQ(At(daemon, "/status/updateRevision"), OpenYurtRevisions("web", three).back());
  EXPECT_EQ(At(daemon, "/status/currentRevision"), OpenYurtRevisions("web", three).back());
  ExpectUntouched("web", before);
  EXPECT_EQ(Pods(), pods);
  for (const AuditedRequest& write : WritesSince(since)) EXPECT_NE(write.resource, type().resource) << write.name;
  EXPECT_EQ(kube().List(kControllerRevisionType, "app=web").size(), 3U);
  EXPECT_EQ(History("web"), (std::map<std::int64_t, std::string>{
                                {1, "example.org/app:0"}, {2, "example.org/app:5"}, {3, "example.org/app:1"}}));

  // An undo reuses the old template's revision with a higher number.
  const std::string oldest = OpenYurtRevisions("web", three).front();
  const std::string uid = UidOf(kube().Get(kControllerRevisionType, oldest));
  SetImage("web", "example.org/app:0");
  Eventually("all workloads have the oldest image", [&] {
    for (const auto& [pool, workload] : ByPool("web")) {
      if (ImageOf(workload) != "example.org/app:0" || Label(workload, kRevisionLabel) != oldest) return false;
    }
    return true;
  });
  WaitForStatus("web", "has the oldest revision as updateRevision",
                [&](const Json& status) { return At(status, "/updateRevision") == oldest; });
  EXPECT_EQ(UidOf(kube().Get(kControllerRevisionType, oldest)), uid);
  EXPECT_EQ(History("web"), (std::map<std::int64_t, std::string>{
                                {2, "example.org/app:5"}, {3, "example.org/app:1"}, {4, "example.org/app:0"}}));
  for (const auto& [pool, workload] : ByPool("web")) {
    EXPECT_EQ(UidOf(workload), UidOf(before.at(pool)));
    // The workload now has the fields of the operator's rules, and its old name.
    EXPECT_EQ(NameOf(workload), NameOf(before.at(pool)));
    Json node_selector = LostNodeSelector();
    node_selector[kNodePoolLabel] = pool;
    EXPECT_EQ(At(workload, "/spec/template/spec/nodeSelector"), node_selector);
    EXPECT_TRUE(At(workload, "/spec/template/spec/affinity").is_object());
    EXPECT_FALSE(At(workload, "/spec/template/metadata/labels").contains(kRevisionLabel));
    EXPECT_FALSE(Annotation(workload, kRenderedFromAnnotation).empty());
  }
}

TEST_F(TakeoverTest, OutdatedLabelIsCorrectedWithoutARestart) {
  OpenYurtOptions options;
  options.labels_first = true;
  MakeClusterOfOpenYurt(options);
  const auto before = Remember("web");
  const auto pods = Pods();
  StartOperator();
  const Json daemon = WaitUntilReady("web");
  Barrier();
  EXPECT_EQ(At(daemon, "/status/currentRevision"), OpenYurtRevisions("web").back());
  ExpectUntouched("web", before);
  EXPECT_EQ(Pods(), pods);
  for (const auto& [pool, workload] : ByPool("web"))
    EXPECT_EQ(Label(workload, kRevisionLabel), OpenYurtRevisions("web").back()) << pool;
}

TEST_F(TakeoverTest, NoPodRestartsWhenTheUnchangedManifestIsAppliedAgain) {
  MakeClusterOfOpenYurt();
  StartOperator();
  WaitUntilReady("web");
  const auto before = Remember("web");
  const auto pods = Pods();
  const auto replica_sets = [&] {
    std::set<std::string> uids;
    for (const Json& set : kube().List(kReplicaSetType)) uids.insert(UidOf(set));
    return uids;
  };
  const auto sets = replica_sets();

  // The manifest lacks the defaults of OpenYurt's webhook, and kubectl's patch replaces the whole list of containers.
  Json manifest = OpenYurts("web");
  manifest["apiVersion"] = kYurtAppDaemonType.ApiVersion();
  manifest["kind"] = kYurtAppDaemonType.kind;
  Json& pod = manifest["spec"]["workloadTemplate"]["deploymentTemplate"]["spec"]["template"]["spec"];
  pod["containers"][0] =
      R"({"name": "main", "image": "example.org/app:1", "imagePullPolicy": "IfNotPresent",
          "ports": [{"containerPort": 80}], "resources": {"requests": {"cpu": "10m"}}})"_json;
  for (const char* field : {"dnsPolicy", "restartPolicy", "terminationGracePeriodSeconds"}) pod.erase(field);
  Kubectl({"apply", "-f", "-"}, manifest.dump());
  const Json applied = WaitUntilObserved("web");
  ASSERT_EQ(At(applied, "/spec/workloadTemplate/deploymentTemplate/spec/template/spec/containers/0"),
            pod["containers"][0]);
  Barrier();
  ExpectUntouched("web", before);
  EXPECT_EQ(At(GetDaemon("web"), "/status/updateRevision"), OpenYurtRevisions("web").back());
  EXPECT_EQ(History("web").size(), 2U);

  // This revision changes only the replicas of one pool, and no pod template.
  PatchSpec("web", {{"overrides", Json::array({{{"pools", {Pool("b")}}, {"replicas", 2}}})}});
  Eventually("the workload has 2 replicas", [&] { return At(WorkloadOf("web", Pool("b")), "/spec/replicas") == 2; });
  WaitUntilReady("web");
  Barrier();
  for (const auto& [pool, workload] : ByPool("web")) {
    EXPECT_EQ(PodTemplate(workload), PodTemplate(before.at(pool))) << pool;
  }
  EXPECT_EQ(replica_sets(), sets);
  for (const std::string& uid : pods) EXPECT_TRUE(Pods().contains(uid));
}

TEST_F(TakeoverTest, AnEditedWorkloadIsRepairedByTheRulesOfOpenYurt) {
  AddThreePools();
  MakeOpenYurtState(kube(), OpenYurts("web"), pool_objects());
  const auto before = Remember("web");
  const std::string edited = Pool("b");
  kube().Edit(type(), OpenYurtName("web", edited), [](Json& workload) {
    workload["spec"]["template"]["spec"]["containers"][0]["image"] = "example.org/evil:1";
    workload["spec"]["replicas"] = 3;
  });
  StartOperator();
  Eventually("the workload is repaired",
             [&] { return At(WorkloadOf("web", edited), "/spec") == At(before.at(edited), "/spec"); });
  WaitUntilReady("web");
  for (const std::string& pool : {Pool("a"), Pool("c")}) {
    EXPECT_EQ(At(WorkloadOf("web", pool), "/metadata/generation"), 1) << pool;
  }
  EXPECT_EQ(History("web").size(), 2U);
}

TEST_F(TakeoverTest, RunningOneOfTwoOpenYurtWorkloadsOfAPoolIsKept) {
  MakeClusterOfOpenYurt();
  const auto before = Remember("web");
  const auto pods = Pods();
  for (const char* suffix : {"a", "b"}) AddOpenYurtDuplicate(kube(), "web", Pool(suffix));
  StartOperator();
  Eventually("each pool has one workload", [&] { return kube().List(type()).size() == 3; });
  WaitUntilReady("web");
  ExpectUntouched("web", before);
  Eventually("the pods of the removed workloads are gone", [&] { return Pods() == pods; });
  Eventually("an event reports the removed duplicate", [&] {
    for (const Json& event : EventsAbout("web")) {
      if (StringAt(event, {"reason"}) == "DuplicateRemoved") return true;
    }
    return false;
  });
}

TEST_F(TakeoverTest, OrphaningAndAdoptionRestartNoPodAndKeepTheOldRevisions) {
  MakeClusterOfOpenYurt();
  StartOperator();
  WaitUntilReady("web");
  const auto before = Remember("web");
  const auto pods = Pods();
  const auto history = History("web");
  std::set<std::string> revisions;
  for (const Json& revision : Revisions("web")) revisions.insert(UidOf(revision));

  Orphan("web");
  EXPECT_EQ(kube().List(type()).size(), 3U);
  for (const Json& workload : kube().List(type())) EXPECT_EQ(At(workload, "/metadata/ownerReferences"), Json());
  CreateDaemon(OpenYurts("web"));
  WaitUntilReady("web");
  ExpectUntouched("web", before);
  EXPECT_EQ(Pods(), pods);
  EXPECT_EQ(History("web"), history);
  for (const Json& revision : Revisions("web")) EXPECT_EQ(revisions.count(UidOf(revision)), 1U) << NameOf(revision);

  SetImage("web", "example.org/app:0");
  Eventually("all workloads have the oldest image", [&] {
    for (const auto& [pool, workload] : ByPool("web")) {
      if (ImageOf(workload) != "example.org/app:0") return false;
    }
    return true;
  });
  WaitUntilReady("web");
  EXPECT_EQ(History("web"), (std::map<std::int64_t, std::string>{{2, "example.org/app:1"}, {3, "example.org/app:0"}}));
}

// Kills the operator after one of the writes of a takeover. The next process must complete the takeover:
// - The specs of the workloads and the history stay.
// - One workload of each pool stays.
//
// YAD_ALL=1 tests a kill after each write, and YAD_CRASH_AT=3 only a kill after the third write.
class TakeoverCrashTest : public Gated<TakeoverTest> {
 protected:
  // Runs a takeover, and kills the operator after write number `at` (0: never). Returns the number of writes.
  int Play(int at) {
    const std::string daemon = "web-" + std::to_string(at);
    MakeOpenYurtState(kube(), OpenYurts(daemon, 0), pool_objects());
    for (const std::string& pool : PoolNames()) {
      Eventually("the Deployment controller has observed the workload",
                 [&] { return At(kube().Get(type(), OpenYurtName(daemon, pool)), "/status/observedGeneration") == 1; });
    }
    const auto before = Remember(daemon);
    AddOpenYurtDuplicate(kube(), daemon, Pool("b"));
    kube().MergePatch(type(), OpenYurtName(daemon, Pool("c")), {{"metadata", {{"labels", {{"app", "edited"}}}}}});

    gate_.Hold();
    StartOperator();
    gate_.Arm(op().pid(), at);
    const auto why_not = [&]() -> std::string {
      const Json object = GetDaemon(daemon);
      if (ConditionStatus(object, "Ready") != "True") return "not Ready: " + At(object, "/status").dump();
      if (At(object, "/status/currentRevision") != OpenYurtRevisions(daemon).back()) return "not current";
      std::map<std::string, Json> workloads;
      for (const Json& workload : Workloads(daemon)) {
        if (!workloads.emplace(Annotation(workload, kRefNodePoolAnnotation), workload).second)
          return "a pool has two workloads";
      }
      for (const auto& [pool, was] : before) {
        if (!workloads.contains(pool)) return "no workload in pool " + pool;
        if (UidOf(workloads[pool]) != UidOf(was) && pool != Pool("b"))
          return "the workload was recreated in pool " + pool;
        if (At(workloads[pool], "/metadata/generation") != 1) return "the workload of pool " + pool + " was written";
        if (Label(workloads[pool], "app") != daemon) return "the label is not repaired in pool " + pool;
      }
      const std::map<std::int64_t, std::string> history = {{1, "example.org/app:0"}, {2, "example.org/app:1"}};
      return History(daemon) == history ? "" : "the history is another";
    };
    Eventually("the operator was killed, or the cluster has the expected state",
               [&] { return gate_.killed() ? std::string() : why_not(); });
    const int count = gate_.Disarm();
    if (gate_.killed()) StartAgain();
    Eventually("the cluster has the expected state", why_not);
    const std::size_t writes = WritesSince({}).size();
    Barrier();
    for (const AuditedRequest& write : WritesSince({})) {
      if (write.verb == "delete" && write.resource == type().resource) {
        EXPECT_TRUE(write.name.starts_with("web-") && write.name.find(Pool("b")) != std::string::npos) << write.name;
      }
    }
    std::vector<AuditedRequest> late = WritesSince({});
    late.erase(late.begin(), late.begin() + static_cast<std::ptrdiff_t>(writes));
    // The operator sends Events in the background, so they may be late.
    std::erase_if(late, [](const AuditedRequest& write) {
      return write.resource == "events" || write.name.starts_with("barrier-");
    });
    EXPECT_TRUE(late.empty()) << ToString(late);
    KillOperator();
    Orphan(daemon);  // the workloads stay without an owner, and must not affect the next run
    return count;
  }
};

TEST_F(TakeoverCrashTest, RestartAfterAKillAtAnyWriteReachesTheSameState) {
  AddThreePools();
  if (const char* at = std::getenv("YAD_CRASH_AT")) {
    Play(std::atoi(at));
    return;
  }
  const int writes = Play(0);
  EXPECT_GE(writes, 5) << "two revisions labelled, a label repaired, a duplicate removed, a status";
  for (int at = 1; at <= writes; ++at) {
    if (!RunsEverything() && at % 3 != 1 && at != writes) continue;
    SCOPED_TRACE("YAD_CRASH_AT=" + std::to_string(at));
    Play(at);
  }
  std::cout << "[   points ] " << writes << " writes\n";
}

}  // namespace
}  // namespace yad::testing
