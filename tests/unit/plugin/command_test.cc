// Commands against an apiserver in memory, for behaviour that a real apiserver does not show reliably.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <sstream>
#include <thread>
#include <utility>

#include "plugin/commands/commands.h"
#include "tests/unit/plugin/session_fixture.h"

namespace yad {
namespace {

using namespace testing;  // NOLINT: the builders

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

class CommandTest : public SessionTest {
 protected:
  CommandTest() {
    options_.daemon = "web";
    cluster_.Create(kYurtAppDaemonType, DaemonJson());
  }
  Json Daemon() { return *cluster_.Get(kYurtAppDaemonType, {kNs, "web"}); }
  void AddRevision(const Json& of, std::int64_t number) {
    const RevisionContent content = ContentOf(*ParseYurtAppDaemon(of));
    cluster_.Create(kControllerRevisionType,
                    MakeControllerRevision(*ParseYurtAppDaemon(Daemon()), content, RevisionHash(content, 0), number));
  }
  // Lets another user change the daemon before each of the first `count` PUTs.
  void Interfere(int count, const std::function<void(Json&)>& change) {
    transport_->OnSend([this, left = std::make_shared<int>(count), change](const HttpRequest& request) {
      if (request.method == "PUT" && (*left)-- > 0) cluster_.Edit(kYurtAppDaemonType, {kNs, "web"}, change);
      return Answer(request);
    });
  }
};

TEST_F(CommandTest, StatusWritesOfTheOperatorDoNotFailTheCommand) {
  int written = 0;
  Interfere(5, [&](Json& daemon) { daemon["status"]["n"] = ++written; });
  options_.command = "pause";
  EXPECT_EQ(Run(RunPause), kDone);
  EXPECT_EQ(Daemon()["spec"]["paused"], true);
  EXPECT_EQ(Daemon()["status"]["n"], 5);
}

TEST_F(CommandTest, ConcurrentSpecChangeIsNotOverwritten) {
  Interfere(1, [](Json& daemon) { daemon["spec"]["revisionHistoryLimit"] = 3; });
  options_.command = "pause";
  const auto paused = Run(RunPause);
  ASSERT_FALSE(paused);
  EXPECT_THAT(paused.error().message, HasSubstr("another client has just changed the spec"));
  EXPECT_FALSE(Daemon()["spec"].contains("paused"));
}

TEST_F(CommandTest, PauseFailsIfTheServerDropsTheField) {
  cluster_.SetMutation([](const ResourceType&, const Json&, Json& object) { object["spec"].erase("paused"); });
  options_.command = "pause";
  const auto paused = Run(RunPause);
  ASSERT_FALSE(paused);
  EXPECT_EQ(paused.error().reason, Reason::kInvalid);
  EXPECT_EQ(paused.error().message,
            "yurtappdaemons.apps.openyurt.io \"web\" is not paused: the apiserver has dropped spec.paused, because the "
            "CRD lacks this field; apply the CRD that belongs to this version of kubectl yad");
}

TEST_F(CommandTest, ListWhosePagesAreTooLongIsReadInSmallerPages) {
  AddRevision(DaemonJson("app:0"), 1);
  AddRevision(DaemonJson("app:1"), 2);
  transport_->OnSend([this](const HttpRequest& request) -> Result<HttpResponse> {
    const std::string limit = QueryOf(request, "limit");
    if (!limit.empty() && std::stoi(limit) > 50) return Fail(Reason::kTooLarge, "the answer is too long");
    return Answer(request);
  });
  EXPECT_EQ(Run(RunUndo), kDone);
  options_.daemon = "";
  options_.all_namespaces = true;
  EXPECT_EQ(Run(RunPools), kDone);
  EXPECT_THAT(out_.str(), HasSubstr("\nns          web "));
}

TEST_F(CommandTest, GroupThatIsNamedTwiceIsApprovedOnce) {
  cluster_.Edit(kYurtAppDaemonType, {kNs, "web"}, [](Json& daemon) {
    daemon["spec"]["updateStrategy"] = R"({"type": "RollingUpdate", "rollingUpdate": {"groups": [
        {"name": "north", "pools": ["a"], "approval": "Manual"}]}})"_json;
    daemon["status"] = {{"updateRevision", "web-2"}, {"observedGeneration", 9}};
  });
  options_.groups = {"north", "north"};
  EXPECT_EQ(Run(RunApprove), kDone);
  EXPECT_EQ(err_.str(), "");
  EXPECT_EQ(out_.str(),
            "yurtappdaemon.apps.openyurt.io/web approved: revision web-2 may be rolled out to group north\n");
}

