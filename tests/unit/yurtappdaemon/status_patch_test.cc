// The patches of status, and the status of a daemon that is blocked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "operator/yurtappdaemon/report/status.h"
#include "tests/unit/yurtappdaemon/builders.h"
#include "tests/unit/yurtappdaemon/status_scene.h"

namespace yad::testing {
namespace {

using ::testing::HasSubstr;

TEST(StatusPatchTest, ContainsTheTopLevelFieldsThatDifferAndTheUid) {
  const Json before = {{"readyPools", 1}, {"replicas", 4}, {"theirs", true}, {"pools", {{{"name", "a"}}}}};
  Json after = before;
  after.erase("theirs");
  EXPECT_TRUE(PatchOf(before, after).is_null()) << "a field of another client stays";
  after["readyPools"] = 2;
  after["pools"] = Json::array();
  EXPECT_EQ(PatchOf(before, after),
            (Json{{"metadata", {{"uid", "u"}}}, {"status", {{"readyPools", 2}, {"pools", Json::array()}}}}));
  EXPECT_EQ(PatchOf(nullptr, {{"replicas", 0}})["status"], (Json{{"replicas", 0}}));
}

TEST(StatusPatchTest, ContainsTheWholeOfEachChangedListAndNoOtherList) {
  Scene scene = Deployed({PoolJson("a"), PoolJson("b")});
  const Json shown = scene.Status();
  scene.previous = shown;
  EXPECT_TRUE(PatchOf(shown, scene.Status()).is_null());
  for (const char* list : {"nodepools", "workloadSummary", "pools"}) {
    Json before = shown;
    std::swap(before[list][0], before[list][1]);
    const Json only = {{"metadata", {{"uid", "u"}}}, {"status", {{list, shown[list]}}}};
    EXPECT_EQ(PatchOf(before, shown), only);
    before.erase(list);
    EXPECT_EQ(PatchOf(before, shown), only);
  }
}

TEST(BlockedStatusTest, KeepsThePreviousStatusAndReportsTheReason) {
  const Scene scene = Deployed({PoolJson("a")});
  Json object = scene.objects.daemon;
  object["metadata"]["generation"] = 2;
  object["status"] = scene.Status();
  const Error error{Reason::kInvalid, "spec.x: Invalid value", 0, std::nullopt, {}};
  const Json status = BuildBlockedStatus(ParseMeta(object), object, "InvalidSpec", error, kLater);
  EXPECT_EQ(status["observedGeneration"], 2);
  EXPECT_EQ(status["pools"], object["status"]["pools"]);
  EXPECT_EQ(status["currentRevision"], object["status"]["currentRevision"]);
  EXPECT_EQ(ConditionReason(status, "WorkLoadFailure"), "True InvalidSpec");
  EXPECT_EQ(ConditionReason(status, "Ready"), "False InvalidSpec");
  EXPECT_EQ(ConditionReason(status, "Progressing"), "False InvalidSpec");
  EXPECT_THAT(StringAt(ConditionOf(status, "Ready"), {"message"}), HasSubstr("spec.x"));
  EXPECT_TRUE(ShowsBlocked(status, "InvalidSpec", error));
  EXPECT_FALSE(ShowsBlocked(object["status"], "InvalidSpec", error));

  object["status"] = status;
  EXPECT_EQ(BuildBlockedStatus(ParseMeta(object), object, "InvalidSpec", error, kLater + std::chrono::hours(1)),
            status);
}

TEST(BlockedStatusTest, HasTheRequiredFieldsIfThereWasNoStatus) {
  const Json object = DaemonJson("app:1", WorkloadKind::kStatefulSet);
  const Json status = BuildBlockedStatus(ParseMeta(object), object, "InvalidSpec", {}, kNow);
  EXPECT_EQ(status["currentRevision"], "");
  EXPECT_EQ(status["templateType"], "StatefulSet");
}

}  // namespace
}  // namespace yad::testing
