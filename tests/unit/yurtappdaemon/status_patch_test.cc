// The patches of status, and the status of a daemon that is blocked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/yurtappdaemon/report/status.h"
#include "tests/unit/yurtappdaemon/builders.h"
#include "tests/unit/yurtappdaemon/status_scene.h"

namespace yad::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(StatusPatchTest, HoldsTheTopLevelFieldsThatDifferAndTheUid) {
  const Json before = {{"readyPools", 1}, {"replicas", 4}, {"theirs", true}, {"pools", {{{"name", "a"}}}}};
  Json after = before;
  after.erase("theirs");
  EXPECT_TRUE(PatchOf(before, after).is_null()) << "a field of somebody else's stays";
  after["readyPools"] = 2;
  after["pools"] = Json::array();
  EXPECT_EQ(PatchOf(before, after),
            (Json{{"metadata", {{"uid", "u"}}}, {"status", {{"readyPools", 2}, {"pools", Json::array()}}}}));
  EXPECT_EQ(PatchOf(nullptr, {{"replicas", 0}})["status"], (Json{{"replicas", 0}}));
}

// The lists are compared without converting them to Json; a difference in any field must be written.
TEST(StatusPatchTest, HoldsAListInWhichAnythingDiffersAndNoOther) {
  Scene scene = Deployed({PoolJson("a"), PoolJson("b")});
  scene.adjust = [](PoolOutcome& result) {
    result.service = "web-svc";
    if (result.plan->pool != "b") return;
    result.failure_reason = "Invalid";
    result.failure_message = "no";
  };
  const Json shown = scene.Status();
  const auto patch_from = [&](const Json& before) {
    Json patch;
    scene.look = [&](const DaemonStatus& status) {
      patch = status.PatchFrom(before, "u");
      EXPECT_EQ(status.IsShownBy(before), patch.is_null());
    };
    scene.previous = shown;
    scene.Status();
    return patch;
  };
  EXPECT_TRUE(patch_from(shown).is_null());
  const auto expect = [&](const std::string& list, const Json& before) {
    const Json only = {{"metadata", {{"uid", "u"}}}, {"status", {{list, shown[list]}}}};
    EXPECT_EQ(patch_from(before), only) << before[list];
  };
  std::set<std::string> members;
  for (const char* list : {"nodepools", "workloadSummary", "pools"}) {
    Json before = shown;
    before[list] = "text";
    expect(list, before);
    before[list] = Json::object();
    expect(list, before);
    before[list] = shown[list];
    before[list].push_back(shown[list][0]);
    expect(list, before);
    before[list] = shown[list];
    std::swap(before[list][0], before[list][1]);
    expect(list, before);
    for (std::size_t i = 0; i < shown[list].size(); ++i) {
      for (const Json& other : {Json("other"), Json(7), Json(), Json::object()}) {
        before[list] = shown[list];
        before[list][i] = other;
        expect(list, before);
        if (!shown[list][i].is_object()) continue;
        before[list] = shown[list];
        before[list][i]["more"] = other;
        expect(list, before);
        for (const auto& [key, value] : shown[list][i].items()) {
          members.insert(key);
          before[list] = shown[list];
          before[list][i][key] = other;
          expect(list, before);
          before[list][i].erase(key);
          expect(list, before);
        }
      }
    }
    before.erase(list);
    const Json only = {{"metadata", {{"uid", "u"}}}, {"status", {{list, shown[list]}}}};
    EXPECT_EQ(patch_from(before), only);
  }
  EXPECT_THAT(members, SizeIs(13)) << "all that there can be";
}

TEST(BlockedStatusTest, KeepsThePreviousStatusAndReportsTheReason) {
  const Scene scene = Deployed({PoolJson("a")});
  Json object = scene.moment.daemon;
  object["metadata"]["generation"] = 2;
  object["status"] = scene.Status();
  const Error error{Reason::kInvalid, "spec.x: Invalid value", 0, std::nullopt, {}};
  const Json status = BuildBlockedStatus(ParseMeta(object), object, "InvalidSpec", error, kLater);
  EXPECT_EQ(status["observedGeneration"], 2);
  EXPECT_EQ(status["pools"], object["status"]["pools"]);
  EXPECT_EQ(status["currentRevision"], object["status"]["currentRevision"]);
  EXPECT_EQ(Says(status, "WorkLoadFailure"), "True InvalidSpec");
  EXPECT_EQ(Says(status, "Ready"), "False InvalidSpec");
  EXPECT_EQ(Says(status, "Progressing"), "False InvalidSpec");
  EXPECT_THAT(StringAt(ConditionOf(status, "Ready"), {"message"}), HasSubstr("spec.x"));
  EXPECT_TRUE(SaysBlocked(status, "InvalidSpec", error));
  EXPECT_FALSE(SaysBlocked(object["status"], "InvalidSpec", error));

  object["status"] = status;
  EXPECT_EQ(BuildBlockedStatus(ParseMeta(object), object, "InvalidSpec", error, kLater + std::chrono::hours(1)),
            status);
}

TEST(BlockedStatusTest, HasTheRequiredFieldsWhereThereWasNoStatus) {
  const Json object = DaemonJson("app:1", WorkloadKind::kStatefulSet);
  const Json status = BuildBlockedStatus(ParseMeta(object), object, "InvalidSpec", {}, kNow);
  EXPECT_EQ(status["currentRevision"], "");
  EXPECT_EQ(status["templateType"], "StatefulSet");
}

}  // namespace
}  // namespace yad::testing