TEST_F(CommandTest, TruncatedListOfPoolsCausesAWarningInEachFormat) {
  cluster_.Edit(kYurtAppDaemonType, {kNs, "web"}, [](Json& daemon) {
    daemon["status"] = {{"poolsTruncated", true}, {"desiredPools", 600}, {"pools", {{{"name", "a"}}}}};
  });
  for (const OutputFormat output : {OutputFormat::kDefault, OutputFormat::kJson, OutputFormat::kName}) {
    options_.output = output;
    EXPECT_EQ(Run(RunPools), kDone);
    EXPECT_THAT(err_.str(), StartsWith("Warning: the status lists only 500 of 600 pools"));
  }
}

TEST_F(CommandTest, SpecChangeWhileAnUndoReadsTheRevisionsIsNotOverwritten) {
  AddRevision(DaemonJson("app:0"), 1);
  AddRevision(DaemonJson("app:1"), 2);
  const auto undo = [this](const std::function<void()>& meanwhile) {
    transport_->OnSend([this, meanwhile, done = std::make_shared<bool>(false)](const HttpRequest& request) {
      if (request.path.find("/controllerrevisions") != std::string::npos && !std::exchange(*done, true)) meanwhile();
      return Answer(request);
    });
    const auto undone = Run(RunUndo);
    return undone ? "" : undone.error().message;
  };
  for (const DryRun dry_run : {DryRun::kNone, DryRun::kServer}) {
    options_.dry_run = dry_run;
    EXPECT_THAT(undo([this] {
                  cluster_.Edit(kYurtAppDaemonType, {kNs, "web"},
                                [](Json& daemon) { TemplateOf(daemon)["spec"]["replicas"] = 7; });
                }),
                HasSubstr("another client has just changed the spec"));
    Json kept = Daemon();
    EXPECT_EQ(ImageOf(TemplateOf(kept)), "app:1");
    EXPECT_EQ(IntAt(TemplateOf(kept), {"spec", "replicas"}), 7);
    cluster_.Edit(kYurtAppDaemonType, {kNs, "web"}, [](Json& daemon) { TemplateOf(daemon)["spec"]["replicas"] = 1; });
  }
  options_.dry_run = DryRun::kNone;
  EXPECT_THAT(undo([this] {
                cluster_.Delete(kYurtAppDaemonType, {kNs, "web"});
                cluster_.Create(kYurtAppDaemonType, DaemonJson("app:1"));
              }),
              HasSubstr("another client has just recreated"));
  Json kept = Daemon();
  EXPECT_EQ(ImageOf(TemplateOf(kept)), "app:1");
}

TEST_F(CommandTest, UndoWarnsIfItRemovesTheServiceTemplate) {
  const auto add_service = [this] {
    cluster_.Edit(kYurtAppDaemonType, {kNs, "web"},
                  [](Json& daemon) { daemon["spec"]["serviceTemplate"]["spec"]["ports"] = R"([{"port": 80}])"_json; });
  };
  add_service();
  AddRevision(DaemonJson("app:1"), 1);
  AddRevision(Daemon(), 2);
  for (const DryRun dry_run : {DryRun::kClient, DryRun::kServer, DryRun::kNone}) {
    add_service();  // The apiserver in memory also stores a PUT with dryRun.
    options_.dry_run = dry_run;
    EXPECT_EQ(Run(RunUndo), kDone);
    EXPECT_EQ(err_.str(),
              "Warning: this undo removes spec.serviceTemplate, because revision 1 has none: the operator then deletes "
              "the Services of the pools\n");
  }
  EXPECT_FALSE(Daemon()["spec"].contains("serviceTemplate"));
  options_.revision = 2;
  EXPECT_EQ(Run(RunUndo), kDone);
  EXPECT_EQ(err_.str(), "");
}

