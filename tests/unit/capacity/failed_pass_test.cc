// Tests when the Controller runs the next pass after a failed pass.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "operator/base/metrics.h"
#include "operator/capacity/capacity_reconciler.h"
#include "operator/runtime/controller.h"
#include "tests/unit/capacity/world.h"

namespace yad::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// The server rejects every status of autoscaler "beijing". The other autoscaler, "hangzhou", works.
class FailedPassTest : public ::testing::Test {
 protected:
  FailedPassTest() {
    world_.AddPool("beijing");
    world_.AddAutoscaler("beijing", "beijing");
    world_.cluster.SetFaults([this](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
      if (request.subresource != "status" || request.key.name != "beijing") return std::nullopt;
      ++rejected_;
      world_.clock.Advance(delay_);
      return FakeCluster::Fault{HttpResponse{422, {}, R"({"kind":"Status","reason":"Invalid","message":"no"})"}};
    });
  }
  ~FailedPassTest() override {
    run_.request_stop();
    run_.join();
  }

  void Run(Duration delay) {
    delay_ = delay;
    run_ = std::jthread([this](const std::stop_token& stop) { controller_.Run(stop); });
    controller_.queue().Add(CapacityReconciler::Key());
  }
  // Lets the controller run for the duration. Advances the clock only while the worker is idle.
  void Wait(Duration duration) {
    const SteadyTime end = world_.clock.Now() + duration;
    for (;;) {
      AwaitIdle();
      if (world_.clock.Now() >= end) return;
      world_.clock.AdvanceToNextDeadline(end - world_.clock.Now());
    }
  }
  void AwaitIdle() {
    world_.clock.AwaitWaiters(1);
    while (controller_.queue().size() > 0) std::this_thread::yield();
    world_.clock.AwaitWaiters(1);
  }
  static ControllerOptions Options() {
    static int made = 0;  // Each controller needs its own name, because metrics live as long as the process.
    ControllerOptions options;
    options.name = "failed-pass-" + std::to_string(made++);
    options.workers = 1;
    options.resync = Duration::zero();
    return options;
  }

  std::atomic<int> rejected_ = 0;
  Duration delay_{0};
  CapacityWorld world_;
  Controller controller_{Options(),
                         [this](const Request&, std::stop_token) {
                           world_.Schedule();
                           world_.Sync();
                           return world_.Pass();
                         },
                         world_.clock};
  std::jthread run_;
};

TEST_F(FailedPassTest, StatusThatTheServerRejectsIsRetriedWithBackoffUpToTheResync) {
  Run(milliseconds(0));
  Wait(minutes(10));
  EXPECT_LE(rejected_, 40) << "about ten attempts with a growing interval, and then one every 30 s";
  EXPECT_GE(rejected_, 20);
  const auto& errors =
      metrics::GetCounter("controller_runtime_reconcile_errors_total", "", {{"controller", controller_.name()}});
  EXPECT_EQ(errors.Value(), rejected_) << "each failed pass counts as an error";
}

TEST_F(FailedPassTest, EventsDuringTheBackoffDoNotResetIt) {
  Run(milliseconds(0));
  Wait(minutes(5));
  const int before = rejected_;
  controller_.queue().Add(CapacityReconciler::Key());
  Wait(milliseconds(100));
  controller_.queue().Add(CapacityReconciler::Key());  // less than a second after the last pass
  Wait(minutes(1));
  EXPECT_LE(rejected_ - before, 5);
}

TEST_F(FailedPassTest, SlowFailuresDoNotDelayTheLeaseForAPodOfAnotherPool) {
  world_.AddNode("n1");
  Run(seconds(2));
  Wait(minutes(20));
  world_.AddPod("p");
  world_.cluster.SetCreated(kPodType, {"shop", "p"}, FormatTime(world_.clock.WallNow()));
  controller_.queue().Add(CapacityReconciler::Key());  // the event of the new pod
  Wait(seconds(15));
  EXPECT_NE(world_.PhaseOf("n1"), "") << "the default of pendingSeconds is 10";
}

}  // namespace
}  // namespace yad::testing
