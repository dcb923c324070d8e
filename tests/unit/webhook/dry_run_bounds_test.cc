// Limits of dry runs: cached acceptances, the deadline, and the memory budget.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "tests/unit/webhook/admission.h"
#include "tests/unit/webhook/dry_run_fixture.h"
#include "webhook/admission/dry_run.h"

namespace yad::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(DryRunTest, AnAcceptanceIsCachedByContentAndExpires) {
  Given({PoolJson("a")});
  Ask(DaemonJson());
  EXPECT_THAT(AskedPools(), SizeIs(1));
  // Another name of the daemon, or an override for another pool, does not change the rendered workload. Another image
  // changes it.
  Json renamed = DaemonJson();
  renamed["metadata"]["name"] = "other";
  renamed["metadata"]["uid"] = "uid-other";
  renamed["spec"]["overrides"] = R"([{"pools": ["z"], "replicas": 7}])"_json;
  Ask(renamed);
  EXPECT_THAT(AskedPools(), IsEmpty());
  // The content has the fields that the overrides set, but not their lists of pools.
  renamed["spec"]["overrides"] = R"([{"pools": ["z"], "replicas": 7}, {"pools": ["a"], "replicas": 2}])"_json;
  Ask(renamed);
  EXPECT_THAT(AskedPools(), SizeIs(1));
  renamed["spec"]["overrides"] = R"([{"pools": ["a", "b"], "replicas": 2}])"_json;
  Ask(renamed);
  EXPECT_THAT(AskedPools(), IsEmpty());
  renamed["spec"]["overrides"] = R"([{"pools": ["a", "b"], "replicas": 3}])"_json;
  Ask(renamed);
  EXPECT_THAT(AskedPools(), SizeIs(1));
  Json elsewhere = DaemonJson();
  elsewhere["metadata"]["namespace"] = "another";
  Ask(elsewhere);
  EXPECT_THAT(AskedPools(), SizeIs(1));
  Ask(DaemonJson("app:2"));
  EXPECT_THAT(AskedPools(), SizeIs(1));
  for (const Json& other : {PoolJson("a", {"t"}), PoolJson("b", {"t"})}) {
    Given({other});
    Ask(DaemonJson());
    EXPECT_THAT(AskedPools(), SizeIs(1)) << "another toleration, and another pool";
  }
  world_.clock.Advance(std::chrono::minutes(10));
  Ask(DaemonJson());
  EXPECT_THAT(AskedPools(), SizeIs(1));
}

TEST_F(DryRunTest, AcceptanceOfAStatefulSetWithAServiceCountsForItsDaemonOnly) {
  Given({PoolJson("a")});
  for (const bool names_service : {false, true}) {
    Json object = DaemonJson("app:1", WorkloadKind::kStatefulSet);
    if (names_service) {
      TemplateOf(object)["spec"].erase("serviceName");
      object["spec"]["serviceTemplate"] = R"({"spec": {"ports": [{"port": 80}]}})"_json;
    }
    Ask(object);
    EXPECT_THAT(AskedPools(), SizeIs(1));
    object["metadata"]["name"] = "other";
    Ask(object);
    EXPECT_THAT(AskedPools(), SizeIs(names_service ? 1 : 0));
  }
}

TEST_F(DryRunTest, ARejectionIsNotCached) {
  Given({PoolJson("a")});
  AnswerAll(InvalidResponse({kImageFault}));
  EXPECT_THAT(Ask(DaemonJson()).rejections, SizeIs(1));
  world_.OnAsk(nullptr);
  EXPECT_THAT(Ask(DaemonJson()).rejections, IsEmpty());
}

TEST_F(DryRunTest, AnAcceptanceDoesNotCountForAnotherStateOfTheWorkload) {
  const Json old = DaemonJson();
  Given({PoolJson("a")}, old);
  Ask(DaemonJson("app:2"), old);
  Ask(DaemonJson("app:2"), old);
  EXPECT_THAT(AskedPools(), SizeIs(1));
  Json live = WorkloadJson(old, MakeRevision(old), PoolJson("a"));
  live["spec"]["strategy"] = {{"type", "Recreate"}};
  world_.SetDeployments({live});
  Ask(DaemonJson("app:2"), old);
  EXPECT_THAT(AskedPools(), SizeIs(1));
}

TEST_F(DryRunTest, NoRequestIsSentAfterTheDeadline) {
  Given({PoolJson("a")});
  Deadline now(world_.clock, world_.clock.Now());
  EXPECT_THAT(dry_run_.Try(*ParseYurtAppDaemon(DaemonJson()), nullptr, now).rejections, IsEmpty());
  EXPECT_THAT(world_.TakeAsked(), IsEmpty());
}