TEST_F(CommandTest, UndoSkipsTheRevisionOfTheSpecAndRestoresTheOneBefore) {
  for (const auto& [image, number] : {std::pair{"app:1", 2}, {"app:0", 1}}) {
    const RevisionContent content = ContentOf(*ParseYurtAppDaemon(DaemonJson(image)));
    cluster_.Create(kControllerRevisionType,
                    MakeControllerRevision(*ParseYurtAppDaemon(Daemon()), content, RevisionHash(content, 0), number));
  }
  options_.revision = 2;
  EXPECT_EQ(Run(RunUndo), kDone);
  EXPECT_EQ(out_.str(),
            "yurtappdaemon.apps.openyurt.io/web skipped rollback (current template already matches revision 2)\n");
  EXPECT_TRUE(cluster_.writes().empty());
  options_.revision = std::nullopt;  // the revision before the current revision
  EXPECT_EQ(Run(RunUndo), kDone);
  EXPECT_THAT(out_.str(), StartsWith("yurtappdaemon.apps.openyurt.io/web rolled back to revision 1 (web-"));
  Json undone = Daemon();
  EXPECT_EQ(ImageOf(TemplateOf(undone)), "app:0");
  options_.revision = 7;
  EXPECT_EQ(Run(RunUndo).error().message, "unable to find specified revision 7 in history: it has 1, 2");
}

TEST_F(CommandTest, HistoryOfRevision0ShowsAllRevisions) {
  const RevisionContent content = ContentOf(*ParseYurtAppDaemon(DaemonJson()));
  cluster_.Create(kControllerRevisionType,
                  MakeControllerRevision(*ParseYurtAppDaemon(Daemon()), content, RevisionHash(content, 0), 1));
  EXPECT_EQ(Run(RunHistory), kDone);
  const std::string all = out_.str();
  EXPECT_THAT(all, StartsWith("REVISION"));
  options_.revision = 0;
  const auto shown = Run(RunHistory);
  ASSERT_TRUE(shown) << shown.error().message;
  EXPECT_EQ(out_.str(), all);
}

TEST_F(CommandTest, HistoryShowsWhyARevisionFailed) {
  AddRevision(DaemonJson("app:0"), 1);
  AddRevision(DaemonJson("app:1"), 2);
  AddRevision(DaemonJson("app:2"), 3);
  const auto fail = [&](const char* image, const char* failure) {
    const RevisionContent content = ContentOf(*ParseYurtAppDaemon(DaemonJson(image)));
    const std::string name = RevisionName("web", RevisionHash(content, 0));
    cluster_.Edit(kControllerRevisionType, {kNs, name}, [&](Json& revision) {
      Json& annotations = revision["metadata"]["annotations"];
      annotations[kFailedAnnotation] = "2026-01-02T03:00:05Z";
      if (failure != nullptr) annotations[kFailureAnnotation] = failure;
    });
  };
  fail("app:1", "pool a: ImagePullBackOff: cannot pull: not found\x1b, and 1 more pool");
  fail("app:2", nullptr);  // by a version that did not store the reason
  EXPECT_EQ(Run(RunHistory), kDone);
  ASSERT_EQ(Lines().size(), 4U);
  EXPECT_THAT(Lines()[1], Not(HasSubstr("ago")));
  EXPECT_THAT(Lines()[2], HasSubstr(" 4m ago (pool a: ImagePullBackOff)  "));
  EXPECT_THAT(Lines()[3], HasSubstr(" 4m ago  "));
  const auto second_line = [&](std::int64_t number) {
    options_.revision = number;
    EXPECT_EQ(Run(RunHistory), kDone);
    return Lines().at(1);
  };
  EXPECT_EQ(second_line(1), "workloadTemplate:");
  EXPECT_THAT(second_line(2), AllOf(StartsWith("# failed at 2026-01-02T03:00:05Z (pool a: ImagePullBackOff: cannot "
                                               "pull: not found"),
                                    EndsWith(", and 1 more pool)"), Not(HasSubstr("\x1b"))));
  EXPECT_EQ(second_line(3), "# failed at 2026-01-02T03:00:05Z");
}

