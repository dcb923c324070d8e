#include "plugin/commands/daemon_watch.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/api/well_known.h"
#include "plugin/view/console.h"

namespace yad {
namespace {

ReflectorOptions OptionsFor(const std::string& ns, const std::string& name) {
  ReflectorOptions options{.type = kYurtAppDaemonType, .ns = ns};
  if (!name.empty()) options.field_selector = "metadata.name=" + name;
  return options;
}

}  // namespace

Status CheckWatchPermissions(Client& client, const std::string& ns, const std::string& name) {
  const ReflectorOptions reads = OptionsFor(ns, name);
  const ListOptions list{.ns = reads.ns, .field_selector = reads.field_selector, .limit = 1};
  const auto page = client.List(reads.type, list);
  if (!page) return page.error().reason == Reason::kForbidden ? Status(Fail(page.error())) : Status();
  const WatchOptions watch{
      .ns = reads.ns, .field_selector = reads.field_selector, .resource_version = page->resource_version};
  const auto opened = client.OpenWatch(reads.type, watch);
  if (!opened && opened.error().reason == Reason::kForbidden) return Fail(opened.error());
  return {};
}

DaemonWatch::DaemonWatch(Client& client, const std::string& ns, const std::string& name)
    : reflector_(client, OptionsFor(ns, name), [this] {
        std::lock_guard lock(mutex_);
        news_ = true;
        changed_.notify_all();
      }) {}

Status DaemonWatch::Wait(SteadyTime end) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, end, [this] { return news_; });
    news_ = false;
  }
  const Status ended = reflector_.ended();
  if (!ended) return Fail(ended.error().reason, ended.error().message + " (run the command again)");
  return {};
}

std::vector<Json> DaemonWatch::Daemons() const {
  std::vector<Json> daemons;
  auto objects = reflector_.store().List();
  if (!objects) return daemons;
  std::sort(objects->begin(), objects->end(),
            [](const ObjectPtr& a, const ObjectPtr& b) { return a->meta().key < b->meta().key; });
  for (const ObjectPtr& object : *objects) daemons.push_back(object->Parse());
  return daemons;
}

void WatchErrorWarning::Print(const std::string& error, std::ostream& err) {
  if (!error.empty() && !printed_) err << "Warning: the data is not live: " << Printable(error) << "\n" << std::flush;
  printed_ = !error.empty();
}

}  // namespace yad
