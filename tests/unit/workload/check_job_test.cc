// The Job of a check: its name and its body.
#include "operator/workload/check_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "operator/api/names.h"
#include "operator/api/well_known.h"

namespace yad {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kSpec[] = R"({
  "backoffLimit": 0, "activeDeadlineSeconds": 120,
  "template": {"spec": {"containers": [{"name": "probe", "image": "probe:1", "args": ["{{nodepool-name}}", "{{nodepool}}"],
                        "env": [{"name": "URL", "value": "http://web-{{nodepool-name}}.ns"}]}]}}})";

YurtAppDaemon DaemonWithCheck(const std::string& name = "web") {
  YurtAppDaemon daemon;
  daemon.meta.key = {"ns", name};
  daemon.meta.uid = "u-1";
  return daemon;
}

Check JobCheck(const std::string& name = "smoke", const std::string& spec = kSpec) {
  Check check;
  check.name = name;
  check.job_spec = Json::parse(spec);
  return check;
}

NodePool Pool(const std::string& name = "lisbon", std::vector<Taint> taints = {}) {
  NodePool pool;
  pool.name = name;
  pool.taints = std::move(taints);
  return pool;
}

CheckedUpdate Update() { return {"lisbon", "web-5d8c", ParseTime("2026-01-02T03:04:05Z")}; }

std::string NameOf(const YurtAppDaemon& daemon, const Check& check, const CheckedUpdate& update) {
  return CheckJobName(daemon, check, CheckJobDigest(check), update);
}
std::string Name() { return NameOf(DaemonWithCheck(), JobCheck(), Update()); }

Json Made(const Check& check, const NodePool& pool = Pool()) {
  const auto job = MakeCheckJob(DaemonWithCheck(), check, pool, "web-5d8c", "web-smoke-x");
  if (job) return *job;
  ADD_FAILURE() << job.error().ToString();
  return nullptr;
}
Json PodOf(const Json& job) { return job.at("/spec/template/spec"_json_pointer); }

TEST(CheckJobNameTest, IsStableAndReadable) {
  EXPECT_THAT(Name(), MatchesRegex("web-smoke-[0-9a-z]{10}"));
  EXPECT_EQ(Name(), Name());
  CheckedUpdate at_another_moment = Update();
  at_another_moment.at += std::chrono::milliseconds(400);
  EXPECT_EQ(NameOf(DaemonWithCheck(), JobCheck(), at_another_moment), Name())
      << "the record of the update has the time in seconds";
}

// After an upgrade, the new version must find the Job of the old version, so the name must never change.
TEST(CheckJobNameTest, IsTheSameInEachVersion) { EXPECT_EQ(Name(), "web-smoke-nbkhfvxewg"); }

TEST(CheckJobNameTest, DiffersByEachPartOfTheUpdate) {
  YurtAppDaemon recreated = DaemonWithCheck();
  recreated.meta.uid = "u-2";
  CheckedUpdate other_pool = Update(), other_revision = Update(), later = Update();
  other_pool.pool = "porto";
  other_revision.revision_label = "web-6f7a";
  later.at += std::chrono::seconds(1);
  Check edited = JobCheck();
  edited.job_spec["backoffLimit"] = 1;
  const std::set<std::string> names = {Name(),
                                       NameOf(recreated, JobCheck(), Update()),
                                       NameOf(DaemonWithCheck(), JobCheck("other"), Update()),
                                       NameOf(DaemonWithCheck(), JobCheck(), other_pool),
                                       NameOf(DaemonWithCheck(), JobCheck(), other_revision),
                                       NameOf(DaemonWithCheck(), JobCheck(), later),
                                       NameOf(DaemonWithCheck(), edited, Update())};
  EXPECT_EQ(names.size(), 7U);
}

TEST(CheckJobNameTest, IgnoresTheTimeoutAndDryRun) {
  Check check = JobCheck();
  check.timeout = std::chrono::seconds(7);
  check.dry_run = true;
  EXPECT_EQ(NameOf(DaemonWithCheck(), check, Update()), Name()) << "the Job would be the same";
}

// The name of a Job is also the value of a label of its pods.
TEST(CheckJobNameTest, IsAValidLabelOfAtMost63Characters) {
  for (const std::string& daemon : {std::string("web"), std::string(200, 'd'), std::string("a.b.c"),
                                    std::string(52, 'd'), std::string(51, 'd') + ".e", std::string(51, 'd') + "-e"}) {
    for (const std::string& check : {std::string("smoke"), std::string(63, 'c'), std::string("a")}) {
      const std::string name = NameOf(DaemonWithCheck(daemon), JobCheck(check), Update());
      EXPECT_EQ(CheckDns1123Label(name), "") << name;
      EXPECT_THAT(name, AllOf(StartsWith(daemon.substr(0, 1)), Not(HasSubstr("--"))));
    }
  }
}

TEST(CheckJobNameTest, LongNamesStillDiffer) {
  const YurtAppDaemon daemon = DaemonWithCheck(std::string(200, 'd'));
  EXPECT_NE(NameOf(daemon, JobCheck("a"), Update()), NameOf(daemon, JobCheck("b"), Update()));
}

