#include "operator/yurtappdaemon/report/rollout_notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kPrefix = "io.openyurt.apps.yurtappdaemon.rollout.";

// The notices about one daemon, which one process after another sends.
class RolloutNoticesTest : public ::testing::Test {
 protected:
  // Returns a status whose conditions Complete and Progressing have this reason since `second` of 2026-01-02T03:04.
  Json StatusOf(const std::string& reason, int second, const std::string& message = "") const {
    const std::string since = "2026-01-02T03:04:" + std::to_string(second) + "Z";
    const bool complete = reason == "RolloutComplete" || reason == "CompleteWithFailures";
    return {{"updateRevision", update_},
            {"currentRevision", complete ? update_ : current_},
            {"desiredPools", 3},
            {"conditions",
             {{{"type", "Complete"},
               {"status", complete ? "True" : "False"},
               {"reason", reason},
               {"message", message},
               {"lastTransitionTime", since}},
              {{"type", "Progressing"},
               {"status", "True"},
               {"reason", reason},
               {"message", message},
               {"lastTransitionTime", since}}}}};
  }
  // Changes the status. Returns the names of the notices about the change.
  std::vector<std::string> Become(Json status) {
    auto revision = std::make_shared<Revision>();
    revision->name = update_;
    revision->number = number_;
    Snapshot snapshot;
    snapshot.daemon.meta.key = {"shop", "web"};
    snapshot.daemon.meta.uid = "uid";
    snapshot.update = revision;
    snapshot.now = now_;
    const std::size_t before = sent_.size();
    ReportNotices([this](const CloudEvent& event) { sent_.push_back(event); }, snapshot, {}, status_, status, memory_);
    status_ = std::move(status);
    std::vector<std::string> names;
    for (std::size_t i = before; i < sent_.size(); ++i) names.push_back(sent_[i].type.substr(kPrefix.size()));
    return names;
  }
  std::vector<std::string> Become(const std::string& reason, int second, const std::string& message = "") {
    return Become(StatusOf(reason, second, message));
  }
  void NewRevision(const std::string& name) {
    current_ = update_;
    update_ = name;
    ++number_;
  }
  void Restart() { memory_ = {}; }

  std::string current_;
  std::string update_ = "web-1";
  std::int64_t number_ = 1;
  WallTime now_ = ParseTime("2026-01-02T03:05:00Z");
  Json status_ = Json::object();
  NoticeMemory memory_;
  std::vector<CloudEvent> sent_;
};

TEST_F(RolloutNoticesTest, BeginAndCompletionOfARolloutAreSent) {
  EXPECT_THAT(Become("RollingOut", 10), ElementsAre("began"));
  EXPECT_THAT(Become("RollingOut", 10, "1 of 3 pools"), IsEmpty());
  EXPECT_THAT(Become("RolloutComplete", 20), ElementsAre("complete"));
  EXPECT_THAT(Become("RolloutComplete", 20, "later"), IsEmpty());
  NewRevision("web-2");
  EXPECT_THAT(Become("RollingOut", 30), ElementsAre("began"));
}

TEST_F(RolloutNoticesTest, NoticeHasTheDaemonRevisionReasonMessageAndPools) {
  Become("RollingOut", 10, "0 of 3 pools are updated");
  const CloudEvent& event = sent_.at(0);
  EXPECT_EQ(event.source, "/apis/apps.openyurt.io/v1alpha1/namespaces/shop/yurtappdaemons/web");
  EXPECT_EQ(event.subject, "web-1");
  EXPECT_EQ(event.data.at("namespace"), "shop");
  EXPECT_EQ(event.data.at("name"), "web");
  EXPECT_EQ(event.data.at("revision"), "web-1");
  EXPECT_EQ(event.data.at("reason"), "RollingOut");
  EXPECT_EQ(event.data.at("message"), "0 of 3 pools are updated");
  EXPECT_EQ(event.data.at("desiredPools"), 3);
  EXPECT_EQ(event.time, now_);
}

TEST_F(RolloutNoticesTest, NoticeIsSentForEachGroupThatWaitsForApproval) {
  Become("RollingOut", 10);
  EXPECT_THAT(Become("WaitingForApproval", 11, "group north"), ElementsAre("waiting-for-approval"));
  EXPECT_THAT(Become("WaitingForApproval", 11, "group south"), ElementsAre("waiting-for-approval"));
  EXPECT_THAT(Become("RollingOut", 12), IsEmpty());
  EXPECT_THAT(Become("WaitingForApproval", 13, "group south"), ElementsAre("waiting-for-approval"));
}

// The status of Progressing is also Unknown during a pause, so its last transition is the start of the pause.
TEST_F(RolloutNoticesTest, WaitForApprovalAfterAPauseHasTheTimeOfTheWait) {
  Become("Paused", 10);
  Become("WaitingForApproval", 10, "group north");
  EXPECT_EQ(sent_.back().time, now_);
  Restart();
  Become(status_);
  EXPECT_EQ(sent_.back().time, std::nullopt) << "status does not show when the wait began";
}

