#include "tests/cluster/live_view.h"

#include <utility>

#include "tests/support/eventually.h"
#include "tests/support/kube.h"

namespace yad::testing {

LiveView::LiveView(Client& client, const ResourceType& type, std::string ns)
    : client_(client), type_(type), ns_(std::move(ns)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

std::string LiveView::List() {
  ListOptions options;
  options.ns = ns_;
  Result<ListPage> page = client_.List(type_, options);
  if (!page) return "";
  std::map<std::string, Json> objects;
  for (Json& item : page->items) {
    std::string name = NameOf(item);
    objects.emplace(std::move(name), std::move(item));
  }
  const std::lock_guard lock(mutex_);
  objects_ = std::move(objects);
  return page->resource_version;
}

void LiveView::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    WatchOptions options;
    options.ns = ns_;
    options.resource_version = List();
    if (options.resource_version.empty()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      continue;
    }
    auto watch = client_.OpenWatch(type_, options, stop);
    while (watch) {
      Result<std::optional<WatchEvent>> event = (*watch)->Next();
      if (!event || !*event) break;
      if ((*event)->type == WatchEventType::kBookmark) continue;
      const std::lock_guard lock(mutex_);
      Json object = (*event)->object.TreeOfObject();
      const std::string name = NameOf(object);
      if ((*event)->type == WatchEventType::kDeleted) {
        objects_.erase(name);
      } else {
        objects_[name] = std::move(object);
      }
    }
  }
}

std::optional<Json> LiveView::Find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(name);
  return found == objects_.end() ? std::nullopt : std::optional<Json>(found->second);
}

std::vector<Json> LiveView::ControlledBy(const std::string& uid) const {
  std::vector<Json> controlled;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, object] : objects_) {
    const ObjectMeta meta = ParseMeta(object);
    if (meta.controller() != nullptr && meta.controller()->uid == uid) controlled.push_back(object);
  }
  return controlled;
}

}  // namespace yad::testing
