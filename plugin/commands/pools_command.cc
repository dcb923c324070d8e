// kubectl yad pools
#include <map>

#include "operator/api/well_known.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/daemon.h"
#include "plugin/commands/daemon_watch.h"
#include "plugin/view/frame.h"
#include "plugin/view/pool_table.h"
#include "plugin/view/text.h"

namespace yad {
namespace {

constexpr std::size_t kAll = static_cast<std::size_t>(-1);

bool IsWide(const Session& session) { return session.options.output == OutputFormat::kWide; }
bool IsOne(const Session& session) { return !session.options.daemon.empty(); }

Table TableOfPools(const Session& session, const std::vector<Json>& daemons, std::size_t most) {
  const WallTime now = session.clock.WallNow();
  if (IsOne(session)) return PoolTable(daemons.front(), IsWide(session), now, most);
  return DaemonTable(daemons, session.options.all_namespaces, IsWide(session), now);
}

void WarnIfTruncated(const Session& session, const std::vector<Json>& daemons) {
  if (!IsOne(session) || !BoolAt(daemons.front(), {"status", "poolsTruncated"})) return;
  session.console.Warn("the status lists only 500 of " +
                       std::to_string(IntAt(daemons.front(), {"status", "desiredPools"})) +
                       " pools; the pools that are not Ready come first");
}

void ExplainEmptyTable(const Session& session, const std::vector<Json>& daemons) {
  if (IsOne(session)) {
    session.console.err << Quoted(session.options.daemon)
                        << (Find(daemons.front(), {"status", "pools"}) == nullptr
                                ? " has no pools in its status yet: check that the operator is running\n"
                                : " selects no pool\n");
  } else if (session.options.all_namespaces) {
    session.console.err << "No resources found\n";
  } else {
    session.console.err << "No resources found in " << session.ns << " namespace.\n";
  }
}

Result<std::vector<Json>> ReadDaemons(Session& session) {
  if (IsOne(session)) {
    YAD_TRY(auto daemon, GetDaemon(session));
    return std::vector<Json>{std::move(daemon)};
  }
  return ListAll(session.client, kYurtAppDaemonType, session.options.all_namespaces ? "" : session.ns);
}

Json PoolsAsJson(const Json& daemon) {
  Json list = Json::array();
  for (const PoolStatusView& pool : PoolsOf(daemon)) list.push_back(pool.json());
  return list;
}

void PrintOnce(Session& session, const std::vector<Json>& daemons) {
  std::ostream& out = session.console.out;
  WarnIfTruncated(session, daemons);
  if (session.options.output == OutputFormat::kName) {
    if (!IsOne(session)) {
      for (const Json& daemon : daemons) out << Subject(StringAt(daemon, {"metadata", "name"})) << "\n";
      return;
    }
    for (const PoolStatusView& pool : PoolsOf(daemons.front()))
      out << "nodepool." << kNodePoolType.group << "/" << Printable(std::string(pool.name())) << "\n";
    return;
  }
  const Json shown = IsOne(session) ? PoolsAsJson(daemons.front()) : ListOf(daemons);
  if (PrintObject(session.options, session.console, shown)) return;
  const Table table = TableOfPools(session, daemons, kAll);
  if (table.empty()) {
    ExplainEmptyTable(session, daemons);
    return;
  }
  table.PrintTo(out);
}

// Prints a watched table to a file or a pipe. Prints the whole table first, and later only the rows that have changed.
// A row in which only the age has changed is not printed again.
class ChangedRows {
 public:
  void Print(const Session& session, const std::vector<Json>& daemons) {
    const std::vector<std::string> lines = TableOfPools(session, daemons, kAll).Lines();
    std::vector<std::pair<std::string, Json>> rows;
    if (IsOne(session)) {
      for (const PoolStatusView& pool : PoolsOf(daemons.front())) rows.emplace_back(pool.name(), pool.json());
    } else {
      for (const Json& daemon : daemons) {
        rows.emplace_back(ParseMeta(daemon).key.ToString(), daemon.value("status", Json()));
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto found = before_.find(rows[i].first);
      if (found != before_.end() && found->second == rows[i].second) continue;
      if (!has_header_) session.console.out << lines.front() << "\n";
      has_header_ = true;
      session.console.out << lines[i + 1] << "\n";
    }
    before_ = std::map<std::string, Json>(rows.begin(), rows.end());
    session.console.out.flush();
  }

 private:
  bool has_header_ = false;
  std::map<std::string, Json> before_;
};

std::vector<std::string> Frame(const Session& session, const std::vector<Json>& daemons, const Screen& screen,
                               const std::string& not_live) {
  const auto most = static_cast<std::size_t>(std::max(screen.height - 2, 2));
  std::vector<std::string> lines =
      TableOfPools(session, daemons, most).LinesFor(screen, IsOne(session) ? kPhaseColumn : kAll);
  if (!not_live.empty()) {
    const auto width = static_cast<std::size_t>(std::max(screen.width, 1));
    lines.insert(lines.begin(), Fit(Printable("not live: " + not_live), width, screen.unicode));
  }
  if (lines.size() > most) lines.resize(most);
  return lines;
}

Result<int> WatchThem(Session& session, std::vector<Json> daemons) {
  LiveView view(session.console.out);
  ChangedRows rows;
  const auto show = [&](const std::vector<Json>& now, const std::optional<Screen>& screen,
                        const std::string& not_live) -> std::optional<int> {
    if (screen) {
      view.Draw(Frame(session, now, *screen, not_live), *screen);
    } else {
      rows.Print(session, now);
    }
    return std::nullopt;
  };
  const std::string ns = session.options.all_namespaces ? "" : session.ns;
  return WatchDaemons(session, ns, std::move(daemons), SteadyTime::max(), show);
}

}  // namespace

Result<int> RunPools(Session& session) {
  YAD_TRY(auto daemons, ReadDaemons(session));
  if (session.options.watch) return WatchThem(session, std::move(daemons));
  PrintOnce(session, daemons);
  return kDone;
}

}  // namespace yad
