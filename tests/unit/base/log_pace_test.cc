#include "operator/base/log_pace.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace yad {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

std::string Text(int i) { return "text " + std::to_string(i); }

TEST(LogPaceTest, EachTextIsLoggedOnceAnHour) {
  LogPace pace;
  SteadyTime now;
  EXPECT_EQ(pace.Admit("a", now), 0U);
  EXPECT_EQ(pace.Admit("b", now), 0U);
  for (int i = 0; i < 59; ++i) {
    now += minutes(1);
    EXPECT_EQ(pace.Admit("a", now), std::nullopt);
  }
  now += minutes(1);
  EXPECT_EQ(pace.Admit("a", now), 0U) << "repetitions are not counted";
}

TEST(LogPaceTest, TenTextsAMinuteAreLoggedAndTheOthersAreCounted) {
  LogPace pace;
  SteadyTime now;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(pace.Admit(Text(i), now), 0U);
  for (int i = 10; i < 15; ++i) EXPECT_EQ(pace.Admit(Text(i), now + seconds(59)), std::nullopt);
  now += minutes(1);
  EXPECT_EQ(pace.Admit(Text(14), now), 5U) << "a text that was not logged is still new";
  EXPECT_EQ(pace.Admit(Text(15), now), 0U);
}

TEST(LogPaceTest, OldestTextsAreForgottenFirst) {
  LogPace pace;
  SteadyTime now;
  for (int i = 0; i < 300; ++i) {
    if (i % 10 == 0) now += minutes(1);
    EXPECT_EQ(pace.Admit(Text(i), now), 0U);
  }
  now += minutes(1);
  EXPECT_EQ(pace.Admit(Text(299), now), std::nullopt);
  EXPECT_EQ(pace.Admit(Text(299 - 255), now), std::nullopt);
  EXPECT_EQ(pace.Admit(Text(0), now), 0U);
}

}  // namespace
}  // namespace yad
