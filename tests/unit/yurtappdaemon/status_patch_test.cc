// The patches of status, and the status of a daemon that is blocked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <utility>

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
  EXPECT_TRUE(PatchOf(before, after).is_null()) << "a field of another writer stays";
  after["readyPools"] = 2;
  after["pools"] = Json::array();
  EXPECT_EQ(PatchOf(before, after),
            (Json{{"metadata", {{"uid", "u"}}}, {"status", {{"readyPools", 2}, {"pools", Json::array()}}}}));
  EXPECT_EQ(PatchOf(nullptr, {{"replicas", 0}})["status"], (Json{{"replicas", 0}}));
}

// The changes of a list of status, element by element. The patch from each changed status must hold that list alone.
class ListChanges {
 public:
  using PatchFrom = std::function<Json(const Json& before)>;

  ListChanges(Json shown, std::string list, PatchFrom patch_from)
      : shown_(std::move(shown)), list_(std::move(list)), patch_from_(std::move(patch_from)) {}

  void CheckWhole() {
    Json before = shown_;
    before[list_] = "text";
    Expect(before);
    before[list_] = Json::object();
    Expect(before);
    before[list_] = shown_[list_];
    before[list_].push_back(shown_[list_][0]);
    Expect(before);
    before[list_] = shown_[list_];
    std::swap(before[list_][0], before[list_][1]);
    Expect(before);
    before.erase(list_);
    Expect(before);
  }
  // Returns the members of the elements.
  std::set<std::string> CheckElements() {
    std::set<std::string> members;
    Json before = shown_;
    for (std::size_t i = 0; i < shown_[list_].size(); ++i) {
      for (const Json& other : {Json("other"), Json(7), Json(), Json::object()}) {
        before[list_] = shown_[list_];
        before[list_][i] = other;
        Expect(before);
        if (!shown_[list_][i].is_object()) continue;
        before[list_] = shown_[list_];
        before[list_][i]["more"] = other;
        Expect(before);
        for (const auto& [key, value] : shown_[list_][i].items()) {
          members.insert(key);
          before[list_] = shown_[list_];
          before[list_][i][key] = other;
          Expect(before);
          before[list_][i].erase(key);
          Expect(before);
        }
      }
    }
    return members;
  }

 private:
  void Expect(const Json& before) {
    const Json only = {{"metadata", {{"uid", "u"}}}, {"status", {{list_, shown_[list_]}}}};
    EXPECT_EQ(patch_from_(before), only) << before.value(list_, Json());
  }

  const Json shown_;
  const std::string list_;
  const PatchFrom patch_from_;
};

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
  std::set<std::string> members;
  for (const char* list : {"nodepools", "workloadSummary", "pools"}) {
    ListChanges changes(shown, list, patch_from);
    changes.CheckWhole();
    members.merge(changes.CheckElements());
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
