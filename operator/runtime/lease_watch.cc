#include "operator/runtime/lease_watch.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/base/catch_exceptions.h"

namespace yad {

LeaseWatch::LeaseWatch(Client& client, ObjectKey key, std::string resource_version, Clock& clock)
    : client_(client),
      key_(std::move(key)),
      resource_version_(std::move(resource_version)),
      clock_(clock),
      thread_([this](std::stop_token stop) {
        Status ended = CatchExceptions([&] { return Read(std::move(stop)); });
        std::lock_guard lock(mutex_);
        ended_ = std::move(ended);
        changed_.notify_all();
      }) {}

LeaseWatch::News LeaseWatch::Next(SteadyTime deadline, std::stop_token stop) {
  News news;
  std::unique_lock lock(mutex_);
  clock_.WaitUntil(changed_, lock, std::move(stop), deadline, [&] { return newest_ || ended_; });
  if (newest_) {
    news.event = std::exchange(newest_, std::nullopt);
  } else {
    news.ended = ended_;
  }
  return news;
}

Status LeaseWatch::Read(std::stop_token stop) {
  const WatchOptions options{
      .ns = key_.ns, .field_selector = "metadata.name=" + key_.name, .resource_version = resource_version_};
  YAD_TRY(const std::unique_ptr<Watch> watch, client_.OpenWatch(kLeaseType, options, std::move(stop)));
  for (;;) {
    YAD_TRY(std::optional<WatchEvent> event, watch->Next());
    if (!event) return {};
    if (event->type == WatchEventType::kBookmark) continue;
    Json object = event->object.TreeOfObject();
    if (IsDeeperThan(object, kMaxJsonDepth) || StringAt(object, {"metadata", "resourceVersion"}).empty()) {
      return Fail(Reason::kDecode, "an event of the watch has no valid Lease");
    }
    std::lock_guard lock(mutex_);
    newest_ = LeaseEvent{event->type, std::move(object)};
    changed_.notify_all();
  }
}

}  // namespace yad
