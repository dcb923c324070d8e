// The data of the dashboard's page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/dashboard/daemon_model.h"
#include "plugin/dashboard/daemon_timeline.h"
#include "plugin/dashboard/fleet_model.h"
#include "plugin/dashboard/pool_model.h"
#include "tests/unit/yurtappdaemon/builders.h"

namespace yad {
namespace {

using testing::DaemonJson;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeRevision;
using testing::PoolJson;
using testing::WorkloadJson;

const WallTime kNow = ParseTime("2026-01-02T03:04:05Z");

Json Progressing(const std::string& status, const std::string& reason, const std::string& message = "") {
  return {{"type", "Progressing"}, {"status", status}, {"reason", reason}, {"message", message}};
}

// A daemon ns/web with image app:1. Its pools still run app:0 when a test begins.
class DashboardModelTest : public ::testing::Test {
 protected:
  void Deploy(const std::vector<std::string>& pools, const Json& rolling) {
    objects_.daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", rolling}};
    objects_.current = before_;
    objects_.daemon["status"] = {{"observedGeneration", 1},
                                 {"updateRevision", objects_.update()->name},
                                 {"currentRevision", before_->name},
                                 {"desiredPools", pools.size()},
                                 {"pools", Json::array()},
                                 {"conditions", Json::array({Progressing("True", "RollingOut", "1 of 3 pools")})}};
    for (const std::string& pool : pools) {
      objects_.pools.push_back(PoolJson(pool));
      objects_.workloads.push_back(WorkloadJson(DaemonJson("app:0"), before_, objects_.pools.back()));
    }
  }
  // Adds an entry to status.pools.
  void List(const std::string& pool, const std::string& phase, bool updated, Json more = Json::object()) {
    more["name"] = pool;
    more["workload"] = "web-" + pool;
    more["phase"] = phase;
    more["revision"] = updated ? objects_.update()->name : before_->name;
    more["lastTransitionTime"] = "2026-01-02T03:00:00Z";
    objects_.daemon["status"]["pools"].push_back(std::move(more));
  }
  ShownDaemonPtr State(const ShownDaemon* before = nullptr) {
    Snapshot snapshot = objects_.Take();
    snapshot.now = kNow;
    planned_ = PlanForDisplay(std::move(snapshot), memo_);
    pools_ = DisplayedPools(objects_.daemon, planned_.get());
    DaemonInput input;
    input.object = objects_.daemon;
    input.planned = planned_.get();
    input.now = kNow;
    input.undo_to = 7;
    return MakeShownDaemon(input, pools_, before);
  }
  Json Head() { return Json::parse(State()->head); }
  Json Pool(const std::string& name) {
    const ShownDaemonPtr state = State();
    for (const auto& pool : state->pools) {
      if (pool->facts.name == name) return Json::parse(pool->json);
    }
    return nullptr;
  }

  testing::ClusterObjects objects_{DaemonJson("app:1")};
  RevisionPtr before_ = MakeRevision(DaemonJson("app:0"), 1);
  PlanMemo memo_;
  std::unique_ptr<const PlannedSnapshot> planned_;
  std::vector<PoolFacts> pools_;
};

constexpr char kGroups[] =
    R"({"minReadySeconds": 300, "maxUnavailable": "50%",
        "groups": [{"name": "canary", "pools": ["c"]}, {"name": "north", "pools": ["a"], "approval": "Manual"}]})";

