#include "webhook/admission/acceptance_cache.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/fake_clock.h"

namespace yad {
namespace {

using Texts = std::vector<std::string>;

TEST(AcceptanceCacheTest, AcceptanceExpiresAfterItsLifetime) {
  FakeClock clock;
  AcceptanceCache cache(clock, 10, std::chrono::minutes(2));
  EXPECT_FALSE(cache.Find("a"));
  cache.Put("a", {"careful"});
  EXPECT_EQ(cache.Find("a"), Texts{"careful"});
  clock.Advance(std::chrono::seconds(119));
  cache.Put("a", {"later"});  // does not extend the time
  EXPECT_EQ(cache.Find("a"), Texts{"careful"});
  clock.Advance(std::chrono::seconds(1));
  EXPECT_FALSE(cache.Find("a"));
  cache.Put("a", {"later"});
  EXPECT_EQ(cache.Find("a"), Texts{"later"});
}

TEST(AcceptanceCacheTest, OldestAcceptancesAreDroppedFirst) {
  FakeClock clock;
  AcceptanceCache cache(clock, 3);
  for (const char* digest : {"a", "b", "c", "d"}) cache.Put(digest, {});
  EXPECT_FALSE(cache.Find("a"));
  EXPECT_TRUE(cache.Find("b"));
  EXPECT_TRUE(cache.Find("d"));
}

TEST(AcceptanceCacheTest, DigestsDifferWithTheContentAndHaveOneSize) {
  EXPECT_NE(AcceptanceCache::Digest("a"), AcceptanceCache::Digest("b"));
  EXPECT_EQ(AcceptanceCache::Digest("").size(), 32U);
  EXPECT_EQ(AcceptanceCache::Digest(std::string(1 << 20, 'x')).size(), 32U);
}

TEST(AcceptanceCacheTest, ManyThreadsCanUseTheCacheConcurrently) {
  FakeClock clock;
  AcceptanceCache cache(clock, 50);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache, t] {
      for (int i = 0; i < 500; ++i) {
        const std::string digest = std::to_string(i % 100);
        cache.Put(digest, {digest});
        const auto found = cache.Find(std::to_string((i + t) % 100));
        EXPECT_TRUE(!found || found->size() == 1);
      }
    });
  }
}

}  // namespace
}  // namespace yad
