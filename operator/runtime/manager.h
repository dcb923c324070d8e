// Starts and stops everything in the right order.
// Start: servers (health, metrics, webhook) -> informers -> leader election -> controllers. Stop, on SIGTERM or SIGINT:
// controllers drain -> lease released -> events flushed -> informers -> servers, all within `stop_timeout`.
#ifndef OPERATOR_RUNTIME_MANAGER_H_
#define OPERATOR_RUNTIME_MANAGER_H_

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/runtime/controller.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/informer.h"
#include "operator/runtime/leader_elector.h"
#include "operator/runtime/signals.h"

namespace yad {

struct ManagerOptions {
  std::optional<LeaderElectionOptions> leader_election;
  Duration stop_timeout = std::chrono::seconds(20);
};

// How Run ended; main turns it into an exit code.
enum class RunOutcome {
  kStopped,  // asked to, and everything ended in time
  // Threads may still run after these two, and the Manager's destructor waits for them: main calls _exit.
  kLeaseLost,     // another process may lead now: this one must end at once
  kStopTimedOut,  // something did not end within stop_timeout

  kFailed,  // a Runnable or an Informer returned an error, or a thread threw
};

// Something with a thread of its own on every replica, whoever leads (a server, say). Returns when `stop` fires; an
// Error ends the process.
using Runnable = std::function<Status(std::stop_token stop)>;

// Set up by one thread, then Run is called once. Informers run on every replica, so that a new leader starts with full
// caches; a replica waits for the lease only once its own have synced.
class Manager {
 public:
  Manager(Client& client, ManagerOptions options, Clock& clock = Clock::Real());
  ~Manager();

  // The informer for these options; shared if the same (type, namespace, selectors) was asked for before: the first
  // one's other options hold.
  Informer& InformerFor(ReflectorOptions options);
  // The client for what only the leader may write: it refuses writes (kCancelled) from the moment on in which another
  // replica may lead, also in a process that wakes up after a time in which it was frozen. Lives as long as the
  // Manager.
  Client& leaders_client();
  Controller& AddController(std::unique_ptr<Controller> controller);
  EventRecorder& AddEventRecorder(EventRecorderOptions options);
  void AddServer(std::string name, Runnable run);  // started first, stopped last
  // Runs while controllers do: on the leader, until it stops or another may lead.
  void AddLeaderRun(std::string name, Runnable run);
  // /readyz asks each; an empty string means ready, anything else says what is missing.
  void AddReadyCheck(std::string name, std::function<std::string()> check);

  // "" when every informer has synced and every check passes; else a line for each that has not. Thread-safe.
  std::string NotReady() const;
  bool is_leader() const;  // thread-safe; true without leader election once controllers run

  // Until `stop`. Install signal handlers with StopOnSignals.
  RunOutcome Run(std::stop_token stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_MANAGER_H_