TEST_F(DashboardModelTest, FleetEntryHasTheCountsAndTheStateOfTheRollout) {
  Deploy({"a", "b", "c"}, Json::parse(kGroups));
  Json& status = objects_.daemon["status"];
  status.update({{"updatedPools", 1}, {"readyPools", 2}, {"failedPools", 1}, {"offlinePools", 0}});
  const Json entry = FleetEntry(objects_.daemon);
  EXPECT_EQ(entry["kind"], "Deployment");
  EXPECT_EQ(entry["pools"], 3);
  EXPECT_EQ(entry["unavailable"], 1);
  EXPECT_EQ(entry["state"], "Progressing");
  EXPECT_EQ(entry["message"], "1 of 3 pools");
  const auto state_with = [&](const Json& condition) {
    status["conditions"] = Json::array({condition});
    return FleetEntry(objects_.daemon)["state"].get<std::string>();
  };
  EXPECT_EQ(state_with(Progressing("Unknown", "WaitingForApproval")), "Waiting");
  EXPECT_EQ(state_with(Progressing("False", "FailureBudgetExceeded")), "Stopped");
  EXPECT_EQ(state_with(Progressing("True", "RolloutComplete")), "Complete");
  objects_.daemon["spec"]["paused"] = true;
  EXPECT_EQ(state_with(Progressing("Unknown", "Paused")), "Paused");
  objects_.daemon["metadata"]["generation"] = 2;
  EXPECT_EQ(state_with(Progressing("True", "RolloutComplete")), "Unknown");
}

TEST_F(DashboardModelTest, FleetHasTheFreezeOrTheReasonWhyItIsNotKnown) {
  const Freeze freeze{"end of year", ParseTime("2027-01-04T06:00:00Z"), true};
  const Json frozen = MakeFleet("edge", "shop", freeze, {});
  EXPECT_EQ(frozen["freeze"], Json({{"reason", "end of year"}, {"until", "2027-01-04T06:00:00Z"}}));
  EXPECT_EQ(frozen["warnings"], Json::array());
  const Json unknown = MakeFleet("edge", "", Fail(Reason::kForbidden, "may not"), {});
  EXPECT_EQ(unknown["freeze"], Json());
  EXPECT_EQ(unknown["warnings"], Json::array({"may not"}));
}

TEST_F(DashboardModelTest, GroupsHaveStateAndApprovalAndEndOfSoak) {
  Deploy({"a", "b", "c"}, Json::parse(kGroups));
  objects_.workloads[2] = WorkloadJson(objects_.daemon, objects_.update(), objects_.pools[2]);
  List("c", "Soaking", true);
  const Json soaking = Head()["groups"];
  ASSERT_EQ(soaking.size(), 3u);
  EXPECT_EQ(soaking[0]["name"], "canary");
  EXPECT_EQ(soaking[0]["state"], "Soaking");
  EXPECT_EQ(soaking[0]["soakEnds"], "2026-01-02T03:05:00Z");
  EXPECT_EQ(Head()["nextChange"], "2026-01-02T03:05:00Z");
  EXPECT_EQ(soaking[0]["maxUnavailable"], "50%");
  EXPECT_EQ(soaking[1]["approval"], "Required");
  EXPECT_EQ(soaking[1]["state"], "NotBegun");
  EXPECT_EQ(soaking[2]["name"], "");

  objects_.daemon["status"]["pools"][0]["phase"] = "Ready";
  const Json waiting = Head()["groups"];
  EXPECT_EQ(waiting[0]["state"], "Done");
  EXPECT_EQ(waiting[1]["approval"], "Waiting");
  EXPECT_EQ(waiting[1]["state"], "WaitingForApproval");

  objects_.daemon["metadata"]["annotations"]["apps.openyurt.io/approve"] = objects_.update()->name + "/north";
  EXPECT_EQ(Head()["groups"][1]["approval"], "Given");
}

TEST_F(DashboardModelTest, StartedGroupWithAFailureIsShownAsStopped) {
  Deploy({"a", "b", "c"}, Json::parse(kGroups));
  objects_.workloads[2] = WorkloadJson(objects_.daemon, objects_.update(), objects_.pools[2]);
  objects_.workloads[2]["status"]["readyReplicas"] = objects_.workloads[2]["status"]["availableReplicas"] = 0;
  List("c", "Failed", true, {{"reason", "ProgressDeadlineExceeded"}, {"unhealthySeconds", 601}});
  const Json groups = Head()["groups"];
  EXPECT_EQ(groups[0]["state"], "Stopped");
  EXPECT_EQ(groups[0]["failed"], 1);
  EXPECT_EQ(groups[1]["state"], "NotBegun");
}

