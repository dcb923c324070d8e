#include "operator/runtime/manager.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "operator/base/catch_exceptions.h"
#include "operator/base/log.h"

namespace yad {
struct Manager::Impl {
  using InformerKey = std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>;

  // Threads that are started and stopped together.
  struct Group {
    std::string what;
    std::stop_source stop;
    std::vector<std::thread> threads = {};
    int running = 0;  // guarded by mutex
  };

  Impl(Client& the_client, const std::optional<LeaderElectionOptions>& election_options, Clock& the_clock)
      : client(the_client), clock(the_clock) {
    if (election_options) {
      // A client without a rate limit, so that a renewal of the lease never waits behind other requests. Its timeout is
      // the time after which the elector ends a request.
      election_client = client.WithoutLimit(
          std::chrono::duration_cast<std::chrono::milliseconds>(election_options->renew_deadline / 2));
      elector = std::make_unique<LeaderElector>(*election_client, *election_options, clock);
    }
    leader_client = client.WithWriteGuard([this] { return elector == nullptr || elector->may_write(); });
  }

  ~Impl() {
    // Stops the groups in the same order as Run does: the lease must be held until the controllers have stopped.
    for (Group* group : groups) {
      group->stop.request_stop();
      Join(*group);
    }
  }

  Client& client;
  Clock& clock;

  std::vector<std::pair<std::string, Runnable>> server_runs;
  std::vector<std::pair<std::string, Runnable>> leader_runs;
  std::map<InformerKey, std::unique_ptr<Informer>> informers;
  std::unique_ptr<Client> election_client;
  std::unique_ptr<LeaderElector> elector;  // nullptr: no leader election
  std::unique_ptr<Client> leader_client;
  std::vector<std::unique_ptr<EventRecorder>> recorders;
  std::vector<std::unique_ptr<Controller>> controllers;
  std::vector<std::pair<std::string, std::function<std::string()>>> checks;

  std::mutex mutex;
  std::condition_variable_any changed;
  // The mutex guards these members.
  bool elected = false;
  bool lease_lost = false;
  bool failed = false;

  Group servers{"servers", {}};
  Group caches{"informers", {}};
  Group events{"event recorders", {}};
  Group election{"leader election", {}};
  Group work{"controllers", {}};
  const std::vector<Group*> groups{&work, &election, &events, &caches, &servers};  // in stop order

  void SetFlag(bool& flag) {
    std::lock_guard lock(mutex);
    flag = true;
    changed.notify_all();
  }

  // Runs `body` on a new thread with the group's stop token. An exception or an Error of `body` terminates the process.
  void Start(Group& group, std::string name, std::function<Status(std::stop_token)> body) {
    {
      std::lock_guard lock(mutex);
      ++group.running;
    }
    group.threads.emplace_back([this, &group, name = std::move(name), body = std::move(body)] {
      const Status ended = CatchExceptions([&] { return body(group.stop.get_token()); });
      if (!ended) log::Err("a thread failed; the process exits", {{"thread", name}, {"error", ended.error()}});
      std::lock_guard lock(mutex);
      if (!ended) failed = true;
      --group.running;
      changed.notify_all();
    });
  }

  static void Join(Group& group) {
    for (std::thread& thread : group.threads) thread.join();
    group.threads.clear();
  }

  // Stops a group and waits for its threads. Returns false if a thread still runs at the deadline, or if the lease is
  // lost earlier.
  bool StopGroup(Group& group, SteadyTime deadline) {
    group.stop.request_stop();
    {
      std::unique_lock lock(mutex);
      clock.WaitUntil(changed, lock, {}, deadline, [&] { return group.running == 0 || lease_lost; });
      if (group.running > 0) {
        log::Err("some threads have not stopped",
                 {{"what", group.what}, {"threads", group.running}, {"lease_lost", lease_lost}});
        return false;
      }
    }
    Join(group);
    return true;
  }

  bool Synced() const {
    return std::all_of(informers.begin(), informers.end(),
                       [](const auto& entry) { return entry.second->synced() || !entry.second->awaited(); });
  }

  // Acquires, holds and releases the lease.
  Status Elect(std::stop_token stop) {
    // A replica without full caches must not acquire the lease instead of a replica with full caches.
    while (!Synced()) {
      if (!clock.Sleep(kSyncPoll, stop)) return {};
    }
    if (!elector->Acquire(stop)) return {};
    SetFlag(elected);
    if (!elector->HoldLease(stop)) {
      SetFlag(lease_lost);
      return {};
    }
    elector->Release();
    return {};
  }

