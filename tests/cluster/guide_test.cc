// Runs the commands of docs/guide unchanged, and compares their output with the pages.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <semaphore>
#include <thread>
#include <utility>

#include "operator/api/well_known.h"
#include "tests/cluster/guide_page.h"
#include "tests/cluster/installed_fixture.h"
#include "tests/support/prometheus_server.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kGuide[] = YAD_SOURCE_DIR "/docs/guide";
constexpr char kIndex[] = "README.md";
constexpr char kFreezePage[] = "freeze";
constexpr char kMetricsPage[] = "canary-metrics";
constexpr char kPrefetchPage[] = "prefetch";
constexpr char kGuideLabel[] = "example.com/guide";  // on all pools of the guide

std::vector<std::string> Pages() {
  std::vector<std::string> pages;
  for (const auto& entry : std::filesystem::directory_iterator(kGuide)) {
    if (entry.path().extension() == ".md" && entry.path().filename() != kIndex) pages.push_back(entry.path().stem());
  }
  std::sort(pages.begin(), pages.end());
  return pages;
}

std::string PageText(const std::string& page) { return ReadFile(std::string(kGuide) + "/" + page + ".md"); }

// Runs each page in its own namespace and folder, up to eight at the same time. The page about the freeze runs last,
// because a freeze stops the updates of all pages.
class GuideTest : public InstalledTest {
 protected:
  void SetUp() override {
    InstalledTest::SetUp();
    if (!HasControlPlane()) return;
    if (PrometheusServer::Missing().empty()) {
      prometheus_ = std::make_unique<PrometheusServer>();
      prometheus_->Export(ReadFile(std::string(kGuide) + "/" + kMetricsPage + ".txt"));
    }
    StartOperator();
    plane().Kubectl({"apply", "-f", std::string(kGuide) + "/nodes.yaml"});
    for (const std::string& page : Pages()) {
      kube().Create(kNamespaceType,
                    {{"metadata", {{"name", NamespaceOf(page)}, {"labels", {{kReviewedLabel, "yes"}}}}}});
    }
  }
  void TearDown() override {
    if (HasControlPlane()) {
      for (const std::string& page : Pages()) kube().Delete(kNamespaceType, NamespaceOf(page));
      plane().Kubectl({"delete", "configmap", kFreezeName, "--namespace=" + install().ns(), "--ignore-not-found"});
      plane().Kubectl({"delete", "nodepools", "-l", kGuideLabel});
      plane().Kubectl({"delete", "-f", std::string(kGuide) + "/nodes.yaml"});
      StopOperator();
    }
    InstalledTest::TearDown();
  }

  OperatorOptions DefaultOptions() override {
    OperatorOptions options = InstalledTest::DefaultOptions();
    if (prometheus_ != nullptr) options.all_flags.push_back("--prometheus-url=" + prometheus_->url());
    return options;
  }

  // Returns why this machine or this Kubernetes cannot run the page, or "".
  std::string WhyNotRun(const std::string& page) {
    if (page == kPrefetchPage && plane().minor() < 31) return "this Kubernetes has no image volumes";
    if (page == kMetricsPage && prometheus_ == nullptr && !InCi()) return PrometheusServer::Missing();
    return "";
  }

  static std::string NamespaceOf(const std::string& page) { return "guide-" + page; }

  // Runs the commands of the page. Returns "", or the line and the description of the first difference.
  std::string Follow(const std::string& page) {
    const std::string folder = plane().dir() + "/" + NamespaceOf(page);
    std::filesystem::create_directory(folder);
    std::filesystem::create_directory_symlink(YAD_SOURCE_DIR "/docs", folder + "/docs");
    WriteFile(folder + "/kubeconfig", ReadFile(plane().kubeconfig()));
    ProcessOptions options;
    options.env = {{"HOME", folder},
                   {"KUBECONFIG", folder + "/kubeconfig"},
                   {"PATH", AssetsDir(YAD_SOURCE_DIR) + ":" + std::getenv("PATH")}};
    const auto shell = [&](const std::string& text) {
      return RunProcess({"bash", "-o", "pipefail", "-c", "exec 2>&1; cd '" + folder + "'\n" + text}, options);
    };
    if (const auto set = shell("kubectl config set-context --current --namespace=" + NamespaceOf(page));
        set.exit_code != 0) {
      return page + ": " + set.out;
    }
    const auto why_not = [&](const GuideCommand& command) {
      const ProcessResult result = shell(command.text);
      if ((result.exit_code != 0) != command.fails) {
        return "exit code " + std::to_string(result.exit_code) + "; the answer was\n" + result.out;
      }
      return DifferenceFromAnswer(command.answer, result.out);
    };
    std::string at = page;
    try {
      for (const GuideCommand& command : CommandsOf(PageText(page))) {
        at = "docs/guide/" + page + ".md:" + std::to_string(command.line);
        const std::string what = "$ " + command.text;
        if (command.OnlyReads()) {
          // Each process of kubectl needs a fifth of a second of CPU, and eight pages wait at the same time.
          Eventually(what, [&, again = false]() mutable {
            if (std::exchange(again, true)) std::this_thread::sleep_for(std::chrono::milliseconds(500));
            return why_not(command);
          });
        } else if (const std::string fault = why_not(command); !fault.empty()) {
          throw TestFailure(what + "\n" + fault);
        }
      }
    } catch (const std::exception& failure) {
      return at + ": " + failure.what();
    }
    return "";
  }

