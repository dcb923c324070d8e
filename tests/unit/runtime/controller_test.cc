#include "operator/runtime/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <thread>

#include "operator/base/metrics.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"

namespace yad {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using testing::FakeStream;
using testing::FakeTransport;
using testing::JsonResponse;

const ResourceType kPrimaryType{"example.com", "v1", "widgets", "Widget", true};
const ResourceType kOwnedType{"apps", "v1", "deployments", "Deployment", true};

Json Object(const std::string& name, const std::string& version, const std::string& uid = "uid") {
  return {{"metadata", {{"namespace", "ns"}, {"name", name}, {"uid", uid}, {"resourceVersion", version}}}};
}

Json OwnedBy(Json object, const std::string& owner, const std::string& uid, const std::string& kind = "Widget",
             const std::string& api_version = "example.com/v1beta1", bool controller = true) {
  object["metadata"]["ownerReferences"].push_back(
      {{"apiVersion", api_version}, {"kind", kind}, {"name", owner}, {"uid", uid}, {"controller", controller}});
  return object;
}

// The reconciler's calls, and its scripted answers. Thread-safe.
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
  // Blocks until there are `count` calls since the last Take, and takes all of them.
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

// An informer on its own transport, which the test feeds.
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
  ~ControllerTest() override {
    StopController();
    primary_.Stop();
    owned_.Stop();
  }
  Controller& Make(ControllerOptions options = {}) {
    static int made = 0;  // Metrics live as long as the process: no two controllers share theirs.
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
  // Drains the queue without workers; returns the keys.
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
  // Blocks until the one worker is idle and `others` threads wait for the clock. A notified worker counts as waiting
  // until it has taken its key, so the waits come first, then the queue, then the waits again.
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

// ---- From events to keys

TEST_F(ControllerTest, PrimaryEventsNameTheirObject) {
  Make(NoResync()).For(*primary_.informer);
  primary_.Sync({Object("a", "1")});
  EXPECT_THAT(Queued(), ElementsAre("ns/a"));
  primary_.Push("MODIFIED", Object("a", "101"));
  EXPECT_THAT(Queued(), ElementsAre("ns/a"));
  primary_.Push("DELETED", Object("a", "102"));
  EXPECT_THAT(Queued(), ElementsAre("ns/a"));
}

TEST_F(ControllerTest, PredicatesKeepEventsAway) {
  Make(NoResync())
      .For(*primary_.informer, [](const Event& event) { return event.before == nullptr; })
      .Owns(*owned_.informer, [](const Event&) { return false; });
  primary_.Sync({Object("a", "1")});
  EXPECT_THAT(Queued(), ElementsAre("ns/a"));
  primary_.Push("MODIFIED", Object("a", "101"));
  owned_.Sync({OwnedBy(Object("child", "2"), "a", "uid")});
  EXPECT_THAT(Queued(), ElementsAre());
}

TEST_F(ControllerTest, OwnedObjectsLeadBackToTheirControllerByKindGroupAndUid) {
  Make(NoResync()).For(*primary_.informer).Owns(*owned_.informer);
  primary_.Sync({Object("a", "1", "uid-a"), Object("b", "2", "uid-b")});
  Queued();
  owned_.Sync({});
  owned_.Push("ADDED", OwnedBy(Object("x1", "101"), "a", "uid-a"));
  EXPECT_THAT(Queued(), ElementsAre("ns/a")) << "the version in the reference does not count";
  owned_.Push("ADDED", OwnedBy(Object("x2", "102"), "a", "uid-a", "Gadget"));
  owned_.Push("ADDED", OwnedBy(Object("x3", "103"), "a", "uid-a", "Widget", "other.com/v1"));
  owned_.Push("ADDED", OwnedBy(Object("x4", "104"), "a", "uid-a", "Widget", "example.com/v1", /*controller=*/false));
  owned_.Push("ADDED", OwnedBy(Object("x5", "105"), "a", "uid of its predecessor"));
  owned_.Push("ADDED", Object("x6", "106"));
  EXPECT_THAT(Queued(), ElementsAre());
  owned_.Push("ADDED", OwnedBy(Object("x7", "107"), "unknown", "uid-c"));
  EXPECT_THAT(Queued(), ElementsAre("ns/unknown")) << "the cache may lag: the reconciler will find out";
}

TEST_F(ControllerTest, OwnedObjectThatChangesHandsWakesBothOwners) {
  Make(NoResync()).For(*primary_.informer).Owns(*owned_.informer);
  primary_.Sync({Object("a", "1", "uid-a"), Object("b", "2", "uid-b")});
  owned_.Sync({OwnedBy(Object("x", "3"), "a", "uid-a")});
  Queued();
  owned_.Push("MODIFIED", OwnedBy(Object("x", "101"), "b", "uid-b"));
  EXPECT_THAT(Queued(), ElementsAre("ns/a", "ns/b"));
  owned_.Push("MODIFIED", Object("x", "102"));
  EXPECT_THAT(Queued(), ElementsAre("ns/b"));
}

TEST_F(ControllerTest, DeletedOwnedObjectWakesItsOwner) {
  Make(NoResync()).For(*primary_.informer).Owns(*owned_.informer);
  primary_.Sync({Object("a", "1", "uid-a")});
  owned_.Sync({OwnedBy(Object("x", "3"), "a", "uid-a")});
  Queued();
  owned_.Push("DELETED", OwnedBy(Object("x", "101"), "a", "uid-a"));
  EXPECT_THAT(Queued(), ElementsAre("ns/a"));
}

TEST_F(ControllerTest, EventsThatMayWaitAreQueuedAtOnceThenOnceAPeriod) {
  Make(NoResync()).For(*primary_.informer).Owns(*owned_.informer, nullptr, [](const Event& event) {
    return IsSameObject(event) && event.before->digest() == event.after->digest();
  });
  primary_.Sync({Object("a", "1", "uid-a")});
  Json child = OwnedBy(Object("x", "101"), "a", "uid-a");
  owned_.Sync({});
  owned_.Push("ADDED", child);
  Queued();
  const auto report = [&](int ready) {
    child["metadata"]["resourceVersion"] = std::to_string(101 + ready);
    child["status"]["ready"] = ready;
    owned_.Push("MODIFIED", child);
  };
  report(1);
  EXPECT_THAT(Queued(), ElementsAre("ns/a")) << "the first";
  report(2);
  report(3);
  EXPECT_THAT(Queued(), ElementsAre());
  child["spec"]["replicas"] = 5;
  report(4);
  EXPECT_THAT(Queued(), ElementsAre("ns/a")) << "another spec";
  clock_.Advance(ControllerOptions().pace);
  controller_->queue().Add({"ns", "b"});
  EXPECT_THAT(Queued(), ElementsAre("ns/b", "ns/a")) << "the turn of what came meanwhile";
}

TEST_F(ControllerTest, OwnedObjectsAreIndexedByTheUidOfTheirController) {
  Make(NoResync()).For(*primary_.informer).Owns(*owned_.informer);
  owned_.Sync({OwnedBy(Object("x", "3"), "a", "uid-a"), OwnedBy(Object("y", "4"), "b", "uid-b"), Object("z", "5")});
  const auto mine = owned_.informer->store().ByIndex(Controller::kControllerUidIndex, "uid-a");
  ASSERT_TRUE(mine);
  ASSERT_EQ(mine->size(), 1u);
  EXPECT_EQ(mine->front()->meta().key.name, "x");
}

TEST_F(ControllerTest, WatchedObjectsAreMappedToAnyNumberOfKeys) {
  Make(NoResync()).Watches(*primary_.informer, [](const Event& event) {
    const std::string name = (event.after ? event.after : event.before)->meta().key.name;
    return std::vector<Request>{{"x", name + "1"}, {"x", name + "2"}};
  });
  primary_.Sync({Object("a", "1")});
  EXPECT_THAT(Queued(), ElementsAre("x/a1", "x/a2"));
}

// ---- Running

TEST_F(ControllerTest, NothingIsReconciledBeforeAllCachesAreFilled) {
  Make(NoResync()).For(*primary_.informer).Owns(*owned_.informer);
  primary_.Sync({Object("a", "1")});
  Run();
  for (int i = 0; i < 300; ++i) {  // 15 seconds
    clock_.AwaitWaiters(1);
    clock_.AdvanceToNextDeadline();
  }
  EXPECT_EQ(script_.count(), 0u);
  owned_.Sync({});
  clock_.AwaitWaiters(1);
  clock_.AdvanceToNextDeadline();
  EXPECT_THAT(script_.Take(1), ElementsAre("ns/a")) << "what came before the workers ran must not be lost";
}

TEST_F(ControllerTest, StopEndsTheWaitForCaches) {
  Make(NoResync()).For(*primary_.informer);
  Run();
  clock_.AwaitWaiters(1);
  StopController();
}

TEST_F(ControllerTest, DoneIsDone) {
  Make(NoResync());
  Run();
  controller_->queue().Add({"ns", "a"});
  EXPECT_THAT(script_.Take(1), ElementsAre("ns/a"));
  AwaitIdle();
  clock_.Advance(hours(24));
  AwaitIdle();
  EXPECT_EQ(script_.count(), 0u);
  EXPECT_EQ(Total("success"), 1);
}

TEST_F(ControllerTest, RequeueNowComesAgainAtOnce) {
  Make(NoResync());
  script_.Answer("a", [] { return ReconcileResult::RequeueNow(); });
  controller_->queue().Add({"ns", "a"});
  Run();
  EXPECT_EQ(script_.Take(2).size(), 2u);
  EXPECT_EQ(Total("requeue"), 1);
}

TEST_F(ControllerTest, RequeueAfterComesAgainThen) {
  Make(NoResync());
  script_.Answer("a", [] { return ReconcileResult::RequeueAfter(minutes(3)); });
  controller_->queue().Add({"ns", "a"});
  Run();
  script_.Take(1);
  while (clock_.NextDeadline() != Duration(minutes(3))) std::this_thread::yield();
  clock_.Advance(minutes(3));
  EXPECT_EQ(script_.Take(1).size(), 1u);
  EXPECT_EQ(Total("requeue_after"), 1);
}

TEST_F(ControllerTest, ErrorsAndRequeueWithBackoffWaitLongerEachTimeUntilASuccess) {
  Make(NoResync());
  const auto fail = [] { return Fail(Reason::kConflict, "somebody was faster"); };
  script_.Answer("a", [&]() -> Result<ReconcileResult> { return fail(); });
  script_.Answer("a", [] { return ReconcileResult::RequeueWithBackoff(); });
  script_.Answer("a", [&]() -> Result<ReconcileResult> { return fail(); });
  script_.Answer("a", [] { return ReconcileResult::RequeueWithBackoff(Duration::max(), seconds(3)); });
  script_.Answer("a", [] { return ReconcileResult::RequeueAfter(seconds(1)); });
  script_.Answer("a", [&]() -> Result<ReconcileResult> { return fail(); });
  controller_->queue().Add({"ns", "a"});
  Run();
  for (const Duration expected : {Duration(milliseconds(5)), Duration(milliseconds(10)), Duration(milliseconds(20)),
                                  Duration(seconds(3)), Duration(seconds(1)), Duration(milliseconds(5))}) {
    script_.Take(1);
    while (clock_.NextDeadline() != expected) std::this_thread::yield();
    clock_.Advance(expected);
  }
  script_.Take(1);
  EXPECT_EQ(Total("error"), 3);
}

// A soak or a status that is due every second ends the wait early. This must not lengthen the waits of later failures.
TEST_F(ControllerTest, BackoffThatAnEarlierTimeEndsDoesNotGrowBeyondThatTime) {
  Make(NoResync());
  constexpr int kRounds = 20;
  for (int i = 0; i < kRounds; ++i) {
    script_.Answer("a", [] { return ReconcileResult::RequeueWithBackoff(milliseconds(40)); });
  }
  script_.Answer("a", []() -> Result<ReconcileResult> { return Fail(Reason::kUnauthorized, "who are you?"); });
  controller_->queue().Add({"ns", "a"});
  Run();
  for (int i = 0; i <= kRounds; ++i) {
    script_.Take(1);
    while (!clock_.NextDeadline()) std::this_thread::yield();
    EXPECT_LE(*clock_.NextDeadline(), milliseconds(40));
    clock_.AdvanceToNextDeadline();
  }
  script_.Take(1);
}

TEST_F(ControllerTest, FailureAfterManyConflictsIsRetriedSoon) {
  Make(NoResync());
  for (int i = 0; i < 30; ++i) {
    script_.Answer("a", []() -> Result<ReconcileResult> { return Fail(Reason::kConflict, "somebody was faster"); });
  }
  script_.Answer("a", []() -> Result<ReconcileResult> { return Fail(Reason::kUnauthorized, "who are you?"); });
  controller_->queue().Add({"ns", "a"});
  Run();
  for (int i = 0; i < 31; ++i) {
    script_.Take(1);
    while (!clock_.NextDeadline()) std::this_thread::yield();
    EXPECT_LE(clock_.AdvanceToNextDeadline(), Duration(milliseconds(1280))) << i;
  }
  script_.Take(1);
}

TEST_F(ControllerTest, TheServersRetryAfterIsHonouredIfItIsLaterThanTheBackoff) {
  Make(NoResync());
  script_.Answer("a", []() -> Result<ReconcileResult> {
    return Fail(Error{Reason::kTooManyRequests, "slow down", 429, seconds(17), {}});
  });
  controller_->queue().Add({"ns", "a"});
  Run();
  script_.Take(1);
  while (clock_.NextDeadline() != Duration(seconds(17))) std::this_thread::yield();
}

TEST_F(ControllerTest, AnExceptionInAReconcileIsAnErrorAndEndsNoWorker) {
  Make(NoResync());
  script_.Answer("a", []() -> Result<ReconcileResult> { throw std::runtime_error("a bug"); });
  script_.Answer("b", []() -> Result<ReconcileResult> { throw 3; });
  controller_->queue().Add({"ns", "a"});
  controller_->queue().Add({"ns", "b"});
  controller_->queue().Add({"ns", "c"});
  Run();
  EXPECT_THAT(script_.Take(3), ElementsAre("ns/a", "ns/b", "ns/c"));
  AwaitIdle();
  EXPECT_EQ(controller_->queue().Failures({"ns", "a"}), 1);
  EXPECT_EQ(controller_->queue().Failures({"ns", "b"}), 1);
  EXPECT_EQ(Total("error"), 2);
}

// A clock that throws once after Fail.
class FailingClock : public FakeClock {
 public:
  SteadyTime Now() const override {
    if (fails_.exchange(false)) throw std::bad_alloc();
    return FakeClock::Now();
  }
  void Fail() { fails_ = true; }

 private:
  mutable std::atomic<bool> fails_ = false;
};

TEST(ControllerThreadsTest, AnExceptionBesideAReconcileEndsAllThreadsAndIsThrown) {
  FailingClock clock;
  ControllerOptions options;
  options.name = "failing";
  options.workers = 2;
  Controller controller(
      options,
      [&](const Request&, const std::stop_token&) -> Result<ReconcileResult> {
        clock.Fail();  // at the worker's next read of the time
        return ReconcileResult::Done();
      },
      clock);
  controller.queue().Add({"ns", "a"});
  EXPECT_THROW(controller.Run({}), std::bad_alloc);
}

TEST_F(ControllerTest, ManyWorkersRunSideBySideButNeverOnOneKey) {
  ControllerOptions options = NoResync();
  options.workers = 3;
  Make(options);
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0;
  bool open = false;
  on_reconcile_ = [&](const std::stop_token&) {
    std::unique_lock lock(mutex);
    ++inside;
    changed.notify_all();
    changed.wait(lock, [&] { return open; });
    --inside;
  };
  for (const char* name : {"a", "b", "c"}) controller_->queue().Add({"ns", name});
  Run();
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return inside == 3; });  // hangs if workers do not run concurrently
    controller_->queue().Add({"ns", "a"});
    EXPECT_EQ(controller_->queue().size(), 0u) << "a is being worked on";
    open = true;
    changed.notify_all();
  }
  EXPECT_EQ(script_.Take(4).size(), 4u);
}

