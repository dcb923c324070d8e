#include "operator/yurtappdaemon/report/rollout_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/yurtappdaemon/builders.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;

// The traces of a daemon with pools a and b, exported by one process after another. Times are minutes after
// 2026-01-02T03:00:00Z.
class RolloutTraceTest : public ::testing::Test {
 protected:
  static WallTime Minute(int minute) { return ParseTime("2026-01-02T03:00:00Z") + std::chrono::minutes(minute); }

  RolloutTraceTest() {
    snapshot_.daemon.meta.key = {"shop", "web"};
    snapshot_.daemon.meta.uid = "uid";
    snapshot_.pools = {MakePool(PoolJson("a")), MakePool(PoolJson("b"))};
    StartRevision("web-1");
    Complete(0);
    sent_.clear();
  }
  void StartRevision(const std::string& name) {
    auto revision = std::make_shared<Revision>();
    revision->name = name;
    revision->number = ++number_;
    if (snapshot_.update != nullptr) current_ = snapshot_.update->name;
    snapshot_.update = revision;
  }
  void SetPool(const std::string& name, PoolPhase phase, int minute, const std::string& message = "") {
    for (Json& pool : pools_) {
      if (pool["name"] != name) continue;
      pool["phase"] = ToString(phase);
      pool["lastTransitionTime"] = FormatTime(Minute(minute));
      pool["revision"] = snapshot_.update->name;
      pool["message"] = message;
    }
  }
  void ReportStatus(const Json& status, const std::optional<Rollout>& rollout = std::nullopt) {
    ReportSpans([this](const std::vector<Span>& spans) { sent_.insert(sent_.end(), spans.begin(), spans.end()); },
                snapshot_, {}, rollout, previous_, status, memory_);
  }
  // Reports a status whose condition Progressing has this reason.
  void Report(const std::string& reason, int minute, const std::optional<Rollout>& rollout = std::nullopt) {
    const bool complete = reason == "RolloutComplete";
    if (complete) current_ = snapshot_.update->name;
    if (complete != complete_) changed_ = minute;
    complete_ = complete;
    const Json status = {{"updateRevision", snapshot_.update->name},
                         {"currentRevision", current_},
                         {"conditions",
                          {{{"type", "Complete"},
                            {"status", complete ? "True" : "False"},
                            {"reason", reason},
                            {"lastTransitionTime", FormatTime(Minute(changed_))}},
                           {{"type", "Progressing"}, {"reason", reason}, {"message", reason + "!"}}}},
                         {"pools", pools_}};
    snapshot_.now = Minute(minute);
    ReportStatus(status, rollout);
    previous_ = status;
  }
  void Complete(int minute) {
    for (const char* pool : {"a", "b"}) SetPool(pool, PoolPhase::kReady, minute);
    Report("RolloutComplete", minute);
  }
  // Returns strings such as "update a 1-2": the span, its pool or group, and its minutes.
  std::vector<std::string> Take() {
    std::vector<std::string> texts;
    for (const Span& span : sent_) {
      std::string text = span.name;
      for (const char* key : {"yurtappdaemon.pool", "yurtappdaemon.group", "yurtappdaemon.outcome"}) {
        if (span.attributes.contains(key)) text += " " + span.attributes.at(key);
      }
      const auto minute = [](WallTime time) {
        return std::to_string(std::chrono::duration_cast<std::chrono::minutes>(time - Minute(0)).count());
      };
      texts.push_back(text + " " + minute(span.start) + "-" + minute(span.end));
    }
    sent_.clear();
    return texts;
  }

  Snapshot snapshot_;
  std::int64_t number_ = 0;
  std::string current_;
  bool complete_ = false;
  int changed_ = 0;
  std::vector<Json> pools_ = {{{"name", "a"}, {"phase", "Ready"}}, {{"name", "b"}, {"phase", "Ready"}}};
  Json previous_ = Json::object();
  TraceMemory memory_;
  std::vector<Span> sent_;
};

