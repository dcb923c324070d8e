#include "plugin/view/unified_diff.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <vector>

namespace yad {
namespace {

std::string Lines(std::initializer_list<const char*> lines) {
  std::string text;
  for (const char* line : lines) text += std::string(line) + "\n";
  return text;
}

TEST(UnifiedDiffTest, EqualTextsDoNotDiffer) {
  EXPECT_EQ(UnifiedDiff("", ""), "");
  EXPECT_EQ(UnifiedDiff("a\nb\n", "a\nb\n"), "");
}

TEST(UnifiedDiffTest, AChangeHasThreeLinesOfContext) {
  EXPECT_EQ(UnifiedDiff(Lines({"1", "2", "3", "4", "5", "6", "7", "8", "9"}),
                        Lines({"1", "2", "3", "4", "x", "6", "7", "8", "9"})),
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n");
}

TEST(UnifiedDiffTest, ChangesNearEachOtherShareAHunkAndOthersDoNot) {
  EXPECT_EQ(UnifiedDiff(Lines({"a", "1", "2", "3", "4", "5", "6", "b"}), Lines({"1", "2", "3", "4", "5", "6"})),
            "@@ -1,8 +1,6 @@\n-a\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n");
  EXPECT_EQ(
      UnifiedDiff(Lines({"a", "1", "2", "3", "4", "5", "6", "7", "b"}), Lines({"1", "2", "3", "4", "5", "6", "7"})),
      "@@ -1,4 +1,3 @@\n-a\n 1\n 2\n 3\n@@ -6,4 +5,3 @@\n 5\n 6\n 7\n-b\n");
}

TEST(UnifiedDiffTest, AllLinesAreAddedToOrRemovedFromAnEmptyText) {
  EXPECT_EQ(UnifiedDiff("", Lines({"a", "b"})), "@@ -0,0 +1,2 @@\n+a\n+b\n");
  EXPECT_EQ(UnifiedDiff(Lines({"a"}), ""), "@@ -1 +0,0 @@\n-a\n");
}

// Applies the diff as `patch` does.
std::string Patched(const std::string& before, const std::string& diff) {
  std::vector<std::string> lines;
  std::istringstream in(before);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::string result;
  std::size_t next = 0;
  std::istringstream hunks(diff);
  for (std::string line; std::getline(hunks, line);) {
    if (line.starts_with("@@")) {
      const auto first = static_cast<std::size_t>(std::stoul(line.substr(4)));
      const bool none = line.find(",0 +") != std::string::npos;
      while (next < first - (none ? 0 : 1)) result += lines.at(next++) + "\n";
    } else if (line[0] == '+') {
      result += line.substr(1) + "\n";
    } else {
      EXPECT_EQ(line.substr(1), lines.at(next));
      if (line[0] == ' ') result += lines.at(next) + "\n";
      ++next;
    }
  }
  while (next < lines.size()) result += lines[next++] + "\n";
  return result;
}

TEST(UnifiedDiffTest, DiffAppliedToOneTextGivesTheOther) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string texts[2];
    for (std::string& text : texts) {
      for (auto n = random() % 30; n > 0; --n) text += std::string(1, static_cast<char>('a' + random() % 4)) + "\n";
    }
    ASSERT_EQ(Patched(texts[0], UnifiedDiff(texts[0], texts[1])), texts[1]) << texts[0] << "---\n" << texts[1];
  }
}

// The shortest diff of so many changed lines would need gigabytes of memory, so this diff is not the shortest diff.
TEST(UnifiedDiffTest, ThousandsOfChangedLinesAreOneRemovalAndOneAddition) {
  std::string before = "same\n", after = "same\n";
  for (int i = 0; i < 4000; ++i) {
    before += "old " + std::to_string(i) + "\n" + (i % 2 == 0 ? "both\n" : "");
    after += "new " + std::to_string(i) + "\n" + (i % 2 == 0 ? "both\n" : "");
  }
  const std::string diff = UnifiedDiff(before, after);
  EXPECT_EQ(Patched(before, diff), after);
  EXPECT_LT(diff.find("-old 3999\n"), diff.find("+new 0\n"));
}

}  // namespace
}  // namespace yad
