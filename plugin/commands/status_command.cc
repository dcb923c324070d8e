// kubectl yad status
#include <algorithm>
#include <map>

#include "operator/api/conditions.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/daemon.h"
#include "plugin/commands/daemon_watch.h"
#include "plugin/view/frame.h"
#include "plugin/view/pool_table.h"
#include "plugin/view/progress.h"
#include "plugin/view/text.h"

namespace yad {
namespace {

constexpr std::size_t kNamedFailures = 10;

// Prints why pools are not ready, in lines such as "pool a failed: ImagePullBackOff: …". A pool that has not failed yet
// has a line without "failed". Prints a line again only after it has changed.
class WhyLines {
 public:
  void Print(const Json& daemon, std::ostream& out) {
    std::map<std::string, std::string> now;
    for (const PoolStatusView& pool : PoolsOf(daemon)) {
      const std::string name(pool.name());
      const std::string why = WhyNotReady(pool);
      if (pool.phase() == PoolPhase::kFailed) {
        now[name] = "pool " + name + " failed: " + (why.empty() ? std::string(pool.reason()) : why);
      } else if (!why.empty()) {
        now[name] = "pool " + name + ": " + why;
      }
    }
    for (const auto& [name, line] : now) {
      const auto printed = printed_.find(name);
      if (printed == printed_.end() || printed->second != line) out << Printable(line) << "\n";
    }
    printed_ = std::move(now);
  }

 private:
  std::map<std::string, std::string> printed_;
};

void WarnOfBlockedRemovals(Session& session, const Json& daemon) {
  const std::string blocked = WhyRemovalsAreBlocked(daemon);
  if (!blocked.empty()) session.console.Warn(blocked);
}

int Finish(Session& session, const Json& daemon, const Progress& progress) {
  session.console.out.flush();
  WarnOfBlockedRemovals(session, daemon);
  if (progress.state == RolloutOutcome::kComplete) {
    session.console.out << Printable(progress.line) << "\n";
    return kDone;
  }
  session.console.err << "error: " << Printable(progress.line) << "\n";
  std::vector<std::string> failed, offline;
  for (const PoolStatusView& pool : PoolsOf(daemon)) {
    if (pool.phase() == PoolPhase::kFailed) failed.emplace_back(pool.name());
    const bool suspect = IsOfflineAfterUpdate(pool.reason()) || pool.reason() == kCheckFailed;
    if (pool.phase() == PoolPhase::kOffline && suspect) offline.emplace_back(pool.name());
  }
  // A failed pool that is offline has phase Offline.
  if (static_cast<std::size_t>(progress.failed) > failed.size())
    failed.insert(failed.end(), offline.begin(), offline.end());
  if (!failed.empty()) {
    session.console.err << "failed pools: " << Printable(NameSome(failed, kNamedFailures)) << " (kubectl yad pools "
                        << session.options.daemon << " -o wide shows why; kubectl yad undo " << session.options.daemon
                        << " rolls back)\n";
  }
  return kNo;
}

}  // namespace

Result<int> RunStatus(Session& session) {
  const SteadyTime begin = session.clock.Now();
  // Reads the daemon once, so that an unknown name is an error before the watch starts.
  YAD_TRY(const auto first, GetDaemon(session));
  if (!session.options.watch) {
    const Progress progress = ReadProgress(first);
    if (progress.state == RolloutOutcome::kStopped) return Finish(session, first, progress);
    session.console.out << Printable(progress.line) << "\n";
    WarnOfBlockedRemovals(session, first);
    return kDone;
  }

  const SteadyTime end = session.options.timeout.count() > 0 ? begin + session.options.timeout : SteadyTime::max();
  LiveView view(session.console.out);
  WhyLines why;
  std::string last_line;
  const auto show = [&](const std::vector<Json>& daemons, const std::optional<Screen>& screen,
                        const std::string& not_live) -> std::optional<int> {
    const Json& daemon = daemons.front();
    const Progress progress = ReadProgress(daemon);
    const SteadyTime now = session.clock.Now();
    if (screen) {
      view.Draw(StatusFrame(daemon, *screen, now - begin, session.clock.WallNow(), not_live), *screen);
    } else {
      if (progress.observed) why.Print(daemon, session.console.out);
      if (progress.state == RolloutOutcome::kGoing && progress.line != last_line) {
        session.console.out << Printable(progress.line) << std::endl;
        last_line = progress.line;
      }
    }
    if (progress.state != RolloutOutcome::kGoing) return Finish(session, daemon, progress);
    if (now < end) return std::nullopt;
    WarnOfBlockedRemovals(session, daemon);
    std::string line = Printable(progress.line);  // "Waiting for …..."
    if (line.ends_with("...")) line.resize(line.size() - 3);
    line.front() = 'w';
    session.console.err << "error: timed out after " << HumanDuration(session.options.timeout) << ", " << line << "\n";
    return kTimedOut;
  };
  return WatchDaemons(session, session.ns, {first}, end, show);
}

}  // namespace yad
