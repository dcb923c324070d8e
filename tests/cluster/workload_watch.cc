#include "tests/cluster/workload_watch.h"

#include <utility>

#include "operator/api/well_known.h"
#include "tests/support/eventually.h"
#include "tests/support/kube.h"

namespace yad::testing {

WorkloadWatch::WorkloadWatch(Client& client, const ResourceType& type, const std::string& ns, std::string daemon)
    : client_(client), type_(type), daemon_(std::move(daemon)) {
  ListOptions list;
  list.ns = ns;
  const Result<ListPage> page = client.List(type, list);
  if (!page) throw TestFailure("list " + type.resource + ": " + page.error().ToString());
  for (const Json& item : page->items) See({WatchEventType::kAdded, item});
  WatchOptions options;
  options.ns = ns;
  options.resource_version = page->resource_version;
  options.timeout = std::chrono::seconds(600);
  thread_ = std::jthread([this, options](const std::stop_token& stop) { Run(stop, options); });
}

WorkloadWatch::~WorkloadWatch() = default;

void WorkloadWatch::Run(const std::stop_token& stop, WatchOptions options) {
  std::string end = "the server ended it";
  auto watch = client_.OpenWatch(type_, options, stop);
  if (!watch) end = watch.error().ToString();
  while (watch) {
    const Result<std::optional<WatchEvent>> event = (*watch)->Next();
    if (!event) end = event.error().ToString();
    if (!event || !*event) break;
    See(**event);
  }
  if (stop.stop_requested()) return;
  std::lock_guard lock(mutex_);
  faults_.push_back("the test's own watch ended, so nobody has seen all: " + end);
}

void WorkloadWatch::See(const WatchEvent& event) {
  const Json& object = event.object;
  std::lock_guard lock(mutex_);
  versions_.insert(VersionOf(object));
  if (StringAt(object, {"spec", "selector", "matchLabels", "app"}) != daemon_) return;
  const std::string name = NameOf(object);
  const std::string pool = StringAt(object, {"spec", "selector", "matchLabels", kPoolNameLabel});
  if (event.type == WatchEventType::kDeleted || !StringAt(object, {"metadata", "deletionTimestamp"}).empty()) {
    if (pool_of_.erase(name) > 0 && !expected_removals_.contains(name)) {
      faults_.push_back(name + ", the workload of pool " + pool + ", was removed");
    }
    return;
  }
  if (pool_of_.contains(name)) return;
  for (const auto& [other, its_pool] : pool_of_) {
    if (its_pool == pool && !expected_seconds_.contains(name)) {
      faults_.push_back("pool " + pool + " has two workloads: " + other + ", and then " + name);
    }
  }
  pool_of_.emplace(name, pool);
}

void WorkloadWatch::ExpectSecond(const std::string& name) {
  std::lock_guard lock(mutex_);
  expected_seconds_.insert(name);
}

void WorkloadWatch::ExpectRemoval(const std::string& name) {
  std::lock_guard lock(mutex_);
  expected_removals_.insert(name);
}

bool WorkloadWatch::HasSeen(const std::string& version) const {
  std::lock_guard lock(mutex_);
  return versions_.contains(version);
}

std::vector<std::string> WorkloadWatch::faults() const {
  std::lock_guard lock(mutex_);
  return faults_;
}

}  // namespace yad::testing
