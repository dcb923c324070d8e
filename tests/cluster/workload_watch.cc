#include "tests/cluster/workload_watch.h"

#include <algorithm>
#include <cstdlib>
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
  for (const Json& item : page->items) See(WatchEventType::kAdded, item, /*first=*/true);
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
    See((*event)->type, (*event)->object.TreeOfObject(), /*first=*/false);
  }
  if (stop.stop_requested()) return;
  std::lock_guard lock(mutex_);
  broken_ = "the test's own watch ended, so changes may be missing: " + end;
}

void WorkloadWatch::See(WatchEventType type, const Json& object, bool first) {
  const ObjectMeta meta = ParseMeta(object);
  const std::int64_t version = std::atoll(meta.resource_version.c_str());
  std::lock_guard lock(mutex_);
  versions_.insert(meta.resource_version);
  if (StringAt(object, {"spec", "selector", "matchLabels", "app"}) != daemon_) return;
  auto life = std::find_if(lives_.begin(), lives_.end(), [&](const Life& one) { return one.uid == meta.uid; });
  if (life == lives_.end()) {
    Life one;
    one.name = meta.key.name;
    one.uid = meta.uid;
    one.pool = StringAt(object, {"spec", "selector", "matchLabels", kPoolNameLabel});
    one.begin = first ? 0 : version;
    life = lives_.insert(lives_.end(), std::move(one));
  }
  life->owner = meta.controller() == nullptr ? "" : meta.controller()->uid;
  if (life->end == 0 && (type == WatchEventType::kDeleted || meta.deleting())) life->end = version;
}

bool WorkloadWatch::Life::SharesATimeWith(const Life& other) const {
  return (end == 0 || other.begin < end) && (other.end == 0 || begin < other.end);
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

std::vector<WorkloadWatch::Life> WorkloadWatch::lives() const {
  std::lock_guard lock(mutex_);
  return lives_;
}

std::string WorkloadWatch::broken() const {
  std::lock_guard lock(mutex_);
  return broken_;
}

std::vector<std::string> WorkloadWatch::faults() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> faults;
  for (auto life = lives_.begin(); life != lives_.end(); ++life) {
    if (life->end != 0 && !expected_removals_.contains(life->name)) {
      faults.push_back(life->name + ", the workload of pool " + life->pool + ", was removed");
    }
    for (auto other = lives_.begin(); other != life; ++other) {
      if (other->pool == life->pool && other->SharesATimeWith(*life) && !expected_seconds_.contains(life->name)) {
        faults.push_back("pool " + life->pool + " has two workloads: " + other->name + ", and then " + life->name);
      }
    }
  }
  if (!broken_.empty()) faults.push_back(broken_);
  return faults;
}

}  // namespace yad::testing