TEST_F(RolloutTraceTest, EachStepOfAPoolIsExportedAsASpanWhenItEnds) {
  StartRevision("web-2");
  Report("RollingOut", 10);
  EXPECT_THAT(Take(), IsEmpty());
  SetPool("a", PoolPhase::kUpdating, 11);
  Report("RollingOut", 11);
  EXPECT_THAT(Take(), ElementsAre("wait a 10-11"));
  SetPool("a", PoolPhase::kSoaking, 13);
  Report("RollingOut", 13);
  EXPECT_THAT(Take(), ElementsAre("update a 11-13"));
  SetPool("a", PoolPhase::kVerifying, 14);
  Report("RollingOut", 14);
  SetPool("a", PoolPhase::kReady, 16);
  Report("RollingOut", 16);
  EXPECT_THAT(Take(), ElementsAre("soak a 13-14", "check a 14-16", "pool a 10-16"));
  Report("RollingOut", 17);
  EXPECT_THAT(Take(), IsEmpty());
  SetPool("b", PoolPhase::kReady, 18);
  Report("RolloutComplete", 18);
  EXPECT_THAT(Take(), ElementsAre("wait b 10-18", "pool b 10-18", "rollout RolloutComplete 10-18"));
  Report("RolloutComplete", 19);
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(RolloutTraceTest, SpansOfOneRolloutHaveOneTraceId) {
  StartRevision("web-2");
  SetPool("a", PoolPhase::kUpdating, 10);
  Report("RollingOut", 10);
  SetPool("a", PoolPhase::kReady, 11);
  Report("RollingOut", 11);
  Complete(12);
  ASSERT_THAT(sent_, SizeIs(5));
  const Span root = sent_.back();
  EXPECT_EQ(root.parent_id, "");
  EXPECT_EQ(root.attributes.at("k8s.namespace.name"), "shop");
  EXPECT_EQ(root.attributes.at("yurtappdaemon.name"), "web");
  EXPECT_EQ(root.attributes.at("yurtappdaemon.revision"), "web-2");
  const Span pool = *std::find_if(sent_.begin(), sent_.end(), [](const Span& span) { return span.name == "pool"; });
  EXPECT_EQ(pool.parent_id, root.span_id);
  EXPECT_EQ(sent_[0].parent_id, pool.span_id);
  for (const Span& span : sent_) {
    EXPECT_EQ(span.trace_id, root.trace_id);
    EXPECT_THAT(span.trace_id, SizeIs(32));
    EXPECT_THAT(span.span_id, SizeIs(16));
  }
  StartRevision("web-3");
  Report("RollingOut", 20);
  Complete(21);
  EXPECT_NE(sent_.back().trace_id, root.trace_id);
}

TEST_F(RolloutTraceTest, ANewProcessContinuesTheTrace) {
  StartRevision("web-2");
  Report("RollingOut", 10);
  SetPool("a", PoolPhase::kUpdating, 11);
  Report("RollingOut", 11);
  const Span before = sent_.back();
  Take();
  memory_ = {};
  Report("RollingOut", 12);
  EXPECT_THAT(Take(), IsEmpty());
  SetPool("a", PoolPhase::kReady, 13);
  Report("RollingOut", 13);
  EXPECT_EQ(sent_.back().trace_id, before.trace_id);
  EXPECT_EQ(sent_.back().span_id, before.parent_id);
  EXPECT_THAT(Take(), ElementsAre("update a 11-13", "pool a 10-13"));
  memory_ = {};
  SetPool("b", PoolPhase::kUpdating, 14);
  Report("RollingOut", 14);
  EXPECT_THAT(Take(), ElementsAre("wait b 10-14")) << "pool a is done";
  memory_ = {};
  Complete(15);
  EXPECT_THAT(Take(), ElementsAre("update b 14-15", "pool b 10-15", "rollout RolloutComplete 10-15"));
  memory_ = {};
  Report("RolloutComplete", 16);
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(RolloutTraceTest, AFailedPoolAndARollbackAreErrorSpans) {
  StartRevision("web-2");
  Report("RollingOut", 10);
  SetPool("a", PoolPhase::kUpdating, 10);
  SetPool("b", PoolPhase::kUpdating, 10);
  Report("RollingOut", 11);
  SetPool("a", PoolPhase::kFailed, 12, "CrashLoopBackOff");
  Report("RollingBack", 12);
  EXPECT_EQ(sent_.back().error, "CrashLoopBackOff");
  EXPECT_THAT(Take(), ElementsAre("update a 10-12", "pool a 10-12"));
  for (Json& pool : pools_) {
    pool["phase"] = "Updating";
    pool["revision"] = "web-1";
    pool["lastTransitionTime"] = FormatTime(Minute(13));
  }
  Report("RollingBack", 13);
  EXPECT_THAT(sent_.back().error, Not(IsEmpty()));
  EXPECT_THAT(Take(), ElementsAre("update b 10-13", "pool b 10-13"));
  Report("RolledBack", 14);
  EXPECT_EQ(sent_.back().error, "RolledBack!");
  EXPECT_THAT(Take(), ElementsAre("rollout RolledBack 10-14"));
}

TEST_F(RolloutTraceTest, SpansOfAReplacedRolloutEnd) {
  StartRevision("web-2");
  Report("RollingOut", 10);
  StartRevision("web-3");
  Report("RollingOut", 12);
  EXPECT_THAT(Take(), ElementsAre("rollout Superseded 10-12"));
}

TEST_F(RolloutTraceTest, PoolsThatJoinLaterHaveNoSpans) {
  StartRevision("web-2");
  Report("RollingOut", 10);
  Complete(11);
  Take();
  SetPool("b", PoolPhase::kUpdating, 12);
  Report("RollingOut", 12);
  Complete(13);
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(RolloutTraceTest, AGroupIsASpanFromItsFirstUpdateToItsEnd) {
  snapshot_.daemon.strategy.type = UpdateStrategyType::kRollingUpdate;
  RolloutGroup first, rest;
  first.name = "first";
  first.pools = {"a"};
  rest.name = "default";
  snapshot_.daemon.strategy.rolling.groups = {first, rest};
  StartRevision("web-2");
  Rollout rollout;
  Report("RollingOut", 10, rollout);
  SetPool("a", PoolPhase::kUpdating, 11);
  Report("RollingOut", 11, rollout);
  SetPool("a", PoolPhase::kReady, 12);
  rollout.decision.group = 1;
  Report("RollingOut", 12, rollout);
  ASSERT_THAT(sent_, SizeIs(4));
  EXPECT_EQ(sent_[2].parent_id, sent_[3].span_id);
  EXPECT_THAT(Take(), ElementsAre("wait a 10-11", "update a 11-12", "pool a 10-12", "group first 11-12"));
  SetPool("b", PoolPhase::kUpdating, 13);
  Report("RollingOut", 13, rollout);
  Complete(14);
  EXPECT_THAT(Take(), IsSupersetOf({"group default 13-14", "rollout RolloutComplete 10-14"}));
}

TEST_F(RolloutTraceTest, SpansOfAPoolEndIfATruncatedStatusOmitsIt) {
  StartRevision("web-2");
  Report("RollingOut", 10);
  SetPool("a", PoolPhase::kUpdating, 11);
  Report("RollingOut", 11);
  Take();
  pools_.erase(pools_.begin());
  Json status = previous_;
  status["poolsTruncated"] = true;
  status["pools"] = pools_;
  snapshot_.now = Minute(12);
  ReportStatus(status);
  EXPECT_THAT(Take(), ElementsAre("update a 11-12", "pool a 10-12"));
}

}  // namespace
}  // namespace yad::testing