  void StartControllers() {
    for (const auto& controller : controllers) {
      Start(work, "controller " + controller->name(), [run = controller.get()](std::stop_token stop) -> Status {
        run->Run(stop);
        if (!stop.stop_requested()) return Fail(Reason::kInternalError, "the controller stopped unexpectedly");
        return {};
      });
    }
    for (auto& [name, run] : leader_runs) Start(work, name, run);
  }

  // Blocks until `stop` fires, a part fails, or the lease is lost. Starts the controllers when this process becomes the
  // leader.
  void Await(std::stop_token stop) {
    std::unique_lock lock(mutex);
    clock.WaitUntil(changed, lock, stop, SteadyTime::max(), [&] { return elected || lease_lost || failed; });
    if (elected && !stop.stop_requested()) {
      lock.unlock();
      StartControllers();
      lock.lock();
      clock.WaitUntil(changed, lock, stop, SteadyTime::max(), [&] { return lease_lost || failed; });
    }
  }

  bool LeaseLost() {
    std::lock_guard lock(mutex);
    return lease_lost;
  }

  RunOutcome Run(std::stop_token stop) {
    for (auto& [name, run] : server_runs) Start(servers, "server " + name, run);
    for (const auto& entry : informers) {
      Start(caches, "informer " + entry.second->options().type.resource,
            [run = entry.second.get()](std::stop_token group_stop) { return run->Run(group_stop); });
    }
    for (const auto& recorder : recorders) {
      Start(events, "event recorder", [run = recorder.get()](std::stop_token group_stop) -> Status {
        run->Run(group_stop);
        return {};
      });
    }
    if (elector) {
      Start(election, "leader election", [this](std::stop_token group_stop) { return Elect(group_stop); });
    } else {
      SetFlag(elected);
    }

    Await(stop);

    const SteadyTime deadline = clock.Now() + kStopTimeout;
    log::Info("stopping", {{"requested", stop.stop_requested()}});
    bool in_time = true;
    for (Group* group : groups) {
      if (LeaseLost()) break;
      // Stops this group before the later groups, because it needs them. For example, the lease must be held while a
      // controller may still write.
      in_time = StopGroup(*group, deadline);
      if (!in_time) break;
    }
    const bool lost = LeaseLost();
    if (lost || !in_time) {
      for (Group* group : groups) {
        if (lost || group != &election) group->stop.request_stop();
      }
    }
    if (lost) return RunOutcome::kLeaseLost;
    if (!in_time) return RunOutcome::kStopTimedOut;
    std::lock_guard lock(mutex);
    return failed ? RunOutcome::kFailed : RunOutcome::kStopped;
  }
};

Manager::Manager(Client& client, std::optional<LeaderElectionOptions> election, Clock& clock)
    : impl_(std::make_unique<Impl>(client, election, clock)) {}

Manager::~Manager() = default;

Informer& Manager::InformerFor(ReflectorOptions options) {
  const ResourceType& type = options.type;
  std::unique_ptr<Informer>& informer = impl_->informers[{type.group, type.version, type.resource, options.ns,
                                                          options.label_selector, options.field_selector}];
  if (!informer) informer = std::make_unique<Informer>(impl_->client, std::move(options), impl_->clock);
  return *informer;
}

Client& Manager::leader_client() { return *impl_->leader_client; }

Controller& Manager::AddController(std::unique_ptr<Controller> controller) {
  return *impl_->controllers.emplace_back(std::move(controller));
}

EventRecorder& Manager::AddEventRecorder(EventRecorderOptions options) {
  return *impl_->recorders.emplace_back(
      std::make_unique<EventRecorder>(impl_->client, std::move(options), impl_->clock));
}

void Manager::AddServer(std::string name, Runnable run) {
  impl_->server_runs.emplace_back(std::move(name), std::move(run));
}

void Manager::AddLeaderRunnable(std::string name, Runnable run) {
  impl_->leader_runs.emplace_back(std::move(name), std::move(run));
}

void Manager::AddReadyCheck(std::string name, std::function<std::string()> check) {
  impl_->checks.emplace_back(std::move(name), std::move(check));
}

std::string Manager::NotReady() const {
  std::string missing;
  for (const auto& entry : impl_->informers) {
    if (!entry.second->synced() && entry.second->awaited()) missing += "informer " + entry.second->Describe() + "\n";
  }
  for (const auto& [name, check] : impl_->checks) {
    const auto ran = CatchExceptions([&run = check]() -> Result<std::string> { return run(); });
    const std::string& text = ran ? *ran : ran.error().message;
    if (!text.empty()) missing += name + ": " + text + "\n";
  }
  return missing;
}

RunOutcome Manager::Run(std::stop_token stop) { return impl_->Run(std::move(stop)); }

}  // namespace yad
