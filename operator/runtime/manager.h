// Starts and stops all parts of the program in the right order.
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

// The result of Run. main turns it into an exit code.
enum class RunOutcome {
  kStopped,  // a stop was requested, and everything ended in time
  // After one of the next two, threads may still run, and the Manager's destructor would wait for them. So main calls
  // _exit.
  kLeaseLost,     // another process may lead now, so this process must end immediately
  kStopTimedOut,  // a thread did not end within stop_timeout

  kFailed,  // a Runnable or an Informer returned an error, or a thread threw
};

// A task with a thread of its own, such as a server. AddServer runs it on every replica, AddLeaderRunnable on the
// leader. Returns when `stop` fires. An Error ends the process.
using Runnable = std::function<Status(std::stop_token stop)>;

// Must be set up on one thread; then Run is called once. Informers run on every replica, so that a new leader starts
// with full caches. A replica waits for the lease only after its own informers have synced.
class Manager {
 public:
  Manager(Client& client, ManagerOptions options, Clock& clock = Clock::Real());
  ~Manager();

  // Returns the informer for these options. Calls with the same (type, namespace, selectors) share one informer; its
  // other options are those of the first call.
  Informer& InformerFor(ReflectorOptions options);
  // Returns the client for writes that only the leader may make. This client rejects writes (kCancelled) as soon as
  // another replica may lead, even if this process was frozen in the meantime. The client lives as long as the Manager.
  Client& leader_client();
  Controller& AddController(std::unique_ptr<Controller> controller);
  EventRecorder& AddEventRecorder(EventRecorderOptions options);
  void AddServer(std::string name, Runnable run);  // started first, stopped last
  // Adds a task that runs while the controllers run: only on the leader, until the program stops or another replica may
  // lead.
  void AddLeaderRunnable(std::string name, Runnable run);
  // Adds a check for /readyz. `check` returns "" if the program is ready, and otherwise the reason why it is not.
  void AddReadyCheck(std::string name, std::function<std::string()> check);

  // Returns "" if every awaited informer has synced and every check passes; otherwise, one line for each informer and
  // check that is not ready. Thread-safe.
  std::string NotReady() const;

  // Blocks until `stop` fires, the lease is lost, or a part of the program fails. StopOnSignals handles signals.
  RunOutcome Run(std::stop_token stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_MANAGER_H_
