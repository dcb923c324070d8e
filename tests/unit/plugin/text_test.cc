#include "plugin/view/text.h"

#include <gtest/gtest.h>

#include "plugin/view/console.h"

namespace yad {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(TextTest, AgesAreAsPreciseAsKubectls) {
  EXPECT_EQ(HumanDuration(seconds(-5)), "0s");
  EXPECT_EQ(HumanDuration(seconds(119)), "119s");
  EXPECT_EQ(HumanDuration(seconds(120)), "2m");
  EXPECT_EQ(HumanDuration(seconds(200)), "3m20s");
  EXPECT_EQ(HumanDuration(minutes(47)), "47m");
  EXPECT_EQ(HumanDuration(minutes(308)), "5h8m");
  EXPECT_EQ(HumanDuration(hours(36)), "36h");
  EXPECT_EQ(HumanDuration(hours(50)), "2d2h");
  EXPECT_EQ(HumanDuration(hours(24 * 9)), "9d");
  EXPECT_EQ(HumanDuration(hours(24 * 900)), "2y170d");
  EXPECT_EQ(HumanDuration(hours(24 * 3650)), "10y");
  EXPECT_EQ(Age("2026-11-22T01:00:00Z", ParseTime("2026-11-22T01:00:07Z")), "7s");
  EXPECT_EQ(Age("", ParseTime("2026-11-22T01:00:07Z")), "<unknown>");
}

TEST(TextTest, DurationsAreParsedAsInGo) {
  EXPECT_EQ(ParseDuration("90s"), milliseconds(90'000));
  EXPECT_EQ(ParseDuration("1h30m"), milliseconds(5'400'000));
  EXPECT_EQ(ParseDuration("1.5s500ms"), milliseconds(2'000));
  EXPECT_EQ(ParseDuration("0"), milliseconds(0));
  EXPECT_EQ(ParseDuration("15"), milliseconds(15'000));
  for (const char* bad : {"", "s", "5 s", "5x", "-5s", "1h30", "nan", "1e3s", "99999999999999h", "5s!"}) {
    EXPECT_FALSE(ParseDuration(bad)) << bad;
  }
}

TEST(TextTest, WidthCountsTheColumnsOfATerminal) {
  EXPECT_EQ(Width("镜像拉取失败"), 12u);
  EXPECT_EQ(Width("한글 カナ"), 9u);
  EXPECT_EQ(Width("e\xCC\x81"), 1u) << "a combining accent";
  EXPECT_EQ(Width("a\xE2\x80\x8B"
                  "b"),
            2u)
      << "a zero-width space";
  EXPECT_EQ(Width("🚀 ok"), 5u);
  EXPECT_EQ(Width("é█…·"), 4u);
  EXPECT_EQ(Width("\xFF\xE9"), 2u) << "each byte that is not UTF-8 is shown as one replacement character";
}

TEST(TextTest, FitReturnsAtMostTheGivenColumns) {
  EXPECT_EQ(Fit("镜像拉取失败", 12, true), "镜像拉取失败");
  EXPECT_EQ(Fit("镜像拉取失败", 11, true), "镜像拉取失…");
  EXPECT_EQ(Fit("镜像拉取失败", 10, true), "镜像拉取…") << "half of a wide character does not fit";
  EXPECT_EQ(Fit("镜像", 1, false), "~");
  EXPECT_EQ(Fit("e\xCC\x81"
                "bcd",
                2, false),
            "e\xCC\x81~")
      << "a combining accent stays with its letter";
}

TEST(TextTest, RowsPutsAWideCharacterThatDoesNotFitOnTheNextRow) {
  EXPECT_EQ(Rows("", 5), 1u);
  EXPECT_EQ(Rows("abcde", 5), 1u);
  EXPECT_EQ(Rows("abcdef", 5), 2u);
  EXPECT_EQ(Rows("\x1b[32mabcde\x1b[0m", 5), 1u);
  EXPECT_EQ(Rows("镜像拉取失败", 5), 3u);
  EXPECT_EQ(Rows("镜像", 1), 2u);
}

TEST(TextTest, WidthDoesNotCountColourCodes) {
  EXPECT_EQ(Width("a\x1b[32mbc\x1b[0m"), 3u);
  EXPECT_EQ(Width("é█…"), 3u);
}

TEST(TextTest, TextThatDoesNotFitIsTruncatedBetweenCharacters) {
  EXPECT_EQ(Fit("abcdef", 6, true), "abcdef");
  EXPECT_EQ(Fit("abcdef", 4, true), "abc…");
  EXPECT_EQ(Fit("éééé", 3, false), "éé~");
  EXPECT_EQ(Fit("abc", 0, true), "");
}

TEST(TextTest, TextOfAClusterCannotMoveTheCursor) {
  EXPECT_EQ(Printable("a\x1b[2Jb\nc\x7F"), "a [2Jb c ");
  EXPECT_EQ(Printable("\xC2\x9B"
                      "2J é"),
            " 2J é");
}

}  // namespace
}  // namespace yad