TEST_F(DashboardModelTest, StateOfAPoolThatStatusOmitsIsDerivedFromItsWorkload) {
  Deploy({"a", "b", "c"}, Json::parse(kGroups));
  objects_.pools[1]["status"] = {{"readyNodeNum", 0}, {"unreadyNodeNum", 1}};
  objects_.pools[0]["metadata"]["labels"] = {{"region", "north"}};
  objects_.daemon["status"]["poolsTruncated"] = true;
  List("c", "Updating", true, {{"message", "<b>bold</b>"}});
  EXPECT_EQ(Head()["undoTo"], 7);
  const Json listed = Pool("c");
  EXPECT_EQ(listed["derived"], false);
  EXPECT_EQ(listed["current"], true);
  EXPECT_EQ(listed["message"], "<b>bold</b>");
  const Json ready = Pool("a");
  EXPECT_EQ(ready["derived"], true);
  EXPECT_EQ(ready["phase"], "Ready");
  EXPECT_EQ(ready["current"], false);
  EXPECT_EQ(ready["group"], "north");
  EXPECT_EQ(ready["labels"], Json({{"region", "north"}}));
  EXPECT_EQ(ready["readyReplicas"], 1);
  EXPECT_EQ(ready["since"], Json());
  EXPECT_EQ(Pool("b")["phase"], "Offline");
}

TEST_F(DashboardModelTest, PoolThatBothRevisionsRenderAlikeIsCurrent) {
  const auto with_override = [](Json daemon) {
    daemon["spec"]["overrides"] = R"([{"pools": ["a"], "images": [{"name": "main", "image": "app:9"}]}])"_json;
    return daemon;
  };
  const Json old = with_override(DaemonJson("app:0"));
  objects_.daemon = with_override(objects_.daemon);
  before_ = MakeRevision(old, 1);
  Deploy({"a", "b"}, R"({"groups": [{"name": "canary", "pools": ["a"]}]})"_json);
  for (std::size_t i = 0; i < 2; ++i) objects_.workloads[i] = WorkloadJson(old, before_, objects_.pools[i]);
  for (const char* pool : {"a", "b"}) List(pool, "Ready", false);
  EXPECT_EQ(Pool("a")["current"], true);
  EXPECT_EQ(Pool("a")["revision"], before_->name) << "the operator does not write the workload";
  EXPECT_EQ(Pool("b")["current"], false);
  EXPECT_EQ(Head()["groups"][0]["state"], "Done");

  objects_.daemon["status"]["updateRevision"] = before_->name;
  EXPECT_EQ(Pool("b")["current"], true);
}

TEST_F(DashboardModelTest, OnlyPoolsInStatusAreShownWithoutThePermissionToReadWorkloads) {
  Deploy({"a", "b"}, Json::object());
  List("a", "Ready", false);
  const auto pools = DisplayedPools(objects_.daemon, nullptr);
  ASSERT_EQ(pools.size(), 1u);
  DaemonInput input;
  input.object = objects_.daemon;
  input.warnings = {"workloads can't be read"};
  const Json head = Json::parse(MakeShownDaemon(input, pools, nullptr)->head);
  EXPECT_EQ(head["groups"], Json::array());
  EXPECT_EQ(head["warnings"], Json::array({"workloads can't be read"}));
  EXPECT_THAT(head["template"].get<std::string>(), HasSubstr("image: app:1"));
}

TEST_F(DashboardModelTest, BlockedRemovalsAreAWarningAndInTheFleet) {
  Deploy({"a"}, Json::object());
  EXPECT_EQ(Head()["warnings"], Json::array());
  EXPECT_EQ(FleetEntry(objects_.daemon)["removalsBlocked"], "");
  objects_.daemon["status"]["conditions"].push_back(
      {{"type", "RemovalBlocked"}, {"status", "True"}, {"message", "not removed"}});
  EXPECT_EQ(Head()["warnings"], Json::array({"not removed"}));
  EXPECT_EQ(FleetEntry(objects_.daemon)["removalsBlocked"], "not removed");
}

