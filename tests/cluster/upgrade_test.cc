// The previous version (hack/old-release.sh) begins a rollout, and this version continues it. No pool may be updated
// before its turn.
#include <filesystem>

#include "tests/cluster/fixture.h"
#include "tests/support/process.h"

namespace yad::testing {
namespace {

class UpgradeTest : public BothKinds {
 protected:
  void SetUp() override {
    BothKinds::SetUp();
    old_ = RunProcess({YAD_SOURCE_DIR "/hack/old-release.sh", "path"}).out;
    while (!old_.empty() && old_.back() == '\n') old_.pop_back();
    if (!std::filesystem::exists(old_)) GTEST_SKIP() << "the previous version's operator is missing: " << old_;
  }
  void StartOld() {
    OperatorOptions options = DefaultOptions();
    options.binary = old_;
    before_ = std::make_unique<OperatorProcess>(options);
    before_->WaitUntilReady();
  }
  void Upgrade() {
    EXPECT_EQ(before_->Stop(), 0);
    generations_ = Generations();
    StartOperator();
    Barrier();
  }
  std::map<std::string, std::int64_t> Generations() {
    std::map<std::string, std::int64_t> generations;
    for (const auto& [pool, workload] : ByPool("web")) generations[pool] = IntAt(workload, {"metadata", "generation"});
    return generations;
  }
  // Creates pools a to c with a node each, and a daemon that is healthy with its first template.
  void Deployed(const Json& rolling) {
    for (const char* pool : {"a", "b", "c"}) AddNode(AddPool(pool));
    StartOld();
    Json daemon = Daemon("web", 1);
    daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", rolling}};
    CreateDaemon(daemon);
    WaitUntilReady("web");
  }
  void WaitForPhase(const std::string& pool, const std::string& phase) {
    WaitForStatus("web", pool + " is " + phase, [&](const Json& status) {
      return StringAt(PoolStatus({{"status", status}}, Pool(pool)), {"phase"}) == phase;
    });
  }

  std::string old_;
  std::unique_ptr<OperatorProcess> before_;
  std::map<std::string, std::int64_t> generations_;  // of the workloads, at the upgrade
};
INSTANTIATE_ONE_KIND(UpgradeTest, WorkloadKind::kDeployment);

TEST_P(UpgradeTest, ChangesNoPoolAfterARollout) {
  Deployed({{"minReadySeconds", 1}});
  Upgrade();
  Barrier();
  EXPECT_EQ(Generations(), generations_);
  WaitForStatus("web", "Complete is True", [](const Json& status) {
    return StringAt(ConditionOf({{"status", status}}, "Complete"), {"status"}) == "True";
  });
}

TEST_P(UpgradeTest, ChangesNoPoolDuringARollout) {
  Deployed({{"progressDeadlineSeconds", 600}});
  SetBadTemplate();
  WaitForPhase("a", "Updating");
  Upgrade();
  Barrier();
  EXPECT_EQ(Generations(), generations_);
  WaitForPhase("a", "Updating");
  PatchTemplate("web", {{"spec", {{"template", {{"spec", {{"nodeSelector", nullptr}}}}}}}});
  WaitForProgress("RolloutComplete");
}

TEST_P(UpgradeTest, ContinuesTheSoakOfAPool) {
  Deployed({{"minReadySeconds", 20}});
  SetImage("web", "example.org/app:2");
  WaitForPhase("a", "Soaking");
  Upgrade();
  Barrier();
  EXPECT_EQ(Generations(), generations_) << "pool a is still soaking";
  WaitForPhase("a", "Ready");
  WaitForPhase("b", "Soaking");
}

TEST_P(UpgradeTest, ChangesNoPoolAfterARollback) {
  Deployed({{"progressDeadlineSeconds", 5}, {"onFailure", "Rollback"}});
  SetBadTemplate();
  WaitForProgress("RolledBack");
  Upgrade();
  Barrier();
  EXPECT_EQ(Generations(), generations_);
  WaitForProgress("RolledBack");
}

}  // namespace
}  // namespace yad::testing
