// Starts and stops all parts of the program in the correct order.
// - Start: servers (health, metrics, webhook), informers, leader election, controllers.
// - Stop, after SIGTERM or SIGINT: controllers, leader election (releases the lease), event recorders (write the queued
//   events), informers, servers. All of this must end within kStopTimeout.
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

namespace yad {

inline constexpr Duration kStopTimeout = std::chrono::seconds(20);

// The result of Run. main turns it into an exit code.
enum class RunOutcome {
  kStopped,  // a stop was requested, and everything ended in time
  // After kLeaseLost and kStopTimedOut, main must call _exit, because the Manager's destructor would wait for running
  // threads.
  kLeaseLost,     // another process may lead now, so this process must exit immediately
  kStopTimedOut,  // a thread did not end within kStopTimeout

  kFailed,  // a Runnable or an Informer returned an error, or a thread threw
};

// A task that runs on its own thread, such as a server. It must return when `stop` fires. If it returns an Error, the
// process exits.
using Runnable = std::function<Status(std::stop_token stop)>;

// Must be set up on one thread, which then calls Run once.
// Informers run on every replica. A replica tries to acquire the lease only after its informers have synced, so that a
// new leader starts with full caches.
class Manager {
 public:
  // If `election` is nullopt, this process leads without a lease.
  Manager(Client& client, std::optional<LeaderElectionOptions> election, Clock& clock = Clock::Real());
  ~Manager();

  // Returns the informer for these options. Calls with the same type, namespace and selectors return the same informer;
  // only the first call sets its other options.
  Informer& InformerFor(ReflectorOptions options);
  // Returns the client for writes that only the leader may make. It lives as long as the Manager. A write fails with
  // kCancelled if another replica may lead, for example after this process was frozen for a while.
  Client& leader_client();
  Controller& AddController(std::unique_ptr<Controller> controller);
  EventRecorder& AddEventRecorder(EventRecorderOptions options);
  void AddServer(std::string name, Runnable run);  // started first, stopped last
  // Adds a task that runs only on the leader. It starts and stops with the controllers.
  void AddLeaderRunnable(std::string name, Runnable run);
  // Adds a check for /readyz. `check` returns "" if the program is ready. Otherwise, it returns the reason why the
  // program is not ready.
  void AddReadyCheck(std::string name, std::function<std::string()> check);

  // Returns one line for each informer and check that is not ready, or "" if all are ready. Informers on demand do not
  // count. Thread-safe.
  std::string NotReady() const;

  // Blocks until `stop` fires, the lease is lost, or a part of the program fails. Does not handle signals (see
  // StopOnSignals).
  RunOutcome Run(std::stop_token stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_MANAGER_H_
