#include "operator/runtime/controller_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace yad {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kKnown = {"one", "two", "three"};

ControllerList List(const std::vector<std::string>& entries) { return ControllerList::Parse(entries, kKnown).value(); }

TEST(ControllerListTest, EmptyListRunsTheDefaultControllers) {
  EXPECT_EQ(ControllerList().Choose("one"), Chosen::kByDefault);
  EXPECT_EQ(List({"*"}).Choose("one"), Chosen::kByDefault);
}

TEST(ControllerListTest, ListWithoutAStarRunsOnlyNamedControllers) {
  const ControllerList list = List({"one"});
  EXPECT_EQ(list.Choose("one"), Chosen::kYes);
  EXPECT_EQ(list.Choose("two"), Chosen::kNo);
  EXPECT_EQ(List({"-one"}).Choose("two"), Chosen::kNo);
}

TEST(ControllerListTest, AStarMayBeCombinedWithNamesAndExclusionsInAnyOrder) {
  for (const auto& entries : {std::vector<std::string>{"*", "-one", "two"}, {"two", "-one", "*"}}) {
    const ControllerList list = List(entries);
    EXPECT_EQ(list.Choose("one"), Chosen::kNo);
    EXPECT_EQ(list.Choose("two"), Chosen::kYes);
    EXPECT_EQ(list.Choose("three"), Chosen::kByDefault);
  }
}

TEST(ControllerListTest, UnknownNameIsRejectedWithTheValidNames) {
  for (const char* entry : {"four", "-four", "", "-", "One"}) {
    const auto list = ControllerList::Parse({entry}, kKnown);
    ASSERT_FALSE(list) << entry;
    EXPECT_THAT(list.error().message, HasSubstr("one, two, three")) << entry;
  }
}

TEST(ControllerListTest, AControllerThatIsNamedAndExcludedIsAnError) {
  EXPECT_FALSE(ControllerList::Parse({"one", "-one"}, kKnown));
  EXPECT_FALSE(ControllerList::Parse({"-one", "*", "one"}, kKnown));
}

}  // namespace
}  // namespace yad
