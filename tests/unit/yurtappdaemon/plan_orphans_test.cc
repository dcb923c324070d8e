// The plan for workloads that the operator did not create: OpenYurt's workloads, duplicates and orphans.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/yurtappdaemon/plan/plan.h"
#include "tests/unit/yurtappdaemon/builders.h"
#include "tests/unit/yurtappdaemon/plan_builders.h"

namespace yad::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// ---- workloads of OpenYurt ----

TEST(PlanTest, KeepsOpenYurtsRenderingUntilTheNextRevision) {
  Json daemon = DaemonJson("app:1");
  PodSpecOf(TemplateOf(daemon))["nodeSelector"] = {{"disk", "ssd"}};
  PodSpecOf(TemplateOf(daemon))["tolerations"] = R"([{"key": "mine", "operator": "Exists"}])"_json;
  PodSpecOf(TemplateOf(daemon))["affinity"] =
      R"({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "Exists"}]}]}}})"_json;
  const Json pool = PoolJson("a", {"x"});
  ClusterObjects objects{.daemon = daemon, .pools = {pool}};
  objects.workloads = {OpenYurtWorkloadJson(daemon, objects.update(), pool)};
  EXPECT_EQ(OnePool(objects).action, WorkloadAction::kNone);

  // A changed workload is repaired by OpenYurt's rules, because these rules rendered it.
  const Json whole = objects.workloads[0];
  PodSpecOf(objects.workloads[0])["containers"][0]["image"] = "evil:1";
  PoolPlan plan = OnePool(objects);
  EXPECT_EQ(plan.action, WorkloadAction::kRepair);
  EXPECT_EQ(Put(objects, plan), whole);

  // A new taint of the pool updates the workload by the same rules.
  objects.workloads = {whole};
  objects.pools = {PoolJson("a", {"x", "y"})};
  plan = OnePool(objects);
  EXPECT_EQ(plan.action, WorkloadAction::kUpdate);
  Json put = Put(objects, plan);
  EXPECT_EQ(put["spec"]["template"]["metadata"], whole["spec"]["template"]["metadata"]);
  EXPECT_EQ(PodSpecOf(put)["tolerations"].size(), 3U);
  EXPECT_FALSE(PodSpecOf(put)["nodeSelector"].contains("disk"));

  // The next revision is rendered by the operator's rules; the workload keeps its name.
  objects.pools = {pool};
  objects.current = objects.update();
  PodSpecOf(TemplateOf(objects.daemon))["containers"][0]["image"] = "app:2";
  plan = OnePool(objects);
  EXPECT_EQ(plan.action, WorkloadAction::kUpdate);
  put = Put(objects, plan);
  EXPECT_EQ(put["metadata"]["name"], whole["metadata"]["name"]);
  EXPECT_FALSE(put["spec"]["template"]["metadata"]["labels"].contains(kRevisionLabel));
  EXPECT_EQ(PodSpecOf(put)["nodeSelector"]["disk"], "ssd");
  EXPECT_TRUE(PodSpecOf(put)["affinity"]["nodeAffinity"].contains("requiredDuringSchedulingIgnoredDuringExecution"));
}

// ---- duplicates and orphans ----

Json Second(Json workload, const char* suffix, const char* created, std::int64_t available) {
  workload["metadata"]["name"] = StringAt(workload, {"metadata", "name"}) + suffix;
  workload["metadata"]["uid"] = StringAt(workload, {"metadata", "uid"}) + suffix;
  workload["metadata"]["creationTimestamp"] = created;
  workload["status"]["availableReplicas"] = available;
  workload["status"]["conditions"][0]["status"] = available > 0 ? "True" : "False";
  return workload;
}

