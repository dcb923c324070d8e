#include "plugin/commands/daemon_watch.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>

#include "operator/api/well_known.h"
#include "plugin/commands/daemon.h"
#include "plugin/commands/running_reflector.h"

namespace yad {
namespace {

// The interval at which a watched screen is redrawn even if no object changes, because it shows ages.
constexpr Duration kAgePeriod = std::chrono::seconds(1);

// Fails if the user may not list or watch these daemons. A reflector would retry a forbidden request forever.
Status CheckWatchPermissions(Client& client, const ReflectorOptions& reads) {
  const ListOptions list{.ns = reads.ns, .field_selector = reads.field_selector, .limit = 1};
  const auto page = client.List(reads.type, list);
  if (!page) return page.error().reason == Reason::kForbidden ? Status(Fail(page.error())) : Status();
  const WatchOptions watch{
      .ns = reads.ns, .field_selector = reads.field_selector, .resource_version = page->resource_version};
  const auto opened = client.OpenWatch(reads.type, watch);
  if (!opened && opened.error().reason == Reason::kForbidden) return Fail(opened.error());
  return {};
}

std::vector<Json> SortedDaemons(const Store& store) {
  std::vector<Json> daemons;
  auto objects = store.List();
  if (!objects) return daemons;
  std::sort(objects->begin(), objects->end(),
            [](const ObjectPtr& a, const ObjectPtr& b) { return a->meta().key < b->meta().key; });
  for (const ObjectPtr& object : *objects) daemons.push_back(object->Parse());
  return daemons;
}

}  // namespace

Result<int> WatchDaemons(Session& session, const std::string& ns, std::vector<Json> daemons, SteadyTime end,
                         const ShowDaemons& show) {
  const std::string& name = session.options.daemon;
  ReflectorOptions reads{.type = kYurtAppDaemonType, .ns = ns};
  if (!name.empty()) reads.field_selector = "metadata.name=" + name;
  YAD_TRY_VOID(CheckWatchPermissions(session.client, reads));
  std::mutex mutex;
  std::condition_variable changed;
  bool news = false;  // guarded by mutex
  RunningReflector reflector(session.client, reads, [&] {
    std::lock_guard lock(mutex);
    news = true;
    changed.notify_all();
  });
  bool warned = false;
  while (true) {
    const auto screen = session.console.screen();
    const std::string not_live = reflector.error();
    if (!screen && !not_live.empty() && !warned)
      session.console.err << "Warning: the data is not live: " << Printable(not_live) << "\n" << std::flush;
    if (!screen) warned = !not_live.empty();
    if (const auto exit_code = show(daemons, screen, not_live)) return *exit_code;
    if (!session.console.out) return kDone;
    {
      std::unique_lock lock(mutex);
      changed.wait_until(lock, std::min(end, session.clock.Now() + kAgePeriod), [&] { return news; });
      news = false;
    }
    if (const Status ended = reflector.ended(); !ended)
      return Fail(ended.error().reason, ended.error().message + " (run the command again)");
    if (!reflector.synced()) continue;
    daemons = SortedDaemons(reflector.store());
    if (!name.empty() && daemons.empty()) return Fail(Reason::kNotFound, Quoted(name) + " has been deleted");
  }
}

}  // namespace yad