class RestartPoolsTest : public CommandTest {
 protected:
  RestartPoolsTest() {
    for (const char* pool : {"a", "b", "c"}) {
      cluster_.Create(kDeploymentType, WorkloadJson(Daemon(), MakeRevision(Daemon()), PoolJson(pool)));
    }
    options_.pools = {"a", "b", "c"};
  }
  // Rejects the writes of the workloads in these pools.
  void Reject(const std::vector<std::string>& pools) {
    cluster_.SetFaults([this, pools](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
      for (const std::string& pool : pools) {
        if (request.method == "PATCH" && request.key.name == Name(pool))
          return FakeCluster::Fault{StatusResponse(403, "Forbidden", "not in pool " + pool)};
      }
      return std::nullopt;
    });
  }
  std::string Name(const std::string& pool) { return WorkloadName("web", uid_, pool, WorkloadKind::kDeployment); }

  const std::string uid_ = ParseMeta(Daemon()).uid;
};

TEST_F(RestartPoolsTest, PoolsAfterAFailedOneAreRestartedAndReported) {
  Reject({"b"});
  const auto restarted = Run(RunRestart);
  ASSERT_FALSE(restarted);
  EXPECT_EQ(restarted.error().reason, Reason::kForbidden);
  EXPECT_EQ(restarted.error().message, "cannot restart deployment.apps/" + Name("b") + ": not in pool b");
  EXPECT_THAT(Lines(), ElementsAre("deployment.apps/" + Name("a") + " restarted",
                                   "deployment.apps/" + Name("c") + " restarted"));
  Reject({"a", "c"});
  EXPECT_EQ(Run(RunRestart).error().message, "cannot restart deployment.apps/" + Name("a") +
                                                 ": not in pool a; cannot restart deployment.apps/" + Name("c") +
                                                 ": not in pool c");
  EXPECT_EQ(out_.str(), "deployment.apps/" + Name("b") + " restarted\n");
  options_.output = OutputFormat::kJson;
  EXPECT_FALSE(Run(RunRestart));
  EXPECT_EQ(Json::parse(out_.str())["items"].size(), 1u);
}

// These tests do not use a fake clock, because two threads wait for each other.
class StatusTest : public CommandTest {
 protected:
  Result<int> RunWatching(const std::function<void()>& meanwhile) {
    options_.watch = true;
    std::jthread other([&] {
      cluster_.transport()->WaitForRequests(2);  // the first read, and the watch
      meanwhile();
    });
    Client client(cluster_.transport(), {});
    Session session{options_, console_, client, kNs};
    return RunStatus(session);
  }
  void SetProgress(const std::string& status, const std::string& reason) {
    cluster_.Edit(kYurtAppDaemonType, {kNs, "web"}, [&](Json& daemon) {
      daemon["status"] = {{"observedGeneration", daemon["metadata"]["generation"]},
                          {"conditions", {{{"type", "Progressing"}, {"status", status}, {"reason", reason}}}}};
    });
  }
};

TEST_F(StatusTest, StatusFollowsTheWatchUntilTheRolloutEnds) {
  SetProgress("True", "RollingOut");
  EXPECT_EQ(RunWatching([&] { SetProgress("True", "RolloutComplete"); }), kDone);
  EXPECT_THAT(out_.str(), ::testing::EndsWith("(RollingOut)...\nyurtappdaemon \"web\" successfully rolled out\n"));
}

TEST_F(StatusTest, StatusWaitsForFrozenAndHeldPools) {
  SetProgress("True", "Frozen");
  EXPECT_EQ(RunWatching([&] {
              SetProgress("True", "PoolsHeld");
              SetProgress("True", "WaitingForWindow");
              SetProgress("True", "RolloutComplete");
            }),
            kDone);
  EXPECT_THAT(out_.str(), HasSubstr("(Frozen)...\n"));
  EXPECT_THAT(out_.str(), ::testing::EndsWith("yurtappdaemon \"web\" successfully rolled out\n"));
}

