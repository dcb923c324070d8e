// Tests the example controller of docs/runtime.md on a real apiserver.
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/cluster/fixture.h"
#include "tests/support/mirror_controller.h"

namespace yad::testing {
namespace {

const ResourceType kConfigMapType{"", "v1", "configmaps", "ConfigMap", true};

class MirrorControllerTest : public ClusterTest {
 protected:
  void SetUp() override {
    ClusterTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    manager_ = std::make_unique<Manager>(plane().client(), std::nullopt);
    AddMirrorController(*manager_, plane().client(), ns());
    runner_ = std::jthread([this](std::stop_token stop) { outcome_ = manager_->Run(stop); });
  }
  void TearDown() override {
    if (runner_.joinable()) {
      runner_.request_stop();
      runner_.join();
      EXPECT_EQ(outcome_, RunOutcome::kStopped);
    }
    manager_.reset();
    ClusterTest::TearDown();
  }
  void CreateOriginal(const std::string& value) {
    kube().Create(kConfigMapType, {{"apiVersion", "v1"},
                                   {"kind", "ConfigMap"},
                                   {"metadata", {{"name", "a"}, {"namespace", ns()}, {"labels", {{"mirror", "true"}}}}},
                                   {"data", {{"key", value}}}});
  }
  void WaitForMirror(const std::string& value) {
    Eventually("the mirror contains " + value, [&] {
      const auto mirror = plane().client().Get(kConfigMapType, {ns(), "a-mirror"});
      return mirror && StringAt(*mirror, {"data", "key"}) == value;
    });
  }

 private:
  std::unique_ptr<Manager> manager_;
  std::jthread runner_;
  RunOutcome outcome_ = RunOutcome::kFailed;
};

TEST_F(MirrorControllerTest, CreatesAndRepairsItsOwnedObject) {
  CreateOriginal("one");
  WaitForMirror("one");
  ASSERT_TRUE(
      plane().client().Patch(kConfigMapType, {ns(), "a-mirror"}, PatchType::kMerge, {{"data", {{"key", "drift"}}}}));
  WaitForMirror("one");
  ASSERT_TRUE(plane().client().Delete(kConfigMapType, {ns(), "a-mirror"}));
  WaitForMirror("one");
}

TEST_F(MirrorControllerTest, UpdatesItsOwnedObjectWhenThePrimaryChanges) {
  CreateOriginal("one");
  WaitForMirror("one");
  ASSERT_TRUE(plane().client().Patch(kConfigMapType, {ns(), "a"}, PatchType::kMerge, {{"data", {{"key", "two"}}}}));
  WaitForMirror("two");
}

TEST(RuntimeDocsTest, ExampleIsTheCodeOfTheMirrorController) {
  const auto read = [](const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(std::string(YAD_SOURCE_DIR) + "/" + file).rdbuf();
    return text.str();
  };
  const std::string code = read("tests/support/mirror_controller.cc");
  ASSERT_FALSE(code.empty());
  EXPECT_NE(read("docs/runtime.md").find("```cpp\n" + code + "```"), std::string::npos)
      << "docs/runtime.md differs from tests/support/mirror_controller.cc: copy the code to the page";
}

}  // namespace
}  // namespace yad::testing
