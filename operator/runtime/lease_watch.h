// A watch on one object, for a thread that waits for a time or for news of the object, whatever comes first.
#ifndef OPERATOR_RUNTIME_LEASE_WATCH_H_
#define OPERATOR_RUNTIME_LEASE_WATCH_H_

#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "operator/base/clock.h"
#include "operator/client/client.h"

namespace yad {

struct LeaseEvent {
  WatchEventType type = WatchEventType::kAdded;
  Json object;
};

// One thread owns it. A thread of its own reads the watch, from construction to destruction, which waits for its end.
class LeaseWatch {
 public:
  // Tells of what comes after `resource_version`.
  LeaseWatch(Client& client, ResourceType type, ObjectKey key, std::string resource_version, Clock& clock);
  ~LeaseWatch();
  LeaseWatch(const LeaseWatch&) = delete;
  LeaseWatch& operator=(const LeaseWatch&) = delete;

  // At most one of the two is set.
  struct News {
    std::optional<LeaseEvent> event;  // the newest since the last call; no bookmark
    std::optional<Status> ended;      // An Error: it failed, or could not be opened. Nothing comes after it.
  };
  // Waits until `deadline` or `stop` for news.
  News Next(SteadyTime deadline, std::stop_token stop);

 private:
  Status Read(std::stop_token stop);

  Client& client_;
  const ResourceType type_;
  const ObjectKey key_;
  const std::string resource_version_;
  Clock& clock_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<LeaseEvent> newest_;
  std::optional<Status> ended_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_LEASE_WATCH_H_