TEST_F(DashboardModelTest, UpdateHasOnlyTheChangedPoolsUnlessTheirOrderChanges) {
  Deploy({"a", "b", "c"}, Json::object());
  const ShownDaemonPtr first = State();
  const Json all = Json::parse(PoolsChange(nullptr, *first));
  EXPECT_EQ(all["reset"], true);
  EXPECT_EQ(all["order"], Json::array({"a", "b", "c"}));
  EXPECT_EQ(all["pools"].size(), 3u);

  const ShownDaemonPtr same = State(first.get());
  EXPECT_EQ(PoolsChange(first.get(), *same), "");
  EXPECT_EQ(same->pools[0], first->pools[0]);  // both states share one object

  List("b", "Updating", true);
  const ShownDaemonPtr changed = State(same.get());
  const Json change = Json::parse(PoolsChange(same.get(), *changed));
  EXPECT_EQ(change["reset"], false);
  EXPECT_FALSE(change.contains("order"));
  ASSERT_EQ(change["pools"].size(), 1u);
  EXPECT_EQ(change["pools"][0]["name"], "b");

  objects_.pools.erase(objects_.pools.begin());
  objects_.workloads.erase(objects_.workloads.begin());
  const Json reset = Json::parse(PoolsChange(changed.get(), *State(changed.get())));
  EXPECT_EQ(reset["order"], Json::array({"b", "c"}));
  EXPECT_EQ(reset["pools"].size(), 2u);
}

PoolFacts Facts(const std::string& name, const std::string& phase, const std::string& revision = "web-1") {
  PoolFacts pool;
  pool.name = name;
  pool.phase = phase;
  pool.revision = revision;
  return pool;
}

std::vector<std::string> Texts(const std::vector<TimelineEntry>& entries) {
  std::vector<std::string> texts;
  for (const TimelineEntry& entry : entries) texts.push_back(entry.what);
  return texts;
}

TEST(DashboardTimelineTest, EqualChangesOfManyPoolsAreShownAsOneEntry) {
  const DaemonMoment before{
      "web-1", "RolloutComplete", "", {Facts("a", "Ready"), Facts("b", "Ready"), Facts("c", "Ready")}};
  DaemonMoment after = before;
  EXPECT_THAT(ChangesBetween(before, after, kNow), IsEmpty());
  after.revision = "web-2";
  after.progress = "RollingOut";
  after.pools = {Facts("a", "Updating", "web-2"), Facts("b", "Updating", "web-2"), Facts("d", "Pending", "")};
  EXPECT_THAT(Texts(ChangesBetween(before, after, kNow)),
              ElementsAre("the spec has the new revision web-2", "2 pools (a, b) get web-2", "pool d joins",
                          "pool c leaves", "RollingOut"));
  DaemonMoment failed = after;
  failed.pools[0].phase = "Failed";
  failed.pools[0].reason = "CheckFailed";
  EXPECT_THAT(Texts(ChangesBetween(after, failed, kNow)), ElementsAre("pool a is Failed (CheckFailed)"));
}

TEST(DashboardTimelineTest, ListIsNewestFirstAndHasALimit) {
  std::vector<TimelineEntry> old, news;
  for (int i = 0; i < 40; ++i) old.push_back({kNow + std::chrono::seconds(i), "old " + std::to_string(i)});
  for (int i = 0; i < 40; ++i) news.push_back({kNow + std::chrono::seconds(i), "new " + std::to_string(i)});
  const auto joined = JoinTimelines(news, old);
  EXPECT_EQ(joined.size(), kMaxTimeline);
  EXPECT_EQ(joined.front().at, kNow + std::chrono::seconds(39));
}

TEST(DashboardTimelineTest, EventAboutAListedChangeAddsNoSecondEntry) {
  const TimelineEntry seen{kNow, "RollingOut: 1 of 2"};
  const TimelineEntry event{kNow - std::chrono::seconds(1), "RollingOut: 1 of 2"};
  const TimelineEntry earlier{kNow - std::chrono::minutes(1), "RollingOut: 1 of 2"};
  EXPECT_THAT(JoinTimelines({seen}, {event, earlier}), ElementsAre(seen, earlier));
}

}  // namespace
}  // namespace yad