TEST_F(ControllerTest, StopReachesARunningReconcileAndIsAwaited) {
  Make(NoResync());
  std::atomic<bool> inside = false, finished = false;
  on_reconcile_ = [&](const std::stop_token& stop) {
    inside = true;
    clock_.Sleep(hours(1), stop);
    finished = true;
  };
  controller_->queue().Add({"ns", "a"});
  controller_->queue().Add({"ns", "b"});
  Run();
  while (!inside) std::this_thread::yield();
  StopController();
  EXPECT_TRUE(finished);
  EXPECT_EQ(script_.count(), 1u) << "after the stop no further key may be begun";
  controller_->queue().Add({"ns", "c"});
  EXPECT_EQ(controller_->queue().size(), 1u) << "b, and nothing new";
}

TEST_F(ControllerTest, EventsAfterTheControllerIsGoneAreHarmless) {
  Make(NoResync()).For(*primary_.informer);
  primary_.Sync({});
  controller_.reset();
  primary_.Push("ADDED", Object("a", "101"));
}

// ---- Resync

TEST_F(ControllerTest, ResyncBringsEveryKeyOncePerPeriodSpreadOverIt) {
  ControllerOptions options = NoResync();
  options.resync = hours(10);
  Make(options).For(*primary_.informer);
  std::vector<Json> objects;
  for (int i = 0; i < 200; ++i) objects.push_back(Object("object-" + std::to_string(i), std::to_string(i + 1)));
  primary_.Sync(objects, "1000");
  Run();
  script_.Take(200);
  AwaitIdle(1);
  std::map<std::string, int> seen;
  std::size_t most_at_once = 0;
  for (int minute = 1; minute <= 2 * 600; ++minute) {
    clock_.Advance(minutes(1));
    AwaitIdle(1);  // The resync thread waits on the clock too.
    const std::vector<std::string> now = script_.Take(0);
    most_at_once = std::max(most_at_once, now.size());
    for (const std::string& key : now) ++seen[key];
    if (minute == 600) {
      EXPECT_EQ(seen.size(), 200u);
    }
  }
  for (const auto& [key, count] : seen) EXPECT_EQ(count, 2) << key;
  EXPECT_LT(most_at_once, 10u) << "the herd must not come at once";
}