TEST_F(StatusTest, StoppedRolloutEndsTheWatch) {
  SetProgress("True", "RollingOut");
  EXPECT_EQ(RunWatching([&] { SetProgress("False", "FailureBudgetExceeded"); }), kNo);
  EXPECT_THAT(err_.str(), HasSubstr("has stopped with 0 of 0 pools updated: FailureBudgetExceeded"));
}

TEST_F(StatusTest, FailedPoolsThatAreOfflineAreListed) {
  const Json pool = {{"name", "a"}, {"phase", "Offline"}, {"reason", "WentDarkAfterUpdate"}, {"message", "m"}};
  for (const int failed : {1, 0}) {
    SetProgress("False", "FailureBudgetExceeded");
    cluster_.Edit(kYurtAppDaemonType, {kNs, "web"}, [&](Json& daemon) {
      daemon["status"]["failedPools"] = failed;
      daemon["status"]["pools"] = Json::array({pool});
    });
    options_.watch = false;
    EXPECT_EQ(Run(RunStatus), kNo);
    const auto listed = HasSubstr("failed pools: a (kubectl yad pools web -o wide shows why");
    if (failed > 0) {
      EXPECT_THAT(err_.str(), listed);
    } else {
      EXPECT_THAT(err_.str(), Not(listed)) << "the deadline of the offline pool has not passed";
    }
  }
}

TEST_F(StatusTest, BlockedRemovalsAreReportedWithTheCommandThatAllowsThem) {
  const auto warnings = [&](const char* progressing, const char* blocked) {
    SetProgress(progressing, std::string(progressing) == "True" ? "RolloutComplete" : "RollingOut");
    cluster_.Edit(kYurtAppDaemonType, {kNs, "web"}, [&](Json& daemon) {
      daemon["status"]["conditions"].push_back(
          {{"type", "RemovalBlocked"}, {"status", blocked}, {"message", "not removed: kubectl annotate yad web"}});
    });
    err_.str("");
    EXPECT_TRUE(RunWatching([] {}));
    const std::string watched = err_.str();
    options_.watch = false;
    EXPECT_TRUE(Run(RunStatus));
    return std::pair(watched, err_.str());
  };
  const std::string warning = "Warning: not removed: kubectl annotate yad web\n";
  EXPECT_EQ(warnings("True", "False"), std::pair(std::string(), std::string()));
  EXPECT_EQ(warnings("True", "True"), std::pair(warning, warning));
  EXPECT_THAT(warnings("False", "True"), Pair(StartsWith(warning), StartsWith(warning)));
  options_.timeout = std::chrono::milliseconds(1);
  EXPECT_THAT(warnings("Unknown", "True"), Pair(StartsWith(warning + "error: timed out"), warning));
}

TEST_F(StatusTest, FailuresOfAnOlderSpecAreNotPrinted) {
  cluster_.Edit(kYurtAppDaemonType, {kNs, "web"}, [](Json& daemon) {
    daemon["status"]["pools"] = R"([{"name": "a", "phase": "Failed", "reason": "Unschedulable", "message": "m"}])"_json;
  });
  EXPECT_EQ(RunWatching([&] { SetProgress("True", "RolloutComplete"); }), kDone);
  EXPECT_THAT(out_.str(), StartsWith("Waiting for the operator to observe the spec"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("Unschedulable")));
}

// A watch that fails, and lists that may fail.
class FailingWatchTest : public StatusTest {
 protected:
  FailingWatchTest() {
    SetProgress("True", "RollingOut");
    options_.watch = true;
    options_.timeout = std::chrono::milliseconds(1200);
  }
  static bool IsList(const HttpRequest& request) {
    return request.method == "GET" && !QueryOf(request, "fieldSelector").empty();
  }
  Result<int> RunFailing(Result<int> (*command)(Session&), const HttpResponse& watch) {
    out_.str("");
    err_.str("");
    transport_->OnOpen([this, watch](const HttpRequest&) {
      ++watches_;
      return std::make_shared<FakeStream>(watch);
    });
    Session session{options_, console_, client_, kNs};
    return command(session);
  }
  std::atomic<int> watches_ = 0;
};

