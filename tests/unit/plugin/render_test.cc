// kubectl yad render, and the format of errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/commands/options.h"
#include "plugin/manifest/yaml.h"
#include "plugin/plugin.h"
#include "tests/unit/plugin/console_fixture.h"
#include "tests/unit/yurtappdaemon/builders.h"

namespace yad {
namespace {

using namespace testing;  // NOLINT: the builders

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class RenderTest : public ConsoleTest {
 protected:
  int Render(std::vector<std::string> arguments, const std::string& input) {
    in_.str(input);
    arguments.insert(arguments.begin(), {"render", "-"});
    return RunPlugin(arguments, "v0", console_);
  }
};

TEST_F(RenderTest, AFileMayContainSeveralDaemonsAndOtherObjects) {
  Json other = DaemonJson();
  other["metadata"]["name"] = "other";
  const std::string file = "apiVersion: v1\nkind: Service\n---\n" + DaemonJson().dump() + "\n---\n" + other.dump();
  EXPECT_EQ(Render({"--pool", "a"}, file), kDone);
  const auto documents = ReadYaml(out_.str(), "out");
  ASSERT_EQ(documents->size(), 2u);
  const RevisionPtr revision = MakeRevision(DaemonJson());
  Json wanted = WorkloadJson(DaemonJson(), revision, PoolJson("a"));
  for (const char* field : {"uid", "resourceVersion", "generation", "creationTimestamp"}) {
    wanted["metadata"].erase(field);
  }
  wanted.erase("status");
  EXPECT_EQ(documents->at(0), wanted);
  EXPECT_EQ(err_.str(),
            "note: the taints of the pool are not known (give --pool-file FILE)\n"
            "note: the taints of the pool are not known (give --pool-file FILE)\n");
}

TEST_F(RenderTest, UnwritableOutputIsAnError) {
  out_.setstate(std::ios::badbit);  // as after a write to a full disk
  EXPECT_EQ(Render({"--pool", "a"}, DaemonJson().dump()), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("error: cannot write to the standard output"));
}

TEST_F(RenderTest, MissingLabelsAndUidAreReported) {
  Json daemon = DaemonJson();
  daemon["metadata"].erase("uid");
  daemon["spec"]["overrides"] = R"([{"nodepoolSelector": {}, "replicas": 2}])"_json;
  EXPECT_EQ(Render({"--pool", "a", "-o", "name"}, daemon.dump()), kDone);
  EXPECT_THAT(out_.str(), StartsWith("deployment.apps/web-a-"));
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("nor the labels that overrides with a nodepoolSelector need"),
                                HasSubstr("give --uid UID, or set metadata.uid in the file")));
}

TEST_F(RenderTest, UnselectedPoolIsNotRendered) {
  Json daemon = DaemonJson();
  daemon["spec"]["nodePools"] = {{"exclude", {"a"}}};
  EXPECT_EQ(Render({"--pool", "a"}, daemon.dump()), kDone);
  EXPECT_EQ(out_.str(), "");
  EXPECT_THAT(err_.str(), HasSubstr("does not select pool a: nothing would be created"));
  EXPECT_EQ(Render({"--pool", ""}, daemon.dump()), kUsage);
  EXPECT_THAT(err_.str(), HasSubstr("--pool: the name of the NodePool is empty"));
  EXPECT_EQ(Render({"--pool", std::string(64, 'x')}, daemon.dump()), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("the pool's name is not a valid label value"));
}

TEST_F(RenderTest, InvalidFileIsRejectedWithTheFix) {
  EXPECT_EQ(Render({"--pool", "a"}, "kind: Service\n"), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("error: standard input has no YurtAppDaemon"));
  Json daemon = DaemonJson();
  daemon["metadata"].erase("name");
  EXPECT_EQ(Render({"--pool", "a"}, daemon.dump()), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("error: standard input: metadata.name is missing"));
  daemon = DaemonJson();
  daemon["spec"].erase("selector");
  EXPECT_EQ(Render({"--pool", "a"}, daemon.dump()), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("spec.selector: Required value"));
  EXPECT_EQ(Render({"--pool", "a", "-n", "elsewhere"}, DaemonJson().dump()), kFailed);
  EXPECT_THAT(err_.str(), HasSubstr("give --namespace=ns"));
}

TEST(ErrorTest, ErrorsAreWordedLikeThoseOfKubectl) {
  EXPECT_EQ(DescribeError({Reason::kForbidden, "x is forbidden", 403, {}, {}}),
            "Error from server (Forbidden): x is forbidden");
  EXPECT_EQ(DescribeError({Reason::kBadRequest, "no such group", 0, {}, {}}), "error: no such group");
  EXPECT_EQ(DescribeError({Reason::kTransport, "rejected", 0, {}, {}}), "Unable to connect to the server: rejected");
}

}  // namespace
}  // namespace yad
