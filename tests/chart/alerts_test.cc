// The alerts and the dashboard: promtool checks the rules, and the operator exports every metric that they use.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/chart/fixture.h"
#include "tests/support/eventually.h"
#include "tests/support/test_run.h"
#include "tests/support/yaml.h"

namespace yad::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPromtool[] = "/usr/bin/promtool";
const std::string kFolder = YAD_SOURCE_DIR "/tests/chart/alerts";
const std::vector<std::string> kRules = {"metrics.prometheusRule.enabled=true"};

// The labels of each metric. A histogram is three metrics: bucket, sum and count.
using Shapes = std::map<std::string, std::set<std::string>>;

std::set<std::string> LabelsIn(const std::string& selector) {
  std::set<std::string> names;
  const std::regex label("([a-zA-Z_]+)=\"");
  for (std::sregex_iterator at(selector.begin(), selector.end(), label), end; at != end; ++at) names.insert((*at)[1]);
  return names;
}

// Parses Prometheus' exposition format.
Shapes ShapesIn(const std::string& text) {
  Shapes shapes;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::string name = line.substr(0, line.find_first_of("{ "));
    const auto open = line.find('{');
    shapes[name].merge(LabelsIn(open == std::string::npos ? "" : line.substr(open)));
  }
  return shapes;
}

// Returns the names of metrics in PromQL expressions, without labels, keywords and functions.
std::set<std::string> MetricsIn(std::string text) {
  for (const char* other : {"\"[^\"]*\"", "\\{[^}]*\\}", "\\b(by|on|without|ignoring)\\s*\\([^)]*\\)", "\\$[a-z_]+"}) {
    text = std::regex_replace(text, std::regex(other), " ");
  }
  std::set<std::string> names;
  const std::regex name("\\b[a-z]+(_[a-z0-9]+)+\\b(?!\\s*\\()");
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) names.insert(at->str());
  return names;
}

class AlertsTest : public ChartTest {
 protected:
  Json Rules(const std::vector<std::string>& values = kRules) {
    return At(TheOne(Admitted(values), "PrometheusRule"), "/spec/groups/0/rules");
  }
  Json Dashboard(std::vector<std::string> values = {}) {
    values.push_back("metrics.grafanaDashboard.enabled=true");
    return Json::parse(StringAt(TheOne(Admitted(values), "ConfigMap"), {"data", "yurtappdaemon-operator.json"}));
  }
  std::set<std::string> Names(const Json& rules) {
    std::set<std::string> names;
    for (const Json& rule : rules) names.insert(rule.at("alert").get<std::string>());
    return names;
  }
  // Creates a folder for promtool's files, and returns its path. If promtool is not installed, returns "", and in CI
  // also fails the test.
  std::string MakeFolder() {
    if (access(kPromtool, X_OK) != 0) {
      if (InCi()) ADD_FAILURE() << kPromtool << " is missing: hack/packages.sh chart";
      return "";
    }
    const std::string folder = plane().dir() + "/alerts";
    std::filesystem::create_directories(folder);
    return folder;
  }
  static void WriteRules(const std::string& file, const Json& rules) {
    WriteFile(file, Json{{"groups", {{{"name", "alerts"}, {"rules", rules}}}}}.dump());
  }
  // Returns the names of the alerts that the test checks.
  static std::set<std::string> AlertsOf(const Json& test) {
    std::set<std::string> names;
    for (const Json& check : test.at("alert_rule_test")) names.insert(check.at("alertname").get<std::string>());
    return names;
  }
};

TEST_F(AlertsTest, PromtoolAcceptsTheRulesWithAllValues) {
  std::vector<std::string> command = {kPromtool, "check", "rules"};
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {},
           {"certManager.enabled=true", "certManager.renewBefore=720h"},
           {"webhook.existingSecret=tls", "webhook.caBundle=-----BEGIN CERTIFICATE-----"},
           {"webhook.failurePolicy=Ignore", "fullnameOverride=short",
            "metrics.prometheusRule.alertLabels.team=edge"}}) {
    std::vector<std::string> values = kRules;
    values.insert(values.end(), more.begin(), more.end());
    const std::string folder = MakeFolder();
    if (folder.empty()) GTEST_SKIP() << "promtool is not installed";
    const std::string file = folder + "/rules-" + std::to_string(command.size()) + ".json";
    WriteRules(file, Rules(values));
    command.push_back(file);
  }
  const ProcessResult result = RunProcess(command);
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