TEST_F(RolloutNoticesTest, BeginIsSentEvenIfTheFirstObservedStageIsALaterOne) {
  EXPECT_THAT(Become("WaitingForApproval", 10), ElementsAre("began", "waiting-for-approval"));
  NewRevision("web-2");
  EXPECT_THAT(Become("RolloutComplete", 20), ElementsAre("began", "complete"));
}

TEST_F(RolloutNoticesTest, NoticesAreSentForAStoppedRolloutAndForItsRollback) {
  Become("RollingOut", 10);
  EXPECT_THAT(Become("FailureBudgetExceeded", 11), ElementsAre("stopped"));
  EXPECT_THAT(Become("RollingOut", 12), IsEmpty());
  EXPECT_THAT(Become("ProgressDeadlineExceeded", 13), ElementsAre("stopped"));
  EXPECT_THAT(Become("RollingBack", 14), ElementsAre("stopped"));
  EXPECT_THAT(Become("RolledBack", 15), ElementsAre("rolled-back"));
}

TEST_F(RolloutNoticesTest, BothNoticesAreSentIfARollbackEndsBeforeAStatusShowsTheStop) {
  Become("RollingOut", 10);
  EXPECT_THAT(Become("RolledBack", 11), ElementsAre("stopped", "rolled-back"));
  EXPECT_NE(sent_.at(1).id, sent_.at(2).id);
  EXPECT_THAT(Become("RolledBack", 11, "later"), IsEmpty());
}

TEST_F(RolloutNoticesTest, NewPoolsOfACompleteRolloutSendNoBeginAndNoCompletion) {
  Become("RollingOut", 10);
  Become("RolloutComplete", 20);
  EXPECT_THAT(Become("RollingOut", 30), IsEmpty());
  EXPECT_THAT(Become("RolloutComplete", 31), IsEmpty());
  Become("RollingOut", 40);
  EXPECT_THAT(Become("FailureBudgetExceeded", 41), ElementsAre("stopped"));
  EXPECT_THAT(Become("RolloutComplete", 42), ElementsAre("complete"));
}

TEST_F(RolloutNoticesTest, ASecondRolloutOfARevisionHasItsOwnNotices) {
  Become("RollingOut", 10);
  const std::string first = sent_.back().id;
  NewRevision("web-2");
  Become("RollingOut", 20);
  NewRevision("web-1");
  EXPECT_THAT(Become("RollingOut", 30), ElementsAre("began"));
  EXPECT_NE(sent_.back().id, first);
}

TEST_F(RolloutNoticesTest, ANewProcessResendsTheBeginAndTheCurrentStageWithTheSameIds) {
  Become("RollingOut", 10);
  Become("FailureBudgetExceeded", 20);
  const std::vector<CloudEvent> before = sent_;
  ASSERT_THAT(before, SizeIs(2));
  Restart();
  EXPECT_THAT(Become(status_), ElementsAre("began", "stopped"));
  EXPECT_EQ(sent_[2].id, before[0].id);
  EXPECT_EQ(sent_[3].id, before[1].id);
  EXPECT_EQ(sent_[2].time, std::nullopt) << "status does not show when the wait began";
  EXPECT_THAT(Become(status_), IsEmpty());
}

TEST_F(RolloutNoticesTest, ANewProcessThatFindsANewStageResendsTheOldStageToo) {
  Become("RollingOut", 10);
  Become("WaitingForApproval", 20, "group north");
  Restart();
  EXPECT_THAT(Become("RolloutComplete", 30), ElementsAre("began", "waiting-for-approval", "complete"));
}

TEST_F(RolloutNoticesTest, ANewProcessResendsACompletionOnlyWithinADay) {
  Become("RollingOut", 10);
  Become("RolloutComplete", 20);
  const std::string id = sent_.back().id;
  Restart();
  EXPECT_THAT(Become(status_), ElementsAre("complete"));
  EXPECT_EQ(sent_.back().id, id);
  Restart();
  now_ += std::chrono::hours(25);
  EXPECT_THAT(Become(status_), IsEmpty());
}

TEST_F(RolloutNoticesTest, ANewProcessSendsNoNoticeForNewPoolsOfACompleteRollout) {
  Become("RollingOut", 10);
  Become("RolloutComplete", 20);
  Json joining = StatusOf("RollingOut", 30);
  joining["currentRevision"] = update_;
  Become(joining);
  Restart();
  EXPECT_THAT(Become(joining), IsEmpty());
  EXPECT_THAT(Become("RolloutComplete", 40), IsEmpty());
}

TEST_F(RolloutNoticesTest, ADaemonThatOpenYurtRolledOutSendsNoNotice) {
  status_ = {{"currentRevision", "web-1"}};
  EXPECT_THAT(Become("RolloutComplete", 10), IsEmpty());
}

TEST_F(RolloutNoticesTest, AMalformedStatusCausesNoCrash) {
  for (const Json& bad : {Json("text"), Json::array(), Json{{"updateRevision", 7}, {"conditions", "x"}}}) {
    Restart();
    status_ = bad;
    Become("RolloutComplete", 10);
  }
}

}  // namespace
}  // namespace yad::testing
