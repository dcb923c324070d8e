// Reports the results of the micro-benchmarks, and the size of the release.
#include <cstdlib>
#include <filesystem>

#include "operator/json/json_document.h"
#include "tests/bench/bench.h"
#include "tests/support/eventually.h"
#include "tests/support/process.h"

namespace yad::bench {
namespace {

void Package(Bench& bench) {
  const std::string stripped = bench.options().out + "/stripped";
  const auto result = testing::RunProcess({"strip", "-o", stripped, YAD_OPERATOR_BINARY});
  if (result.exit_code != 0) throw testing::TestFailure("strip: " + result.err);
  const auto bytes = static_cast<double>(std::filesystem::file_size(stripped));
  std::filesystem::remove(stripped);
  bench.Add({"package", "stripped binary", bytes / (1 << 20), "MB", {}, TargetKind::kAtMost, 8});
}

// Reads the JSON of micro_bench, if it exists.
void Micro(Bench& bench) {
  const std::string path = bench.options().out + "/micro.json";
  const std::string text = testing::ReadFile(path);
  if (text.empty()) return bench.Say("  there is no " + path);
  const auto report = ParseJson(text);
  if (!report) throw testing::TestFailure(path + ": " + report.error().message);
  const Json* benchmarks = Find(*report, {"benchmarks"});
  if (benchmarks == nullptr || !benchmarks->is_array()) return;
  for (const Json& entry : *benchmarks) {
    // Uses only the median of repeated benchmarks.
    const std::string aggregate = StringAt(entry, {"aggregate_name"});
    if (!aggregate.empty() && aggregate != "median") continue;
    const auto time = entry.find("cpu_time");
    if (time == entry.end() || !time->is_number()) continue;
    const std::string unit = StringAt(entry, {"time_unit"}, "ns");
    const std::string name = StringAt(entry, {"name"});
    bench.Add({"micro", name, time->get<double>(), unit == "us" ? "µs" : unit});
    const std::string plan = "PlanNothingChanged/";
    if (name.rfind(plan, 0) != 0) continue;
    const double pools = std::strtod(name.c_str() + plan.size(), nullptr);
    const double us = time->get<double>() * (unit == "ns" ? 1e-3 : unit == "ms" ? 1e3 : 1);
    bench.Add({"micro",
               "plan for " + Number(pools) + " pools, nothing changed: CPU per pool",
               us / pools,
               "µs",
               {},
               TargetKind::kAtMost,
               1});
  }
}

}  // namespace

std::vector<Scenario> PackageScenarios() { return {{"package", Package}}; }
std::vector<Scenario> MicroScenarios() { return {{"micro", Micro}}; }

}  // namespace yad::bench