TEST_F(AlertsTest, EachAlertFiresOnlyForItsTestSeries) {
  Json rules = Rules();
  // Keeps only the summaries, so that the tests need not repeat each description.
  for (Json& rule : rules) rule["annotations"] = {{"summary", rule["annotations"]["summary"]}};
  const std::string folder = MakeFolder();
  if (folder.empty()) GTEST_SKIP() << "promtool is not installed";
  std::set<std::string> firing;
  std::set<std::string> resting;
  std::vector<std::string> command = {kPromtool, "test", "rules"};
  for (const auto& file : std::filesystem::directory_iterator(kFolder)) {
    if (file.path().extension() != ".yaml") continue;
    const Json tests = ParseYaml(ReadFile(file.path())).at(0);
    for (const Json& test : tests.at("tests")) {
      // promtool evaluates all rules of the file at each interval, so each test has a file with only its own rules.
      const std::string name = file.path().stem().string() + "-" + std::to_string(command.size());
      const std::set<std::string> alerts = AlertsOf(test);
      Json own = Json::array();
      for (const Json& rule : rules) {
        if (alerts.contains(rule.at("alert").get<std::string>())) own.push_back(rule);
      }
      WriteRules(folder + "/rules-of-" + name + ".json", own);
      Json copy = tests;
      copy["rule_files"] = Json::array({"rules-of-" + name + ".json"});
      copy["tests"] = Json::array({test});
      WriteFile(folder + "/" + name + ".json", copy.dump());
      command.push_back(folder + "/" + name + ".json");
      for (const Json& check : test.at("alert_rule_test")) {
        (check.at("exp_alerts").empty() ? resting : firing).insert(check.at("alertname").get<std::string>());
      }
    }
  }
  const ProcessResult result = RunProcess(command);
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_EQ(firing, Names(rules));
  EXPECT_EQ(resting, Names(rules));
}

TEST_F(AlertsTest, EveryAlertHasASectionInTheRunbooks) {
  const std::string page = ReadFile(YAD_SOURCE_DIR "/docs/runbooks.md");
  std::set<std::string> sections;
  const std::regex heading("\n## ([A-Za-z]+)\n");
  for (std::sregex_iterator at(page.begin(), page.end(), heading), end; at != end; ++at) sections.insert((*at)[1]);
  EXPECT_EQ(sections, Names(Rules()));
  for (const std::string& name : sections) {
    const auto begin = page.find("\n## " + name + "\n");
    const std::string section = page.substr(begin, page.find("\n## ", begin + 1) - begin);
    EXPECT_THAT(section, AllOf(HasSubstr("**Meaning.**"), HasSubstr("**Impact.**"), HasSubstr("**Diagnosis.**"),
                               HasSubstr("**Fix.**")))
        << name;
  }
  for (const Json& rule :
       Rules({"metrics.prometheusRule.enabled=true", "metrics.prometheusRule.runbookUrl=https://x/r"})) {
    std::string name = rule.at("alert").get<std::string>();
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    EXPECT_EQ(StringAt(rule, {"annotations", "runbook_url"}), "https://x/r#" + name);
    EXPECT_FALSE(StringAt(rule, {"labels", "severity"}).empty());
    EXPECT_FALSE(StringAt(rule, {"annotations", "description"}).empty());
  }
}

TEST_F(AlertsTest, AlertsCanBeDisabledAndGetExtraLabels) {
  const Json rules = Rules({"metrics.prometheusRule.enabled=true", "metrics.prometheusRule.alertLabels.team=edge",
                            "metrics.prometheusRule.alertLabels.severity=page",
                            "metrics.prometheusRule.disabled={YurtAppDaemonReadsFail}"});
  EXPECT_THAT(Names(rules), Not(Contains("YurtAppDaemonReadsFail")));
  EXPECT_EQ(Names(rules).size() + 1, Names(Rules()).size());
  for (const Json& rule : rules) {
    EXPECT_EQ(StringAt(rule, {"labels", "team"}), "edge");
    EXPECT_NE(StringAt(rule, {"labels", "severity"}), "page")
        << "an extra label must not replace the severity, by which Alertmanager routes";
  }
  const std::vector<std::string> without = {"metrics.prometheusRule.enabled=true", "webhook.enabled=false"};
  for (const std::string& name : Names(Rules(without))) EXPECT_THAT(name, Not(HasSubstr("Webhook")));
}

TEST_F(AlertsTest, TheDashboardLinksToTheRunbooksIfTheirUrlIsSet) {
  EXPECT_EQ(Dashboard().at("links"), Json::array());
  const Json links = Dashboard({"metrics.prometheusRule.runbookUrl=https://x/r?a=1&b=2"}).at("links");
  ASSERT_EQ(links.size(), 1u);
  EXPECT_EQ(At(links, "/0/url"), "https://x/r?a=1&b=2");
}