TEST_F(DryRunTest, DeadlineRequestsAStopWhenItPasses) {
  Deadline deadline(world_.clock, world_.clock.Now() + std::chrono::seconds(5));
  const std::stop_token token = deadline.Token();
  EXPECT_EQ(deadline.Token(), token);
  world_.clock.Advance(std::chrono::seconds(5) - std::chrono::milliseconds(1));
  EXPECT_FALSE(deadline.Passed());
  EXPECT_FALSE(token.stop_requested());
  world_.clock.Advance(std::chrono::milliseconds(1));
  EXPECT_TRUE(deadline.Passed());
  while (!token.stop_requested()) std::this_thread::yield();
}

TEST_F(DryRunTest, ATemplateTooLargeToBeStoredIsNotTried) {
  Given({PoolJson("a")});
  Json object = DaemonJson();
  TemplateOf(object)["metadata"]["annotations"]["large"] = std::string(1 << 20, 'x');
  Ask(object);
  EXPECT_THAT(world_.TakeAsked(), SizeIs(1));
  TemplateOf(object)["metadata"]["annotations"]["large"] = std::string(2 << 20, 'x');
  Ask(object);
  EXPECT_THAT(world_.TakeAsked(), IsEmpty());
}

// Returns a daemon whose overrides copy a string. Its dry run first reserves 1.5 MiB of the budget for rendering, and
// then the real size until the response arrives.
Json CopyingDaemon(std::size_t text) {
  Json object = DaemonJson();
  object["spec"]["overrides"] = {
      {{"pools", {"*"}},
       {"jsonPatches",
        {{{"op", "add"}, {"path", "/metadata/annotations/a"}, {"value", std::string(text / 2, 'x')}},
         {{"op", "copy"}, {"from", "/metadata/annotations/a"}, {"path", "/metadata/annotations/b"}}}}}};
  return object;
}

TEST_F(DryRunTest, ARenderingThatGrowsTooLargeIsRejectedAndNotSent) {
  Given({PoolJson("a"), PoolJson("b", {"t"})});
  const Findings findings = Ask(CopyingDaemon(2 << 20));
  ASSERT_THAT(findings.rejections, SizeIs(1));
  EXPECT_EQ(findings.rejections[0].field, "spec.overrides[0].jsonPatches[1]");
  EXPECT_THAT(findings.rejections[0].message, HasSubstr("1.5 MiB"));
  EXPECT_THAT(world_.TakeAsked(), IsEmpty());
}

TEST_F(DryRunTest, AllReviewsTogetherSendNoMoreBytesThanTheBudget) {
  constexpr std::size_t kText = 1 << 20;
  Given({PoolJson("a")});
  std::atomic<int> now = 0;
  std::atomic<int> most = 0;
  world_.OnAsk([&](const Asked& asked) {
    const int here = ++now;
    for (int seen = most; here > seen && !most.compare_exchange_weak(seen, here);) {
    }
    std::this_thread::yield();
    --now;
    return JsonResponse(asked.body, 201);
  });
  std::vector<std::jthread> reviews;
  for (int i = 0; i < 8; ++i) {
    reviews.emplace_back([&, i] {
      Json object = CopyingDaemon(kText);
      TemplateOf(object)["metadata"]["labels"]["review"] = std::to_string(i);
      EXPECT_THAT(Ask(object).rejections, IsEmpty());
    });
  }
  reviews.clear();
  EXPECT_LE(static_cast<std::size_t>(most) * kText, kDryRunText);
  EXPECT_THAT(world_.TakeAsked(), SizeIs(8));
}

TEST_F(DryRunTest, ReviewWithoutBudgetAtItsDeadlineIsAdmitted) {
  Given({PoolJson("a")});
  const ByteBudget::Lease others = text_.Take(kDryRunText, {});
  std::jthread review([&] { EXPECT_THAT(Ask(DaemonJson()).rejections, IsEmpty()); });
  world_.clock.AwaitWaiters(1);
  world_.clock.Advance(std::chrono::seconds(5));
  review.join();
  EXPECT_THAT(world_.TakeAsked(), IsEmpty());
}

TEST_F(DryRunTest, AnExceptionOnAThreadIsThrownToTheCaller) {
  Given({PoolJson("a"), PoolJson("b", {"t"})});
  world_.OnAsk([](const Asked&) -> Result<HttpResponse> { throw std::runtime_error("out of something"); });
  EXPECT_THROW(Ask(DaemonJson()), std::runtime_error);
}

TEST_F(DryRunTest, ConcurrentReviewsOfValidDaemonsHaveNoRejections) {
  Given({PoolJson("a"), PoolJson("b", {"t"})});
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) EXPECT_THAT(Ask(DaemonJson("app:" + std::to_string(i + t))).rejections, IsEmpty());
    });
  }
}

}  // namespace
}  // namespace yad::testing