TEST_F(FailingWatchTest, DataThatIsNotLiveIsReportedOnce) {
  const HttpResponse unavailable = StatusResponse(503, "ServiceUnavailable", "apiserver is shutting down");
  EXPECT_EQ(RunFailing(RunStatus, unavailable), kTimedOut);
  EXPECT_THAT(err_.str(), StartsWith("Warning: the data is not live: cannot watch yurtappdaemons.apps.openyurt.io: "));
  EXPECT_THAT(err_.str(), HasSubstr("apiserver is shutting down"));
  EXPECT_EQ(err_.str().find("Warning", 1), std::string::npos);
  console_.screen = [] { return Screen{200, 24, false, false}; };
  EXPECT_EQ(RunFailing(RunStatus, unavailable), kTimedOut);
  EXPECT_THAT(out_.str(), HasSubstr("\nnot live: cannot watch yurtappdaemons.apps.openyurt.io: "));
  EXPECT_THAT(err_.str(), Not(HasSubstr("Warning")));
}

TEST_F(FailingWatchTest, MissingPermissionToListOrWatchIsAnError) {
  const HttpResponse forbidden = StatusResponse(403, "Forbidden", "you may not");
  for (const auto command : {RunStatus, RunPools}) {
    const auto ended = RunFailing(command, forbidden);
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().reason, Reason::kForbidden);
    EXPECT_EQ(ended.error().message, "you may not");
  }
  transport_->OnSend(
      [&](const HttpRequest& request) { return IsList(request) ? Result<HttpResponse>(forbidden) : Answer(request); });
  watches_ = 0;
  EXPECT_EQ(RunFailing(RunStatus, forbidden).error().message, "you may not");
  EXPECT_EQ(watches_, 0) << "the list is the first request";
}

TEST_F(FailingWatchTest, TimeoutIncludesTheFirstRequests) {
  transport_->OnSend([this](const HttpRequest& request) {
    if (IsList(request)) clock_.Advance(std::chrono::hours(1));
    return Answer(request);
  });
  console_.screen = [] { return Screen{200, 24, false, false}; };
  EXPECT_EQ(Run(RunStatus), kTimedOut);
  EXPECT_THAT(out_.str(), Not(HasSubstr("  0s")));
}

TEST_F(FailingWatchTest, RestoredEtcdEndsTheCommand) {
  options_.timeout = std::chrono::seconds(10);
  for (const auto command : {RunStatus, RunPools}) {
    watches_ = 0;
    transport_->OnSend([this](const HttpRequest& request) -> Result<HttpResponse> {
      // The second watch is the reflector's watch.
      if (!IsList(request) || watches_ < 2) return Answer(request);
      Json daemon = Daemon();
      daemon["metadata"]["resourceVersion"] = "1";
      return JsonResponse({{"metadata", {{"resourceVersion", "100000"}}}, {"items", {daemon}}});
    });
    const auto ended = RunFailing(command, StatusResponse(410, "Expired", "too old resource version"));
    ASSERT_FALSE(ended);
    EXPECT_THAT(ended.error().message,
                AllOf(HasSubstr("etcd was restored from a backup"), HasSubstr("run the command again")));
  }
}

TEST_F(CommandTest, ARestartWithinTheSameSecondIsRejectedAsKubectlDoes) {
  EXPECT_EQ(Run(RunRestart), kDone);
  EXPECT_THAT(Run(RunRestart).error().message, HasSubstr("please wait"));
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Run(RunRestart), kDone);
}

TEST_F(CommandTest, ReadingCommandsWriteNothing) {
  options_.command = "pools";
  EXPECT_EQ(Run(RunPools), kDone);
  EXPECT_EQ(
      err_.str(),
      "yurtappdaemons.apps.openyurt.io \"web\" has no pools in its status yet: check that the operator is running\n");
  EXPECT_EQ(Run(RunHistory), kDone);
  EXPECT_THAT(err_.str(), HasSubstr("No rollout history found."));
  EXPECT_TRUE(cluster_.writes().empty());
}

}  // namespace
}  // namespace yad