// metrics.txt has a line for each metric of a running operator.
TEST_F(AlertsTest, AlertsTheirTestsAndTheDashboardUseOnlyExportedMetrics) {
  const Shapes exported = ShapesIn(ReadFile(kFolder + "/metrics.txt"));
  std::string expressions;
  for (const Json& rule : Rules()) expressions += rule.at("expr").get<std::string>() + "\n";
  const Json dashboard = Dashboard();
  for (const Json& panel : dashboard.at("panels")) {
    for (const Json& target : panel.value("targets", Json::array())) {
      expressions += target.at("expr").get<std::string>() + "\n";
    }
  }
  for (const Json& annotation : dashboard.at("annotations").at("list")) {
    expressions += annotation.at("expr").get<std::string>() + "\n";
  }
  const std::set<std::string> names = MetricsIn(expressions);
  EXPECT_GE(names.size(), 25u);
  for (const std::string& name : names) EXPECT_TRUE(exported.contains(name)) << name;

  const std::set<std::string> of_target = {"namespace", "exported_namespace", "service", "instance", "pod", "job"};
  for (const auto& file : std::filesystem::directory_iterator(kFolder)) {
    if (file.path().extension() != ".yaml") continue;
    const Json tests = ParseYaml(ReadFile(file.path())).at(0).at("tests");
    for (const Json& test : tests) {
      for (const Json& input : test.at("input_series")) {
        for (const auto& [name, labels] : ShapesIn(input.at("series").get<std::string>())) {
          if (name == "up") continue;  // Prometheus adds this metric itself.
          ASSERT_TRUE(exported.contains(name)) << name;
          std::set<std::string> expected = exported.at(name);
          expected.insert(of_target.begin(), of_target.end());
          for (const std::string& label : labels) EXPECT_TRUE(expected.contains(label)) << name << " " << label;
          for (const std::string& label : exported.at(name))
            EXPECT_TRUE(labels.contains(label)) << name << " " << label;
        }
      }
    }
  }
}

TEST_F(AlertsTest, MetricsFileListsTheMetricsOfARunningOperator) {
  const Shapes recorded = ShapesIn(ReadFile(kFolder + "/metrics.txt"));
  const ChartInstall chart(helm(), plane(), {"metrics", "metrics", {"nodePoolAutoscaler.enabled=true"}});
  const auto process = Run(chart);
  kube().Create(kNodePoolType, {{"metadata", {{"name", "site"}}}});
  plane().Kubectl({"apply", "-f", "-"}, R"(
apiVersion: apps.openyurt.io/v1alpha1
kind: YurtAppDaemon
metadata: {name: web, namespace: default}
spec:
  selector: {matchLabels: {app: web}}
  nodepoolSelector: {}
  serviceTemplate: {spec: {ports: [{port: 80}]}}
  workloadTemplate:
    deploymentTemplate:
      metadata: {labels: {app: web}}
      spec: {template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: web}]}}}
)");
  Eventually("the daemon, its pool and its Service are counted", [&] {
    const Shapes shapes = ShapesIn(process->Metrics());
    return shapes.contains("yurtappdaemon_pools") && shapes.contains("nodepool_nodes") &&
           shapes.contains("yurtappdaemon_service_writes_total");
  });
  const Shapes live = ShapesIn(process->Metrics());
  EXPECT_GE(live.size(), 35u);
  for (const auto& [name, labels] : live) {
    ASSERT_TRUE(recorded.contains(name)) << name << " is not in " << kFolder << "/metrics.txt";
    EXPECT_EQ(recorded.at(name), labels) << name;
  }
  // A quantile is at most the bound of the largest bucket. YurtAppDaemonWebhookIsSlow compares a quantile of this
  // histogram with four fifths of webhook.timeoutSeconds, which is at most 30.
  EXPECT_THAT(process->Metrics(), ContainsRegex("webhook_latency_seconds_bucket[{][^}]*le=\"30\""));
  // The operator exports other metrics only after their first event, so the test searches the sources for their names.
  std::string sources;
  for (const char* folder : {"/operator", "/webhook"}) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(YAD_SOURCE_DIR + std::string(folder))) {
      if (file.is_regular_file()) sources += ReadFile(file.path());
    }
  }
  for (const auto& [name, labels] : recorded) {
    const std::string base = std::regex_replace(name, std::regex("_(bucket|sum|count)$"), "");
    EXPECT_THAT(sources, HasSubstr("\"" + base + "\""));
  }
  EXPECT_EQ(process->Stop(), 0);
  kube("default").Delete(kYurtAppDaemonType, "web");
  kube().Delete(kNodePoolType, "site");
}

}  // namespace
}  // namespace yad::testing
