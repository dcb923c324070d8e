#include "tests/bench/report.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "tests/bench/chart.h"
#include "tests/bench/measure.h"
#include "tests/support/eventually.h"
#include "tests/support/process.h"

namespace yad::bench {
namespace {

constexpr char kBegin[] = "<!-- the last run: begin -->\n";
constexpr char kEnd[] = "<!-- the last run: end -->\n";

std::string ValueText(double value, const std::string& unit) {
  return Number(value) + (unit.empty() ? "" : " " + unit);
}

std::string BoundsText(const Figure& figure) {
  std::string text;
  for (const Bound& bound : figure.bounds) {
    if (!text.empty()) text += "; ";
    text += bound.name + ": " + ValueText(bound.value, figure.unit);
  }
  return text;
}

// Returns the figure divided by its first bound.
std::string RatioText(const Figure& figure) {
  if (figure.bounds.empty() || figure.bounds.front().value <= 0) return "";
  return Number(figure.value / figure.bounds.front().value);
}

std::string ReachedText(const Figure& figure) {
  const auto reached = figure.Reached();
  return !reached ? "" : *reached ? "yes" : "**no**";
}

// Describes the hardware, but without the host's name, because the text is published.
std::string Machine() {
  std::string model = "unknown processor";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    model = line.substr(line.find(':') + 2);
    break;
  }
  utsname kernel{};
  uname(&kernel);
  const std::string release = kernel.release;
  const auto pages = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return std::to_string(std::thread::hardware_concurrency()) + " cores (" + model + "), " +
         Number(std::round(pages / (1 << 30))) + " GB of memory, Linux " +
         release.substr(0, release.find('.', release.find('.') + 1));
}

// Describes how busy the machine was before the scenarios. The benchmark's idle cluster adds a few percent.
std::string Busy(const Bench& bench) {
  const double busy = Mean(bench.busy_before);
  return "Other programs used " + Number(std::round(busy * 100)) + " % of the CPU" +
         (busy > 0.15 ? ": **times and rates of this run are not reliable.**" : ".");
}

std::string Today() {
  char text[32];
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

// The rows of table.md, in this order. notes.md has all other figures.
constexpr const char* kPageRows[] = {
    "create 1,000 workloads: CPU per workload",
    "create 1,000 workloads: rate",
    "new image in 1,000 workloads: CPU per workload",
    "new image in 1,000 workloads: rate",
    "new image in 3,000 workloads: time",
    "create 1,000 workloads: the apiserver's CPU per workload",
    "new image in 1,000 workloads: the apiserver's CPU per workload",
    "status event of one workload of 1,000 pools: CPU per event",
    "pods, 300 pools: create until ready: CPU",
    "pods, 300 pools: new image until ready: CPU",
    "pods, 300 pools: 20 s at rest: CPU",
    "pods, 300 pools: 20 s at rest: writes",
    "pods, 300 pools: all nodes lost, and back after 20 s: CPU",
    "100 of 1,000 pools removed: from the edit to the last deletion",
    "1 pool added to 1,000, for 100 daemons: until the first create",
    "start with 10,000 workloads: CPU",
    "1,000 NodePool heartbeats: CPU per heartbeat",
    "2,000 watch events in a burst: CPU per event",
    "resident memory, idle",
    "resident memory at 1,000 workloads",
    "resident memory at 10,000 workloads",
    "memory after 15 new images of a 0.9 MB template in 16 pools",
    "webhook, validate, 16 connections: rate",
    "webhook, validate, 16 connections: CPU per call",
};

bool IsOnPage(const Figure& figure) {
  return std::find(std::begin(kPageRows), std::end(kPageRows), figure.what) != std::end(kPageRows);
}

std::vector<Figure> ForPage(const Bench& bench) {
  std::vector<Figure> rows;
  for (const char* what : kPageRows) {
    for (const Figure& figure : bench.figures()) {
      if (figure.what == what) rows.push_back(figure);
    }
  }
  return rows;
}

std::vector<Figure> ForNotes(const Bench& bench) {
  std::vector<Figure> rows = bench.figures();
  std::erase_if(rows, IsOnPage);
  return rows;
}

std::string Markdown(const Bench& bench, const std::vector<Figure>& rows) {
  std::ostringstream out;
  out << Today() << ", on " << Machine() << ". " << Busy(bench) << "\n\n"
      << "| what | figure | bound, from the same run | ratio | target | reached "
         "|\n|---|---|---|---|---|---|\n";
  std::vector<std::string> notes;
  for (const Figure& figure : rows) {
    out << "| " << figure.what;
    if (!figure.note.empty()) {
      auto found = std::find(notes.begin(), notes.end(), figure.note);
      if (found == notes.end()) found = notes.insert(notes.end(), figure.note);
      out << " <sup>" << found - notes.begin() + 1 << "</sup>";
    }
    out << " | " << ValueText(figure.value, figure.unit) << " | " << BoundsText(figure) << " | " << RatioText(figure)
        << " | " << figure.TargetText() << " | " << ReachedText(figure) << " |\n";
  }
  out << "\n";
  for (std::size_t i = 0; i < notes.size(); ++i) out << i + 1 << ". " << notes[i] << "\n";
  return out.str();
}

std::string RateChart(const Bench& bench, const std::string& scenario, const std::string& title) {
  std::vector<BarGroup> groups;
  for (const Figure& figure : bench.figures()) {
    if (figure.scenario.rfind(scenario, 0) != 0 || figure.unit != "/s") continue;
    BarGroup group{figure.what, {{"operator", figure.value, true}}};
    for (const Bound& bound : figure.bounds) group.bars.push_back({bound.name, bound.value});
    groups.push_back(std::move(group));
  }
  return groups.empty() ? "" : BarChart(title, "/s", groups);
}

std::string TargetsChart(const Bench& bench) {
  BarGroup group;
  for (const Figure& figure : ForPage(bench)) {
    const auto used = figure.Used();
    // Cuts long bars at 3, because they would make all other bars too short to read.
    if (used) group.bars.push_back({figure.what, std::min(*used, 3.0), *used <= 1});
  }
  return group.bars.empty()
             ? ""
             : BarChart("Used share of the target (1: exactly at the target; bars end at 3)", "", {group});
}

std::string MemoryChart(const Bench& bench) {
  if (bench.memory_points().size() < 2) return "";
  Line ours{"measured", {}, true};
  Line target{"target", {}, false};
  for (const auto& [workloads, mb] : bench.memory_points()) {
    ours.points.push_back({workloads, mb});
    const double allowed = workloads <= 1000    ? 14.5 + workloads / 1000 * 4.5
                           : workloads <= 10000 ? 19 + (workloads - 1000) / 9000 * 18
                                                : 37 + (workloads - 10000) * 3 / 1024;
    target.points.push_back({workloads, allowed});
  }
  return LineChart("Resident memory", "workloads of 2.2 KB", "MB", {ours, target});
}

std::vector<std::pair<std::string, std::string>> Charts(const Bench& bench) {
  return {{"targets.svg", TargetsChart(bench)},
          {"writes.svg", RateChart(bench, "writes", "Writes a second")},
          {"webhook.svg", RateChart(bench, "webhook", "Admission calls a second")},
          {"memory.svg", MemoryChart(bench)}};
}

void WriteCharts(const Bench& bench, const std::string& folder) {
  for (const auto& [name, svg] : Charts(bench)) {
    if (!svg.empty()) testing::WriteFile(folder + "/" + name, svg);
  }
}

void PutIntoPage(const std::string& table, const std::string& page) {
  std::string text = testing::ReadFile(page);
  const auto begin = text.find(kBegin);
  const auto end = text.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos)
    throw testing::TestFailure("there are no marks in " + page);
  const std::size_t after = begin + std::string(kBegin).size();
  text.replace(after, end - after, table);
  testing::WriteFile(page, text);
}

}  // namespace

