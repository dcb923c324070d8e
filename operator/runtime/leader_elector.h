// Leader election on a coordination.k8s.io/v1 Lease, compatible with client-go's leaderelection package.
#ifndef OPERATOR_RUNTIME_LEADER_ELECTOR_H_
#define OPERATOR_RUNTIME_LEADER_ELECTOR_H_

#include <memory>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/client/client.h"

namespace yad {

struct LeaderElectionOptions {
  ObjectKey lease;
  std::string identity;  // unique: "<hostname>_<uuid>"
  Duration lease_duration = std::chrono::seconds(15);
  Duration renew_deadline = std::chrono::seconds(10);
  Duration retry_period = std::chrono::seconds(2);
};

// Acquires a lease and keeps renewing it.
// - A lease of another process has expired when this process has seen no change of it for the lease's duration. The
//   times in the lease are not used, because the clocks of two machines differ.
// - A waiting elector watches the lease, and tries to acquire it only when it is released or has expired. If the watch
//   is not permitted, the elector tries every 1 to 2.2 retry periods.
class LeaderElector {
 public:
  LeaderElector(Client& client, LeaderElectionOptions options, Clock& clock = Clock::Real());
  ~LeaderElector();

  // Blocks until this elector holds the lease. Returns false if `stop` fires first.
  bool Acquire(std::stop_token stop);
  // Renews the lease until one of these events:
  // - `stop` fires. Returns true; this process still holds the lease.
  // - Another process has taken the lease, or no renewal has succeeded for renew_deadline. Returns false; another
  //   process may lead.
  bool HoldLease(std::stop_token stop);
  // Releases the lease, so that another process can acquire it immediately. Call it only after all writes have ended.
  void Release();

  // Returns whether this process holds the lease and has renewed it within renew_deadline. The deadline is before the
  // end of the lease, so a write that was just sent arrives before another process can lead. Thread-safe.
  bool may_write() const;
  std::string holder() const;  // thread-safe; the last observed holder

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_LEADER_ELECTOR_H_