TEST(PlanTest, TheMostAvailableAndThenTheOldestOfSeveralWorkloadsIsKept) {
  ClusterObjects objects{.pools = {PoolJson("a")}};
  const Json base = objects.Deployed().workloads[0];
  const Json older = Second(base, "-older", "2026-01-01T00:00:00Z", 1);
  const Json younger = Second(base, "-younger", "2026-01-01T00:00:05Z", 1);
  const Json down = Second(base, "-down", "2025-01-01T00:00:00Z", 0);
  const auto kept = [&](std::vector<Json> workloads) {
    objects.workloads = std::move(workloads);
    return OnePool(objects).workload->object->meta().key.name;
  };
  EXPECT_THAT(kept({younger, down, older}), HasSubstr("-older"));
  EXPECT_THAT(kept({older, younger}), HasSubstr("-older"));
  EXPECT_THAT(kept({down, younger}), HasSubstr("-younger"));
  Json going = older;
  going["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z";
  EXPECT_THAT(kept({going, down}), HasSubstr("-down"));
}

TEST(PlanTest, DuplicatesAreRemovedWhenTheOtherWorkloadIsAvailable) {
  ClusterObjects objects{.pools = {PoolJson("a")}};
  const Json base = objects.Deployed().workloads[0];
  objects.workloads = {Second(base, "-1", "2026-01-01T00:00:00Z", 0), Second(base, "-2", "2026-01-01T00:00:05Z", 0)};
  EXPECT_THAT(PlanOf(objects).removals, IsEmpty());
  objects.workloads[1] = Second(base, "-2", "2026-01-01T00:00:05Z", 1);
  const Plan plan = PlanOf(objects);
  ASSERT_THAT(plan.removals, SizeIs(1));
  EXPECT_THAT(plan.removals[0].workload.object->meta().key.name, HasSubstr("-1"));
  ASSERT_TRUE(plan.removals[0].kept);
  EXPECT_THAT(plan.removals[0].kept->object->meta().key.name, HasSubstr("-2"));
}

// Returns objects with an orphan of the same revision, which an earlier daemon of this name left (--cascade=orphan).
ClusterObjects WithOrphan() {
  ClusterObjects objects{.pools = {PoolJson("a")}};
  Json earlier = objects.daemon;
  earlier["metadata"]["uid"] = "uid-of-the-earlier-web";
  objects.orphans = {WorkloadJson(earlier, objects.update(), objects.pools[0])};
  objects.orphans[0]["metadata"].erase("ownerReferences");
  return objects;
}

TEST(PlanTest, OrphanThatEqualsItsRenderingIsAdopted) {
  ClusterObjects objects = WithOrphan();
  PoolPlan pool = OnePool(objects);
  ASSERT_EQ(pool.action, WorkloadAction::kAdopt);
  Json expected = objects.orphans[0];
  expected["metadata"]["ownerReferences"] =
      WorkloadJson(objects.daemon, objects.update(), objects.pools[0])["metadata"]["ownerReferences"];
  EXPECT_EQ(Put(objects, pool), expected);

  objects.orphans[0] = OpenYurtWorkloadJson(objects.daemon, objects.update(), objects.pools[0]);
  objects.orphans[0]["metadata"].erase("ownerReferences");
  EXPECT_EQ(OnePool(objects).action, WorkloadAction::kAdopt) << "the orphan has a name that OpenYurt generated";
}

TEST(PlanTest, AdoptsAnOrphanWhoseLongNameIsOfAnOlderVersion) {
  const std::string pool = "country-cn-region-hangzhou-00042-site-edge-production-cluster";
  ClusterObjects objects{.pools = {PoolJson(pool)}};
  Json earlier = objects.daemon;
  earlier["metadata"]["uid"] = "uid-of-the-earlier-web";
  objects.orphans = {WorkloadJson(earlier, objects.update(), objects.pools[0])};
  objects.orphans[0]["metadata"].erase("ownerReferences");
  EXPECT_EQ(OnePool(objects).action, WorkloadAction::kAdopt);
  objects.orphans[0]["metadata"]["name"] =
      NameOfOlderVersion("web", "uid-of-the-earlier-web", pool, WorkloadKind::kDeployment);
  EXPECT_EQ(OnePool(objects).action, WorkloadAction::kAdopt);
  objects.orphans[0]["metadata"]["name"] = ("web-" + pool).substr(0, 58) + "x7k2p";
  EXPECT_EQ(OnePool(objects).action, WorkloadAction::kAdopt) << "the orphan has a name that OpenYurt generated";
  objects.orphans[0]["metadata"]["name"] = "web-country";
  EXPECT_EQ(OnePool(objects).action, WorkloadAction::kCreate);
}

TEST(PlanTest, OrphanThatIsBeingDeletedOrHasAnotherNamePoolOrSelectorIsNotAdopted) {
  const std::pair<const char*, void (*)(Json&)> cases[] = {
      {"another name", [](Json& o) { o["metadata"]["name"] = "mine"; }},
      {"a name that only begins like ours", [](Json& o) { o["metadata"]["name"] = "web-ab-12345"; }},
      {"another ref-nodepool", [](Json& o) { o["metadata"]["annotations"][kRefNodePoolAnnotation] = "b"; }},
      {"no ref-nodepool", [](Json& o) { o["metadata"]["annotations"].erase(kRefNodePoolAnnotation); }},
      {"another selector", [](Json& o) { o["spec"]["selector"]["matchLabels"]["app"] = "other"; }},
      {"a wider selector", [](Json& o) { o["spec"]["selector"]["matchLabels"].erase("app"); }},
      {"being deleted", [](Json& o) { o["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z"; }},
  };
  for (const auto& [what, spoil] : cases) {
    ClusterObjects objects = WithOrphan();
    spoil(objects.orphans[0]);
    EXPECT_EQ(OnePool(objects).action, WorkloadAction::kCreate) << what;
  }
}

TEST(PlanTest, OrphanIsNotAdoptedIfThePoolHasAWorkload) {
  ClusterObjects objects = WithOrphan();
  objects.Deployed();
  EXPECT_EQ(OnePool(objects).action, WorkloadAction::kNone);
}

TEST(PlanTest, AnOrphanOfAnUnknownRevisionIsAdoptedUnchangedWhilePaused) {
  ClusterObjects objects = WithOrphan();
  objects.daemon = Paused(DaemonJson("app:2"));
  objects.current = objects.update();
  PoolPlan pool = OnePool(objects);
  EXPECT_EQ(pool.action, WorkloadAction::kAdopt);
  const Json put = Put(objects, pool);
  EXPECT_EQ(put["spec"], objects.orphans[0]["spec"]);
  EXPECT_EQ(put["metadata"]["labels"], objects.orphans[0]["metadata"]["labels"]);
  EXPECT_EQ(put["metadata"]["ownerReferences"][0]["uid"], kDaemonUid);
}

TEST(PlanTest, OwnOwnerReferenceBecomesTheControllerReference) {
  ClusterObjects objects = WithOrphan();
  objects.orphans[0]["metadata"]["ownerReferences"] =
      WorkloadJson(objects.daemon, objects.update(), objects.pools[0])["metadata"]["ownerReferences"];
  objects.orphans[0]["metadata"]["ownerReferences"][0]["controller"] = false;
  const Json put = Put(objects, OnePool(objects));
  ASSERT_THAT(put["metadata"]["ownerReferences"], SizeIs(1));
  EXPECT_EQ(put["metadata"]["ownerReferences"][0]["controller"], true);
}

}  // namespace
}  // namespace yad::testing