std::string Table(const Bench& bench) {
  std::ostringstream out;
  out << Machine() << ". " << Busy(bench) << "\n";
  std::string scenario;
  for (const Figure& figure : bench.figures()) {
    if (figure.scenario != scenario) out << "\n" << (scenario = figure.scenario) << "\n";
    const auto reached = figure.Reached();
    out << (!reached   ? "      "
            : *reached ? "  yes "
                       : "  NO  ")
        << figure.what << ": " << ValueText(figure.value, figure.unit);
    if (figure.target != TargetKind::kNone) out << "   (" << figure.TargetText() << ")";
    if (!figure.bounds.empty()) out << "\n          " << BoundsText(figure) << "   ratio " << RatioText(figure);
    if (!figure.note.empty()) out << "\n          " << figure.note;
    out << "\n";
  }
  return out.str();
}

void WriteResults(const Bench& bench) {
  const std::string& folder = bench.options().out;
  Json results = {{"machine", Machine()}, {"date", Today()}, {"busy_before", bench.busy_before}};
  results["figures"] = results["memory_points"] = Json::array();
  for (const Figure& figure : bench.figures()) results["figures"].push_back(ToJson(figure));
  for (const auto& [workloads, mb] : bench.memory_points()) results["memory_points"].push_back({workloads, mb});
  testing::WriteFile(folder + "/results.json", results.dump(1) + "\n");
  testing::WriteFile(folder + "/table.md", Markdown(bench, ForPage(bench)));
  testing::WriteFile(folder + "/notes.md", Markdown(bench, ForNotes(bench)));
  WriteCharts(bench, folder);
}

void PutIntoPages(const Bench& bench, const std::string& docs) {
  PutIntoPage(Markdown(bench, ForPage(bench)), docs + "/benchmarks.md");
  PutIntoPage(Markdown(bench, ForNotes(bench)), docs + "/performance-notes.md");
  std::filesystem::create_directories(docs + "/benchmarks");
  WriteCharts(bench, docs + "/benchmarks");
}

}  // namespace yad::bench
