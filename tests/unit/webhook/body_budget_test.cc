#include "webhook/server/body_budget.h"

#include <gtest/gtest.h>

namespace yad::testing {
namespace {

struct FakeHolder : BodyBudget::Holder {
  explicit FakeHolder(SteadyTime::rep waiting_since) : since(waiting_since) {}
  SteadyTime::rep waits_since() const override { return aborted ? 0 : since; }
  void Abort() override { aborted = true; }

  SteadyTime::rep since;
  bool aborted = false;
};

TEST(BodyBudgetTest, HoldersThatWaitLongestLoseTheirBytesFirst) {
  BodyBudget budget(100);
  FakeHolder second(2), first(1), third(3), newest(4);
  EXPECT_TRUE(budget.Set(second, 30));
  EXPECT_TRUE(budget.Set(first, 30));
  EXPECT_TRUE(budget.Set(third, 40));
  EXPECT_TRUE(budget.Set(newest, 60));
  EXPECT_TRUE(first.aborted && second.aborted);
  EXPECT_FALSE(third.aborted);
  EXPECT_FALSE(budget.Set(first, 1)) << "an aborted holder gets no bytes";
}

TEST(BodyBudgetTest, HolderTakesNothingFromBusyOrYoungerHolders) {
  BodyBudget budget(100);
  FakeHolder busy(0), younger(5), holder(4);
  busy.since = 1;
  EXPECT_TRUE(budget.Set(busy, 50));
  busy.since = 0;  // its handler runs
  EXPECT_TRUE(budget.Set(younger, 50));
  EXPECT_FALSE(budget.Set(holder, 1));
  EXPECT_FALSE(busy.aborted || younger.aborted);
  EXPECT_TRUE(budget.Set(younger, 0));
  EXPECT_TRUE(budget.Set(holder, 50));
}

TEST(BodyBudgetTest, HolderThatGetsNoMoreBytesLosesThoseThatItHad) {
  BodyBudget budget(100);
  FakeHolder older(1), newer(2);
  EXPECT_TRUE(budget.Set(older, 50));
  EXPECT_TRUE(budget.Set(newer, 50));
  EXPECT_FALSE(budget.Set(older, 60));
  EXPECT_TRUE(budget.Set(newer, 100));
  EXPECT_FALSE(older.aborted) << "the older holder has no bytes left";
}

}  // namespace
}  // namespace yad::testing
