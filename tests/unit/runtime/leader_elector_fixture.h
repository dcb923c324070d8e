// Replicas that compete for one lease on a server in memory, with a clock that the test advances.
#ifndef TESTS_UNIT_RUNTIME_LEADER_ELECTOR_FIXTURE_H_
#define TESTS_UNIT_RUNTIME_LEADER_ELECTOR_FIXTURE_H_

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "operator/runtime/leader_elector.h"
#include "tests/support/fake_clock.h"
#include "tests/unit/runtime/fake_api_server.h"

namespace yad::testing {

inline constexpr char kLeasePath[] = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/the-lease";

class LeaderElectorTest : public ::testing::Test {
 protected:
  // One replica; its destructor joins its thread.
  struct Replica {
    Replica(LeaderElectorTest& test, const std::string& identity)
        : client(test.server_, {}, test.clock_),
          elector(client, {{"kube-system", "the-lease"}, identity}, test.clock_) {}
    ~Replica() { Stop(); }
    void StartAcquire() {
      thread = std::jthread([this](std::stop_token stop) {
        acquired = elector.Acquire(stop);
        ended = true;
      });
    }
    void StartHold() {
      thread = std::jthread([this](std::stop_token stop) {
        held = elector.HoldLease(stop);
        ended = true;
      });
    }
    void Stop() {
      thread.request_stop();
      if (thread.joinable()) thread.join();
    }

    Client client;
    LeaderElector elector;
    std::atomic<bool> ended = false;
    std::atomic<bool> acquired = false;
    std::atomic<bool> held = false;
    std::jthread thread;
  };

  static Json Lease(const Json& spec) {
    return {{"apiVersion", "coordination.k8s.io/v1"},
            {"kind", "Lease"},
            {"metadata", {{"name", "the-lease"}, {"namespace", "kube-system"}}},
            {"spec", spec}};
  }
  Json Spec() const { return server_->Find(kLeasePath).value()["spec"]; }

  // Advances the clock when all replicas sleep: both the thread of each replica and its timer wait.
  void Step(int replicas, Duration by = std::chrono::seconds(1)) {
    clock_.AwaitWaiters(2 * replicas);
    clock_.Advance(by);
  }
  // Advances the clock until the replica's thread has exited. Returns the passed time.
  Duration StepToEnd(Replica& replica, Duration by = std::chrono::seconds(1)) {
    const SteadyTime start = clock_.Now();
    for (;;) {
      Until([&] { return replica.ended || clock_.waiters() >= 2; });
      if (replica.ended) return clock_.Now() - start;
      clock_.Advance(by);
    }
  }

  FakeClock clock_;
  std::shared_ptr<FakeApiServer> server_ = std::make_shared<FakeApiServer>();
};

}  // namespace yad::testing

#endif  // TESTS_UNIT_RUNTIME_LEADER_ELECTOR_FIXTURE_H_
