#include "plugin/commands/daemon_watch.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/api/well_known.h"

namespace yad {
namespace {

ReflectorOptions OptionsFor(const std::string& ns, const std::string& name) {
  ReflectorOptions options;
  options.type = kYurtAppDaemonType;
  options.ns = ns;
  if (!name.empty()) options.field_selector = "metadata.name=" + name;
  return options;
}

}  // namespace

DaemonWatch::DaemonWatch(Client& client, const std::string& ns, const std::string& name)
    : informer_(client, OptionsFor(ns, name)) {
  informer_.AddHandler([this](const Event&) {
    {
      std::lock_guard lock(mutex_);
      news_ = true;
    }
    changed_.notify_all();
  });
  thread_ = std::jthread([this](const std::stop_token& stop) { (void)informer_.Run(stop); });
}

DaemonWatch::~DaemonWatch() {
  thread_.request_stop();
  thread_.join();
}

void DaemonWatch::Wait(SteadyTime end) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, end, [this] { return news_; });
  news_ = false;
}

std::vector<Json> DaemonWatch::Daemons() const {
  std::vector<Json> daemons;
  auto objects = informer_.store().List();
  if (!objects) return daemons;
  std::sort(objects->begin(), objects->end(),
            [](const ObjectPtr& a, const ObjectPtr& b) { return a->meta().key < b->meta().key; });
  for (const ObjectPtr& object : *objects) daemons.push_back(object->Parse());
  return daemons;
}

}  // namespace yad
