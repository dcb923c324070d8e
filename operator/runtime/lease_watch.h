// A watch on a Lease. One thread can wait for its next event with a deadline.
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

// Must be used by one thread. An internal thread reads the watch. The destructor waits until this thread has exited.
class LeaseWatch {
 public:
  // Starts to watch the Lease. Events up to `resource_version` are not reported.
  LeaseWatch(Client& client, ObjectKey key, std::string resource_version, Clock& clock);

  // The result of Next. At most one of the fields is set.
  struct News {
    std::optional<LeaseEvent> event;  // the newest event since the last call; never a bookmark
    // Set if the watch has ended; no more events follow. An Error means that the watch failed or could not be opened.
    std::optional<Status> ended;
  };
  // Blocks until there is an event, the watch has ended, `deadline` has passed, or `stop` fires.
  News Next(SteadyTime deadline, std::stop_token stop);

 private:
  Status Read(std::stop_token stop);

  Client& client_;
  const ObjectKey key_;
  const std::string resource_version_;
  Clock& clock_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<LeaseEvent> newest_;
  std::optional<Status> ended_;
  std::jthread thread_;  // must be last, because it uses all members above
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_LEASE_WATCH_H_