TEST(CheckJobTest, HasTheSpecOfTheCheckInThePool) {
  const Json job = Made(JobCheck());
  EXPECT_EQ(job["apiVersion"], "batch/v1");
  EXPECT_EQ(job["kind"], "Job");
  EXPECT_EQ(job["metadata"]["name"], "web-smoke-x");
  EXPECT_EQ(job["metadata"]["namespace"], "ns");
  const Json labels = {{kPoolNameLabel, "lisbon"}, {kRevisionLabel, "web-5d8c"}, {kCheckLabel, "smoke"}};
  EXPECT_EQ(job["metadata"]["labels"], labels);
  EXPECT_EQ(job["spec"]["backoffLimit"], 0);
  EXPECT_EQ(job["spec"]["activeDeadlineSeconds"], 120);
  const Json pod_labels = {{kPoolNameLabel, "lisbon"}, {kCheckLabel, "smoke"}};
  EXPECT_EQ(job["spec"]["template"]["metadata"]["labels"], pod_labels);
  EXPECT_EQ(PodOf(job)["nodeSelector"], Json({{kNodePoolLabel, "lisbon"}}));
  EXPECT_EQ(PodOf(job)["restartPolicy"], "Never");
}

TEST(CheckJobTest, TheDaemonIsItsController) {
  const Json owners = Made(JobCheck())["metadata"]["ownerReferences"];
  ASSERT_EQ(owners.size(), 1U);
  EXPECT_EQ(owners[0]["kind"], "YurtAppDaemon");
  EXPECT_EQ(owners[0]["name"], "web");
  EXPECT_EQ(owners[0]["uid"], "u-1");
  EXPECT_EQ(owners[0]["controller"], true);
}

TEST(CheckJobTest, VariablesAreReplaced) {
  const Json container = PodOf(Made(JobCheck()))["containers"][0];
  EXPECT_EQ(container["args"], Json({"lisbon", "lisbon"}));
  EXPECT_EQ(container["env"][0]["value"], "http://web-lisbon.ns");
}

TEST(CheckJobTest, TaintsOfThePoolAreToleratedOnce) {
  const NodePool pool = Pool("lisbon", {{"edge", "NoSchedule"}, {"gpu", "NoExecute"}});
  const Json tolerations = PodOf(Made(JobCheck(), pool))["tolerations"];
  ASSERT_EQ(tolerations.size(), 2U) << tolerations.dump();
  Check check = JobCheck();
  check.job_spec["template"]["spec"]["tolerations"] = tolerations;
  EXPECT_EQ(PodOf(Made(check, pool))["tolerations"], tolerations);
}

TEST(CheckJobTest, ValuesThatTheSpecSetsAreKept) {
  Check check = JobCheck();
  Json& pod_template = check.job_spec["template"];
  pod_template["metadata"] = {{"labels", {{"app", "probe"}, {kPoolNameLabel, "another"}}},
                              {"annotations", {{"a", "b"}}}};
  pod_template["spec"]["restartPolicy"] = "OnFailure";
  pod_template["spec"]["serviceAccountName"] = "prober";
  pod_template["spec"]["nodeSelector"] = {{"disk", "ssd"}, {kNodePoolLabel, "another"}};
  const Json job = Made(check);
  const Json labels = {{"app", "probe"}, {kPoolNameLabel, "lisbon"}, {kCheckLabel, "smoke"}};
  EXPECT_EQ(job["spec"]["template"]["metadata"]["labels"], labels);
  EXPECT_EQ(job["spec"]["template"]["metadata"]["annotations"], Json({{"a", "b"}}));
  EXPECT_EQ(PodOf(job)["restartPolicy"], "OnFailure");
  EXPECT_EQ(PodOf(job)["serviceAccountName"], "prober");
  EXPECT_FALSE(PodOf(Made(JobCheck())).contains("serviceAccountName")) << "the namespace's default";
  const Json node_selector = {{"disk", "ssd"}, {kNodePoolLabel, "lisbon"}};
  EXPECT_EQ(PodOf(job)["nodeSelector"], node_selector);
}

TEST(CheckJobTest, EmptyRestartPolicyBecomesNever) {
  Check check = JobCheck();
  check.job_spec["template"]["spec"]["restartPolicy"] = "";
  EXPECT_EQ(PodOf(Made(check))["restartPolicy"], "Never");
}

TEST(CheckJobTest, ValuesOfWrongTypesAreErrors) {
  for (const char* spec :
       {R"({})", R"({"template": 1})", R"({"template": {"metadata": 1, "spec": {}}})",
        R"({"template": {"metadata": {"labels": []}, "spec": {}}})", R"({"template": {"spec": 1}})",
        R"({"template": {"spec": {"nodeSelector": "a"}}})", R"({"template": {"spec": {"tolerations": {}}}})"}) {
    const NodePool pool = Pool("lisbon", {{"edge", "NoSchedule"}});
    const auto job = MakeCheckJob(DaemonWithCheck(), JobCheck("smoke", spec), pool, "web-5d8c", "n");
    ASSERT_FALSE(job) << spec;
    EXPECT_EQ(job.error().reason, Reason::kInvalid);
    EXPECT_THAT(job.error().message, AllOf(StartsWith("check smoke: "), EndsWith("have a wrong type")));
  }
}

// Validation does not read these values, so the apiserver has to reject them.
TEST(CheckJobTest, InvalidBackoffLimitIsKeptForTheApiserverToReject) {
  Check check = JobCheck();
  check.job_spec["backoffLimit"] = "many";
  EXPECT_EQ(Made(check)["spec"]["backoffLimit"], "many");
}

TEST(CheckJobTest, TextThatIsNotUtf8DoesNotThrow) {
  Check check = JobCheck();
  check.job_spec["template"]["spec"]["containers"][0]["image"] = "a\xff";
  EXPECT_NO_THROW((void)CheckJobDigest(check));
}

}  // namespace
}  // namespace yad