// ---- Polls

TEST_F(ControllerTest, PollsAreCalledEachPeriodAndTheirKeysReconciled) {
  std::atomic<int> calls = 0;
  Make(NoResync()).Polls("outside", seconds(30), seconds(5), [&](const std::stop_token&) {
    return Result<std::vector<Request>>(std::vector<Request>{{"ns", "call-" + std::to_string(++calls)}});
  });
  Run();
  EXPECT_THAT(script_.Take(1), ElementsAre("ns/call-1"));
  while (clock_.NextDeadline() != Duration(seconds(30))) std::this_thread::yield();
  clock_.Advance(seconds(30));
  EXPECT_THAT(script_.Take(1), ElementsAre("ns/call-2"));
}

TEST_F(ControllerTest, APollThatFailsOrThrowsIsBackedOffAndTriedAgain) {
  std::atomic<int> calls = 0;
  Make(NoResync())
      .Polls("outside", seconds(30), seconds(5), [&](const std::stop_token&) -> Result<std::vector<Request>> {
        switch (++calls) {
          case 1:
            return Fail(Reason::kTransport, "nobody answers");
          case 2:
            throw std::runtime_error("a bug");
          case 3:
            return std::vector<Request>{{"ns", "a"}};
          default:
            return std::vector<Request>{};
        }
      });
  Run();
  const auto await_pause = [&](Duration at_least, Duration at_most) {
    Duration pause{0};
    while ((pause = clock_.NextDeadline().value_or(Duration{0})) < at_least) std::this_thread::yield();
    EXPECT_LE(pause, at_most);
    clock_.Advance(pause);
  };
  await_pause(seconds(30), seconds(45));
  await_pause(seconds(60), seconds(90));
  EXPECT_THAT(script_.Take(1), ElementsAre("ns/a"));
  await_pause(seconds(30), seconds(30));
  StopController();  // The next poll has just begun and still counts in `calls`.
}

TEST_F(ControllerTest, PollIsStoppedAtItsDeadline) {
  std::atomic<bool> told = false;
  Make(NoResync())
      .Polls("outside", hours(1), seconds(5), [&](const std::stop_token& stop) -> Result<std::vector<Request>> {
        if (!clock_.Sleep(hours(9), stop)) told = true;
        return Fail(Reason::kCancelled, "too slow");
      });
  Run();
  while (clock_.NextDeadline() != Duration(seconds(5))) std::this_thread::yield();
  clock_.Advance(seconds(5));
  while (!told) std::this_thread::yield();  // hangs if the poll is not stopped
  while (clock_.NextDeadline().value_or(Duration{0}) < Duration(hours(1))) std::this_thread::yield();
}

TEST_F(ControllerTest, StopEndsAPoll) {
  std::atomic<bool> inside = false;
  Make(NoResync())
      .Polls("outside", hours(1), hours(1), [&](const std::stop_token& stop) -> Result<std::vector<Request>> {
        inside = true;
        clock_.Sleep(hours(9), stop);
        return Fail(Reason::kCancelled, "stopped");
      });
  Run();
  while (!inside) std::this_thread::yield();
  StopController();
}

}  // namespace
}  // namespace yad
