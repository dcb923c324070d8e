#include "operator/json/list_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace yad {
namespace {

using ::testing::HasSubstr;

const ResourceType kWidgets{"example.com", "v1", "widgets", "Widget", true};

Result<ListText> Split(const std::string& text) { return ListText::Split(text, kWidgets); }

std::vector<std::string> Items(const std::string& text) {
  const auto list = Split(text);
  if (!list) return {list.error().message};
  std::vector<std::string> items;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const auto item = list->Item(i);
    items.push_back(item ? item->TreeOfObject().dump() : item.error().message);
  }
  return items;
}

const std::string kType = R"("apiVersion":"example.com/v1","kind":"Widget")";

TEST(ListTextTest, MembersOfTheListMayPrecedeOrFollowItsItems) {
  for (const std::string text : {R"({"metadata":{"resourceVersion":"7","continue":"more"},"items":[{"a":1},{"a":2}]})",
                                 R"({"items":[{"a":1},{"a":2}],"metadata":{"continue":"more","resourceVersion":"7"}})",
                                 "{ \"items\" : [ {\"a\":1}\n,\t{ \"a\" : 2 } ] ,\n \"metadata\" : "
                                 "{\"continue\":\"more\", \"resourceVersion\":\"7\"} }\n"}) {
    const auto list = Split(text);
    ASSERT_TRUE(list) << list.error().message;
    EXPECT_EQ(list->resource_version(), "7");
    EXPECT_EQ(list->continue_token(), "more");
    EXPECT_THAT(Items(text), ::testing::ElementsAre(R"({"a":1,)" + kType + "}", R"({"a":2,)" + kType + "}"));
  }
}

TEST(ListTextTest, ItemsGetTheListsTypeUnlessTheyHaveTheirOwn) {
  EXPECT_THAT(Items(R"({"items":[{},{ },{"kind":"Other","b":[]}]})"),
              ::testing::ElementsAre("{" + kType + "}", "{" + kType + "}",
                                     R"({"apiVersion":"example.com/v1","b":[],"kind":"Other"})"));
}

TEST(ListTextTest, BracketsAndCommasInStringsDoNotEndAnItem) {
  EXPECT_THAT(Items(R"({"items":[{"a":"]},{\"\\","items":[1]},{"[":"{"}]})"),
              ::testing::ElementsAre(R"({"a":"]},{\"\\","apiVersion":"example.com/v1","items":[1],"kind":"Widget"})",
                                     R"({"[":"{",)" + kType + "}"));
}

TEST(ListTextTest, EmptyItemsAreAnEmptyListAndMissingItemsAreAnError) {
  EXPECT_THAT(Items(R"({"items":[]})"), ::testing::ElementsAre());
  EXPECT_THAT(Items(R"({"items":null})"), ::testing::ElementsAre());
  EXPECT_THAT(Split(R"({"metadata":{"items":[]}})").error().message, HasSubstr("a list of widgets has no items"));
}

// The operator treats objects that are missing in a list as deleted, so it must reject an incomplete list.
TEST(ListTextTest, TruncatedOrAmbiguousListIsRejected) {
  const std::string whole = R"({"items":[{"a":[1]},{"b":2}],"metadata":{}})";
  ASSERT_TRUE(Split(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(Split(whole.substr(0, size))) << size;
  for (const char* text :
       {R"({"items":[{}],"items":[]})", R"({"items":[],"items":[{}]})", R"({"items":[{}]}})", R"({"items":[{}{}]})",
        R"({"items":[{},]})", R"({"items":[{},null]})", R"({"items":[{}}})", R"({"items":[{}]} {"items":[]})",
        R"({"items":[{}],"metadata":nothing})", R"([{"items":[]}])"}) {
    const auto list = Split(text);
    ASSERT_FALSE(list) << text;
    EXPECT_EQ(list.error().reason, Reason::kDecode);
  }
}

// An object that nests too deeply must not prevent the reading of the other objects in a list or a watch.
TEST(ListTextTest, AnItemThatNestsTooDeeplyIsReadWithoutItsDeepestLevels) {
  std::string deep = "1";
  for (int i = 0; i < 2'500; ++i) deep = R"([{"a":)" + std::move(deep) + "}]";
  const auto list = Split(R"({"items":[{"a":)" + deep + R"(},{"b":123456789012345678901234567890}]})");
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->size(), 2U);
  EXPECT_TRUE(list->Item(0)->TreeOfObject().contains("kind"));
  EXPECT_TRUE(list->Item(1)->TreeOfObject().contains("b"));
}

TEST(ListTextTest, InvalidItemIsReportedWhenItIsRead) {
  EXPECT_THAT(Items(R"({"items":[{"a":1},{"a":nothing}]})")[1], HasSubstr("an item of a list is not valid JSON"));
}

}  // namespace
}  // namespace yad
