#include <algorithm>
#include <cstdio>
#include <map>

#include "operator/base/join.h"
#include "plugin/commands/timeline.h"
#include "plugin/view/console.h"
#include "plugin/view/text.h"

namespace yad {
namespace {

constexpr char kHead[] = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
:root { color-scheme: light dark; --text: #1f2328; --soft: #59636e; --back: #ffffff; --line: #d1d9e0; --track: #f0f2f5;
  --update: #0969da; --soak: #1a7f37; --failed: #cf222e; --back-bar: #9a6700; --offline: #818b98; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --soft: #9198a1; --back: #0d1117; --line: #3d444d;
  --track: #1b222c; --update: #4493f8; --soak: #3fb950; --failed: #f85149; --back-bar: #d29922; --offline: #656c76; } }
body { margin: 0 auto; max-width: 75rem; padding: 1.5rem; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; line-height: 1.3; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; } h3 span, .soft { color: var(--soft); font-weight: normal; }
.end { font-size: 1.1rem; font-weight: 600; }
ol { list-style: none; margin: 0; padding: 0; }
.row { display: grid; grid-template-columns: 12rem 10rem 11rem 1fr; gap: 0 .75rem; align-items: center;
  padding: .15rem 0; border-top: 1px solid var(--line); }
.axis { border-top: 0; } .axis .track { background: none; color: var(--soft); font-size: .8rem; }
.track { position: relative; height: 1.1rem; background: var(--track); border-radius: 3px; overflow: hidden; }
.bar { position: absolute; top: 0; bottom: 0; min-width: 3px; }
.tick { position: absolute; transform: translateX(-50%); white-space: nowrap; }
.tick:first-child { transform: none; } .tick:last-child { transform: translateX(-100%); }
.update { background: var(--update); } .soak { background: var(--soak); } .failed { background: var(--failed); }
.back { background: var(--back-bar); } .offline { background: var(--offline); }
.key { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px; margin-right: .3rem; }
.legend { white-space: nowrap; margin-right: .6rem; }
table { border-collapse: collapse; } th, td { text-align: left; padding: .2rem 1rem .2rem 0; vertical-align: top;
  border-top: 1px solid var(--line); } th { color: var(--soft); font-weight: normal; }
.reached { grid-template-columns: 7rem 4rem 1fr; }
@media (max-width: 45rem) { body { padding: 1rem; } .row { grid-template-columns: 1fr auto auto; }
  .row .track { grid-column: 1 / -1; } .axis > :not(.track) { display: none; }
  .reached { grid-template-columns: 5rem 3rem 1fr; } .reached .track { grid-column: auto; } }
</style>
)";

// Escapes text from the cluster for HTML.
std::string Text(const std::string& text) {
  static const std::map<char, std::string> kEscapes{
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  std::string html;
  for (const char c : Printable(text)) {
    const auto escape = kEscapes.find(c);
    html += escape == kEscapes.end() ? std::string(1, c) : escape->second;
  }
  return html;
}

std::string Percent(double share) {
  char text[16];
  std::snprintf(text, sizeof(text), "%.3f%%", 100 * std::clamp(share, 0.0, 1.0));
  return text;
}

class Page {
 public:
  explicit Page(const Timeline& timeline) : timeline_(timeline), simulation_(timeline.simulation) {}

  std::string Make() {
    html_ = kHead;
    html_ += "<title>Rollout of " + Text(timeline_.daemon) + ", simulated</title>\n</head>\n<body>\n<main>\n";
    html_ += "<h1>Rollout of " + Text(timeline_.daemon) + " to " + Text(timeline_.revision) + "</h1>\n";
    html_ += "<p class=\"end\">" + Text(LastLine(timeline_)) + "</p>\n";
    html_ += "<p class=\"soft\">" + Text(Headline(timeline_)) + "</p>\n";
    for (const std::string& failure : simulation_.failures) html_ += "<p>" + Text(failure) + "</p>\n";
    AddPools();
    AddEvents();
    if (timeline_.failures) AddFailures(*timeline_.failures);
    html_ += "</main>\n</body>\n</html>\n";
    return std::move(html_);
  }

 private:
  using Pools = std::vector<const SimulatedPool*>;

  double ShareAt(WallTime time) const {
    const auto whole = std::chrono::duration<double>(simulation_.to - simulation_.from).count();
    return whole > 0 ? std::chrono::duration<double>(time - simulation_.from).count() / whole : 0;
  }

  // Adds a bar. The style sheet sets a minimum width, so a bar without a duration is also visible.
  void AddBar(const char* kind, WallTime from, WallTime to) {
    const double left = ShareAt(from);
    html_ += std::string("<span class=\"bar ") + kind + "\" style=\"left:min(" + Percent(left) +
             ",calc(100% - 3px));width:" + Percent(ShareAt(to) - left) + "\"></span>";
  }

  // Returns the groups with their pools. Both are sorted by their start.
  std::vector<std::pair<std::string, Pools>> Groups() const {
    const auto start = [](const SimulatedPool* pool) { return pool->starts.value_or(WallTime::max()); };
    const auto sooner = [&](const SimulatedPool* a, const SimulatedPool* b) { return start(a) < start(b); };
    std::map<std::string, Pools> by_name;
    for (const SimulatedPool& pool : simulation_.pools) by_name[pool.group].push_back(&pool);
    std::vector<std::pair<std::string, Pools>> groups(by_name.begin(), by_name.end());
    for (auto& [name, pools] : groups) std::stable_sort(pools.begin(), pools.end(), sooner);
    std::stable_sort(groups.begin(), groups.end(),
                     [&](const auto& a, const auto& b) { return sooner(a.second.front(), b.second.front()); });
    return groups;
  }

  void AddPools() {
    html_ += "<h2>Time line</h2>\n<p>";
    for (const auto& [kind, text] : {std::pair{"update", "update"},
                                     {"soak", "healthy, soaks"},
                                     {"failed", "failed"},
                                     {"back", "rolled back"},
                                     {"offline", "offline"}})
      html_ += std::string("<span class=\"legend\"><span class=\"key ") + kind + "\"></span>" + text + "</span> ";
    html_ +=
        "</p>\n<div class=\"row axis\" aria-hidden=\"true\"><span></span><span></span><span></span>"
        "<span class=\"track\">";
    for (int quarter = 0; quarter <= 4; ++quarter) {
      const WallTime at = simulation_.from + (simulation_.to - simulation_.from) * quarter / 4;
      html_ +=
          "<span class=\"tick\" style=\"left:" + Percent(quarter / 4.0) + "\">" + After(at, simulation_) + "</span>";
    }
    html_ += "</span></div>\n";
    for (const auto& [name, pools] : Groups()) {
      html_ += "<h3>" + Text(name) + " <span>" + Pluralize(pools.size(), "pool") + "</span></h3>\n<ol>\n";
      for (const SimulatedPool* pool : pools) AddPool(*pool);
      html_ += "</ol>\n";
    }
  }

  void AddPool(const SimulatedPool& pool) {
    const std::string end = pool.ends ? " to " + After(pool.ends, simulation_) : "";
    html_ += "<li class=\"row\"><b>" + Text(pool.name) + "</b><span>" + Text(ResultOf(pool)) +
             "</span><span class=\"soft\">" + (pool.starts ? After(pool.starts, simulation_) + end : "") +
             "</span><span class=\"track\" aria-hidden=\"true\">";
    if (pool.starts) AddBars(pool);
    html_ += "</span></li>\n";
  }

  void AddBars(const SimulatedPool& pool) {
    const WallTime until = pool.goes_back.value_or(simulation_.to);
    if (pool.offline) return AddBar("offline", *pool.starts, until);
    const WallTime updated = std::min(pool.healthy.value_or(until), pool.failed_at.value_or(until));
    AddBar("update", *pool.starts, updated);
    if (pool.healthy) AddBar("soak", *pool.healthy, std::min(pool.ends.value_or(until), until));
    if (pool.failed_at) AddBar("failed", *pool.failed_at, until);
    if (pool.goes_back) AddBar("back", *pool.goes_back, simulation_.to);
  }

  void AddEvents() {
    if (simulation_.events.empty()) return;
    html_ +=
        "<h2>Events</h2>\n<table>\n<tr><th scope=\"col\">Time</th><th scope=\"col\">After</th>"
        "<th scope=\"col\">Event</th></tr>\n";
    for (const SimulatedEvent& event : simulation_.events) {
      html_ += "<tr><td>" + FormatTime(event.at) + "</td><td>" + After(event.at, simulation_) + "</td><td>" +
               Text(event.what) + "</td></tr>\n";
    }
    html_ += "</table>\n";
  }

  void AddFailures(const FailureRuns& runs) {
    html_ += "<h2>Random failures</h2>\n<p>" + Text(FailuresLine(runs)) +
             ".</p>\n<table>\n<tr><th scope=\"col\">End"
             "</th><th scope=\"col\">Runs</th><th scope=\"col\">Median</th><th scope=\"col\">90%</th></tr>\n";
    for (const FailureRuns::End& end : runs.ends) {
      html_ += "<tr><td>" + Text(end.name) + "</td><td>" + Text(ShareOf(end.runs, runs)) + "</td><td>+" +
               HumanDuration(end.times.median) + "</td><td>+" + HumanDuration(end.times.p90) + "</td></tr>\n";
    }
    html_ += "</table>\n<h3>Pools that the revision reaches</h3>\n<p>" + Text(ReachedLine(runs)) + ".</p>\n<ol>\n";
    for (const ReachedRange& range : RangesOf(runs, kMaxRanges)) {
      const std::string to = range.to == range.from ? "" : " to " + std::to_string(range.to);
      html_ += "<li class=\"row reached\"><span>" + std::to_string(range.from) + to +
               (to.empty() && range.to == 1 ? " pool" : " pools") + "</span><span>" + Text(ShareOf(range.runs, runs)) +
               "</span><span class=\"track\" aria-hidden=\"true\">";
      if (range.runs > 0) {
        html_ += "<span class=\"bar update\" style=\"left:0;width:" +
                 Percent(static_cast<double>(range.runs) / runs.options.runs) + "\"></span>";
      }
      html_ += "</span></li>\n";
    }
    html_ += "</ol>\n";
  }

  const Timeline& timeline_;
  const Simulation& simulation_;
  std::string html_;
};

}  // namespace

std::string TimelinePage(const Timeline& timeline) { return Page(timeline).Make(); }

}  // namespace yad