 private:
  std::unique_ptr<PrometheusServer> prometheus_;
};

TEST_F(GuideTest, CommandsOfEachPagePrintWhatThePageShows) {
  const std::vector<std::string> pages = Pages();
  std::vector<std::string> faults(pages.size());
  {
    // If more pages ran at the same time, the operator on a small machine could lose its lease.
    std::counting_semaphore<> slots(8);
    std::vector<std::jthread> readers;
    for (std::size_t i = 0; i < pages.size(); ++i) {
      if (pages[i] == kFreezePage) continue;
      if (const std::string why_not = WhyNotRun(pages[i]); !why_not.empty()) {
        std::cerr << "not run: " << pages[i] << ", because " << why_not << "\n";
        continue;
      }
      readers.emplace_back([this, &slots, &page = pages[i], &fault = faults[i]] {
        slots.acquire();
        fault = Follow(page);
        slots.release();
      });
    }
  }
  faults.push_back(Follow(kFreezePage));
  for (const std::string& fault : faults) {
    if (!fault.empty()) ADD_FAILURE() << fault;
  }
}

TEST(GuideFolderTest, TheIndexNamesEachPageAndEachPageHasCommands) {
  const std::string index = ReadFile(std::string(kGuide) + "/" + kIndex);
  for (const std::string& page : Pages()) {
    EXPECT_THAT(index, HasSubstr("(" + page + ".md)"));
    EXPECT_FALSE(CommandsOf(PageText(page)).empty()) << page;
  }
}

// ---- the reader of pages ----

TEST(GuidePageTest, CommandsAreParsedAsInAShellAndTheNextLinesAreTheirOutput) {
  const std::vector<GuideCommand> commands = CommandsOf(
      "Text.\n```yaml\n$ not this\n```\n```console\n$ kubectl get \\\n    pods\nNAME\n$ cat > f <<EOF\n$ a\nEOF\n"
      "$ true\n```\n```console fails\n$ false\n```\n");
  ASSERT_EQ(commands.size(), 4U);
  EXPECT_EQ(commands[0].line, 6);
  EXPECT_EQ(commands[0].text, "kubectl get \\\n    pods");
  EXPECT_THAT(commands[0].answer, ElementsAre("NAME"));
  EXPECT_TRUE(commands[0].OnlyReads());
  EXPECT_EQ(commands[1].text, "cat > f <<EOF\n$ a\nEOF");
  EXPECT_THAT(commands[1].answer, IsEmpty());
  EXPECT_FALSE(commands[1].OnlyReads());
  EXPECT_FALSE(commands[2].fails);
  EXPECT_EQ(commands[3].line, 15);
  EXPECT_TRUE(commands[3].fails);
}

TEST(GuidePageTest, AnInvalidBlockIsAnError) {
  EXPECT_THROW(CommandsOf("```console\nkubectl get pods\n```\n"), TestFailure);
  EXPECT_THROW(CommandsOf("```console\n$ kubectl get pods\n"), TestFailure);
  EXPECT_THROW(CommandsOf("```console\n$ cat <<EOF\n```\n"), TestFailure);
  EXPECT_THROW(CommandsOf("```console expect\n$ true\n```\n"), TestFailure);
}

TEST(GuidePageTest, ThreeDotsMatchAnyTextAndALineOfThreeDotsMatchesAnyLines) {
  EXPECT_EQ(DifferenceFromAnswer({}, ""), "");
  EXPECT_EQ(DifferenceFromAnswer({"NAME  AGE", "web-...  ..."}, "NAME    AGE\nweb-x7k  3s\n"), "");
  EXPECT_EQ(DifferenceFromAnswer({"...", "b", "...", "d"}, "a\nb\nb\nc\nd\n"), "");
  EXPECT_EQ(DifferenceFromAnswer({"a...b...c"}, "a-b-b-c\n"), "");
  EXPECT_THAT(DifferenceFromAnswer({"a", "c"}, "a\nb\n"), HasSubstr("the page says \"c\""));
  EXPECT_THAT(DifferenceFromAnswer({"a"}, "a\nb\n"), HasSubstr("the page says no more"));
  EXPECT_THAT(DifferenceFromAnswer({"a", "b"}, "a\n"), HasSubstr("the page says \"b\""));
  EXPECT_THAT(DifferenceFromAnswer({"...", "c"}, "a\nb\n"), HasSubstr("the page says \"c\""));
  EXPECT_THAT(DifferenceFromAnswer({"1 of 3"}, "11 of 3\n"), HasSubstr("the page says \"1 of 3\""));
  EXPECT_THAT(DifferenceFromAnswer({}, "Warning: x\n"), HasSubstr("the page says no more"));
}

}  // namespace
}  // namespace yad::testing
