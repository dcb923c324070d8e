// Leader election on a coordination.k8s.io/v1 Lease, compatible with client-go's leaderelection package.
#ifndef OPERATOR_RUNTIME_LEADER_ELECTOR_H_
#define OPERATOR_RUNTIME_LEADER_ELECTOR_H_

#include <functional>
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

// Another holder's lease is judged by how long *we* have seen it unchanged, never by the times written in it. Who waits
// for it watches it, and asks for it only when it is given up or has run out; where it may not be watched, every 1
// to 2.2 retry periods.
class LeaderElector {
 public:
  LeaderElector(Client& client, LeaderElectionOptions options, Clock& clock = Clock::Real());
  ~LeaderElector();

  // Waits until the lease is ours. False: `stop` came first.
  bool Acquire(std::stop_token stop);
  // Renews until `stop` (returns true, the lease still held), or until it could not be renewed for renew_deadline
  // (returns false: from now on somebody else may lead).
  bool Hold(std::stop_token stop);
  // Gives the lease back, so that another can take it at once. Only after all writing has ended.
  void Release();

  bool is_leader() const;  // thread-safe
  // Whether a write that is sent now can still be the leader's when it arrives: not later than renew_deadline after the
  // last renewal. Thread-safe.
  bool may_write() const;
  std::string holder() const;  // thread-safe; who was last seen to hold it
  // Called on the elector's thread when the holder changes.
  void OnNewLeader(std::function<void(const std::string& identity)> callback);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_LEADER_ELECTOR_H_
