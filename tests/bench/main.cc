// The program bench. It measures the cost of the operator, and bounds for this cost, with a real etcd and
// kube-apiserver.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "operator/client/transport/tls_client.h"
#include "tests/bench/bare_watch.h"
#include "tests/bench/bench.h"
#include "tests/bench/echo.h"
#include "tests/bench/measure.h"
#include "tests/bench/report.h"
#include "tests/support/process.h"

namespace yad::bench {

void Bench::Add(Figure figure) {
  const auto reached = figure.Reached();
  Say("  " + figure.what + ": " + Number(figure.value) + (figure.unit.empty() ? "" : " " + figure.unit) +
      (reached && !*reached ? "  (target: " + figure.TargetText() + ")" : ""));
  const auto known =
      std::find_if(figures_.begin(), figures_.end(), [&](const Figure& other) { return other.what == figure.what; });
  if (known == figures_.end()) {
    figures_.push_back(std::move(figure));
  } else {
    *known = std::move(figure);
  }
}

void Bench::AddMemoryPoint(double workloads, double mb) { memory_points_[workloads] = mb; }

void Bench::LoadResults() {
  const std::string path = options_.out + "/results.json";
  const std::string text = testing::ReadFile(path);
  if (text.empty()) return Say("there is no " + path);
  const Json results = Json::parse(text);
  for (const Json& figure : results.at("figures")) figures_.push_back(FigureFromJson(figure));
  for (const Json& point : results.at("memory_points"))
    AddMemoryPoint(point.at(0).get<double>(), point.at(1).get<double>());
  for (const Json& busy : results.at("busy_before")) busy_before.push_back(busy.get<double>());
}

void Bench::Say(const std::string& line) const { std::cerr << line << std::endl; }

namespace {

constexpr char kUsage[] = R"(usage: bench [OPTION...]
  --only=NAME,...     run only these scenarios
  --list              print the names of the scenarios
  --lengthy           also measure memory up to 50,000 workloads, which takes several minutes
  --out=DIR           write the results to DIR (default: build/bench)
  --add               keep the earlier results in DIR of --out
  --docs=DIR          put the tables into DIR/benchmarks.md and DIR/performance-notes.md, and the charts into DIR/benchmarks
)";

std::vector<Scenario> AllScenarios() {
  std::vector<Scenario> all;
  for (const auto& group :
       {PackageScenarios(), MicroScenarios(), WriteScenarios(), ServerScenarios(), DaemonScenarios(), PodsScenarios(),
        StartScenarios(), WorldScenarios(), MemoryScenarios(), WebhookScenarios(), FailoverScenarios()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

// Returns whether `name` is in the list `only`, which is separated by commas. An empty list contains all names.
bool IsSelected(const std::string& only, const std::string& name) {
  return only.empty() || ("," + only + ",").find("," + name + ",") != std::string::npos;
}

int Run(const Options& options, const std::string& docs) {
  const std::string missing = testing::ControlPlane::Missing(YAD_SOURCE_DIR);
  if (!missing.empty()) {
    std::cerr << missing << "\n";
    return 1;
  }
  std::filesystem::create_directories(options.out);
  Bench bench(options);
  if (options.add) bench.LoadResults();
  int failed = 0;
  bool found = false;
  for (const Scenario& scenario : AllScenarios()) {
    if (!scenario.name.empty() && !IsSelected(options.only, scenario.name)) continue;
    found = found || !scenario.name.empty();
    const SteadyTime begin = std::chrono::steady_clock::now();
    if (!scenario.name.empty()) {
      bench.Say(scenario.name);
      bench.busy_before.push_back(BusyShare(std::chrono::milliseconds(500)));
    }
    try {
      scenario.run(bench);
      if (!scenario.name.empty()) bench.Say("  " + Number(std::round(SecondsSince(begin))) + " s");
    } catch (const std::exception& failure) {
      ++failed;
      bench.Say("  FAILED: " + std::string(failure.what()));
    }
    WriteResults(bench);  // keeps these results if a later scenario terminates the process
  }
  if (!found) {
    std::cerr << "there is no scenario " << options.only << "; see --list\n";
    return 2;
  }
  if (!docs.empty()) PutIntoPages(bench, docs);
  std::cout << Table(bench);
  return failed == 0 ? 0 : 1;
}

int Main(int argc, char** argv) {
  KeepOpenSslUntilTheEnd();
  Options options;
  options.out = "build/bench";
  std::string docs, certificates, watch, watch_kubeconfig;
  int echo_port = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value_of = [&](const std::string& flag, std::string& value) {
      if (argument.rfind(flag + "=", 0) != 0) return false;
      value = argument.substr(flag.size() + 1);
      return true;
    };
    std::string port;
    if (value_of("--only", options.only) || value_of("--out", options.out) || value_of("--docs", docs) ||
        value_of("--echo-certificates", certificates) || value_of("--watch", watch) ||
        value_of("--watch-kubeconfig", watch_kubeconfig)) {
      continue;
    }
    if (value_of("--echo", port)) {
      echo_port = std::atoi(port.c_str());
    } else if (argument == "--lengthy") {
      options.lengthy = true;
    } else if (argument == "--add") {
      options.add = true;
    } else if (argument == "--list") {
      for (const Scenario& scenario : AllScenarios()) {
        if (!scenario.name.empty()) std::cout << scenario.name << "\n";
      }
      return 0;
    } else {
      std::cerr << kUsage;
      return argument == "--help" ? 0 : 2;
    }
  }
  if (echo_port != 0) return ServeEcho(echo_port, certificates);
  if (!watch.empty()) return ServeBareWatch(watch_kubeconfig, watch);
  return Run(options, docs);
}

}  // namespace
}  // namespace yad::bench

int main(int argc, char** argv) { return yad::bench::Main(argc, argv); }
