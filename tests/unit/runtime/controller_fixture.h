// A Controller of "widgets" and of the deployments that they own. The test feeds its informers.
#ifndef TESTS_UNIT_RUNTIME_CONTROLLER_FIXTURE_H_
#define TESTS_UNIT_RUNTIME_CONTROLLER_FIXTURE_H_

#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "operator/base/metrics.h"
#include "operator/runtime/controller.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"

namespace yad::testing {

// Records the calls of the reconciler, and returns the results that the test has set. Thread-safe.
class Script {
 public:
  Result<ReconcileResult> Reconcile(const Request& request) {
    std::lock_guard lock(mutex_);
    calls_.push_back(request.ToString());
    changed_.notify_all();
    auto found = answers_.find(request.name);
    if (found == answers_.end() || found->second.empty()) return ReconcileResult::Done();
    auto answer = std::move(found->second.front());
    found->second.erase(found->second.begin());
    return answer();
  }
  void Answer(const std::string& name, std::function<Result<ReconcileResult>()> answer) {
    std::lock_guard lock(mutex_);
    answers_[name].push_back(std::move(answer));
  }
  // Blocks until the reconciler was called `count` times since the last Take. Returns these calls.
  std::vector<std::string> Take(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return calls_.size() >= count; });
    return std::exchange(calls_, {});
  }
  std::size_t count() {
    std::lock_guard lock(mutex_);
    return calls_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> calls_;
  std::map<std::string, std::vector<std::function<Result<ReconcileResult>()>>> answers_;
};

// An informer on its own fake transport. The test provides its lists and events.
class FedInformer {
 public:
  FedInformer(const ResourceType& type, Clock& clock)
      : transport(std::make_shared<FakeTransport>()), client(transport, ClientOptions{}, clock) {
    ReflectorOptions options;
    options.type = type;
    informer = std::make_unique<Informer>(client, options, clock);
  }
  ~FedInformer() { Stop(); }
  void Stop() {
    thread.request_stop();
    if (thread.joinable()) thread.join();
  }
  void Sync(const std::vector<Json>& objects, const std::string& version = "100") {
    transport->OnSend([list = JsonResponse({{"metadata", {{"resourceVersion", version}}}, {"items", objects}})](
                          const HttpRequest&) { return list; });
    thread = std::jthread([this](const std::stop_token& stop) { informer->Run(stop); });
    stream = transport->TakeStream();
    stream->WaitUntilDrained();
  }
  void Push(const std::string& type, const Json& object) {
    stream->PushEvent(type, object);
    stream->WaitUntilDrained();
  }

  std::shared_ptr<FakeTransport> transport;
  Client client;
  std::unique_ptr<Informer> informer;
  std::shared_ptr<FakeStream> stream;
  std::jthread thread;
};

class ControllerTest : public ::testing::Test {
 protected:
  static inline const ResourceType kPrimaryType{"example.com", "v1", "widgets", "Widget", true};
  static inline const ResourceType kOwnedType{"apps", "v1", "deployments", "Deployment", true};
  static Json Object(const std::string& name, const std::string& version, const std::string& uid = "uid") {
    return {{"metadata", {{"namespace", "ns"}, {"name", name}, {"uid", uid}, {"resourceVersion", version}}}};
  }
  static Json OwnedBy(Json object, const std::string& owner, const std::string& uid, const std::string& kind = "Widget",
                      const std::string& api_version = "example.com/v1beta1", bool controller = true) {
    object["metadata"]["ownerReferences"].push_back(
        {{"apiVersion", api_version}, {"kind", kind}, {"name", owner}, {"uid", uid}, {"controller", controller}});
    return object;
  }

  ~ControllerTest() override {
    StopController();
    primary_.Stop();
    owned_.Stop();
  }
  Controller& Make(ControllerOptions options = {}) {
    static int made = 0;  // Each controller needs its own name, because metrics live as long as the process.
    options.name = "controller-" + std::to_string(made++);
    controller_ = std::make_unique<Controller>(
        options,
        [this](const Request& request, const std::stop_token& stop) {
          if (on_reconcile_) on_reconcile_(stop);
          return script_.Reconcile(request);
        },
        clock_);
    return *controller_;
  }
  // Makes a controller that queues the keys of events, and has no workers that take them.
  Controller& MakeWithoutWorkers(const ControllerOptions& options = NoResync()) {
    std::stop_source stopped;
    stopped.request_stop();
    Make(options).Run(stopped.get_token());
    return *controller_;
  }
  static ControllerOptions NoResync() {
    ControllerOptions options;
    options.workers = 1;
    options.resync = Duration{0};
    return options;
  }
  void Run() {
    run_ = std::jthread([this](const std::stop_token& stop) { controller_->Run(stop); });
  }
  void StopController() {
    run_.request_stop();
    if (run_.joinable()) run_.join();
  }
  // Takes and returns all keys of the queue. Use it only while no worker runs.
  std::vector<std::string> Queued() {
    std::vector<std::string> keys;
    while (controller_->queue().size() > 0) {
      const Request request = *controller_->queue().Get({});
      controller_->queue().Done(request);
      keys.push_back(request.ToString());
    }
    return keys;
  }
  double Total(const std::string& result) {
    return metrics::GetCounter("controller_runtime_reconcile_total", "",
                               {{"controller", controller_->name()}, {"result", result}})
        .Value();
  }
  // Blocks until the worker is idle and `others` threads wait for the clock. A notified worker counts as waiting until
  // it takes its key, so this function counts again when the queue is empty.
  void AwaitIdle(int others = 0) {
    clock_.AwaitWaiters(1 + others);
    while (controller_->queue().size() > 0) std::this_thread::yield();
    clock_.AwaitWaiters(1 + others);
  }

  FakeClock clock_;
  Script script_;
  std::function<void(const std::stop_token&)> on_reconcile_;
  FedInformer primary_{kPrimaryType, clock_};
  FedInformer owned_{kOwnedType, clock_};
  std::unique_ptr<Controller> controller_;
  std::jthread run_;
};

}  // namespace yad::testing

#endif  // TESTS_UNIT_RUNTIME_CONTROLLER_FIXTURE_H_
