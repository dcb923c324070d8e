#include "operator/api/label_selector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace yad {
namespace {

LabelSelector Good(const char* text) {
  Result<LabelSelector> parsed = LabelSelector::Parse(Json::parse(text), "spec.selector");
  EXPECT_TRUE(parsed.has_value()) << text << ": " << (parsed ? "" : parsed.error().message);
  return parsed ? *parsed : LabelSelector();
}

TEST(LabelSelectorTest, MatchesAsKubernetesDoes) {
  struct Case {
    const char* selector;
    StringMap labels;
    bool matches;
  };
  for (const Case& one : {
           Case{"{}", {}, true},
           Case{"{}", {{"a", "b"}}, true},
           Case{"null", {{"a", "b"}}, false},
           Case{R"({"matchLabels": null, "matchExpressions": null})", {}, true},
           Case{R"({"matchLabels": {}, "matchExpressions": []})", {{"a", "b"}}, true},
           Case{R"({"matchLabels": {"a": "b"}})", {{"a", "b"}, {"c", "d"}}, true},
           Case{R"({"matchLabels": {"a": "b"}})", {{"a", "c"}}, false},
           Case{R"({"matchLabels": {"a": "b"}})", {}, false},
           Case{R"({"matchLabels": {"a": ""}})", {{"a", ""}}, true},
           Case{R"({"matchLabels": {"a": ""}})", {}, false},
           Case{R"({"matchLabels": {"a": "b", "c": "d"}})", {{"a", "b"}}, false},
           Case{R"({"matchExpressions": [{"key": "a", "operator": "In", "values": ["y", "x"]}]})", {{"a", "x"}}, true},
           Case{R"({"matchExpressions": [{"key": "a", "operator": "In", "values": ["y", "x"]}]})", {{"a", "z"}}, false},
           Case{R"({"matchExpressions": [{"key": "a", "operator": "In", "values": ["x"]}]})", {}, false},
           Case{R"({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["x"]}]})", {}, true},
           Case{R"({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["x"]}]})", {{"a", "x"}}, false},
           Case{R"({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["x"]}]})", {{"a", "y"}}, true},
           Case{R"({"matchExpressions": [{"key": "a", "operator": "Exists"}]})", {{"a", ""}}, true},
           Case{R"({"matchExpressions": [{"key": "a", "operator": "Exists", "values": []}]})", {{"b", ""}}, false},
           Case{R"({"matchExpressions": [{"key": "a", "operator": "DoesNotExist", "values": null}]})", {}, true},
           Case{R"({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]})", {{"a", "x"}}, false},
           Case{
               R"({"matchLabels": {"a": "b"},
                   "matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]})",
               {{"a", "b"}},
               false},
       }) {
    EXPECT_EQ(Good(one.selector).Matches(one.labels), one.matches) << one.selector;
  }
}

TEST(LabelSelectorTest, UnparsedSelectorMatchesNothing) {
  EXPECT_FALSE(LabelSelector().Matches({}));
  EXPECT_FALSE(LabelSelector().empty());
  EXPECT_TRUE(Good("{}").empty());
  EXPECT_FALSE(Good(R"({"matchLabels": {"a": "b"}})").empty());
}

TEST(LabelSelectorTest, TextHasTheFormatOfTheApiserver) {
  struct Case {
    const char* selector;
    const char* text;
  };
  for (const Case& one : {
           Case{"{}", ""},
           Case{"null", "<none>"},
           Case{R"({"matchLabels": {"b": "2", "a": "1"}})", "a=1,b=2"},
           Case{R"({"matchLabels": {"app": "x"}, "matchExpressions": [
                    {"key": "y", "operator": "DoesNotExist"},
                    {"key": "tier", "operator": "In", "values": ["b", "a", "b"]}]})",
                "app=x,tier in (a,b),!y"},
           Case{R"({"matchExpressions": [{"key": "e.io/x", "operator": "NotIn", "values": ["a"]},
                                         {"key": "a", "operator": "Exists"}]})",
                "a,e.io/x notin (a)"},
       }) {
    EXPECT_EQ(Good(one.selector).ToString(), one.text);
  }
}

TEST(LabelSelectorTest, ErrorsAreReportedWithTheirPath) {
  struct Case {
    const char* selector;
    const char* message;
  };
  for (const Case& one : {
           Case{"7", "s: Invalid value: 7: must be an object"},
           Case{"[]", "s: Invalid value: []: must be an object"},
           Case{R"({"matchLabels": []})", "s.matchLabels: Invalid value: []: must be an object"},
           Case{R"({"matchLabels": {"a": 1}})", "s.matchLabels[a]: Invalid value: 1: must be a string"},
           Case{R"({"matchLabels": {"": "x"}})", "s.matchLabels: Invalid value: \"\": name part must be non-empty"},
           Case{R"({"matchExpressions": {}})", "s.matchExpressions: Invalid value: {}: must be a list"},
           Case{R"({"matchExpressions": ["a"]})", "s.matchExpressions[0]: Invalid value: \"a\": must be an object"},
           Case{R"({"matchExpressions": [{"key": "a", "operator": "In"}]})",
                "s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"},
           Case{R"({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": []}]})",
                "s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"},
           Case{R"({"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["x"]}]})",
                "s.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or "
                "'DoesNotExist'"},
           Case{R"({"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]})",
                "s.matchExpressions[0].operator: Invalid value: \"Gt\": not a valid selector operator"},
           Case{R"({"matchExpressions": [{"key": "a"}]})",
                "s.matchExpressions[0].operator: Invalid value: \"\": not a valid selector operator"},
           Case{R"({"matchExpressions": [{"key": "a", "operator": 1}]})",
                "s.matchExpressions[0].operator: Invalid value: 1: not a valid selector operator"},
           Case{R"({"matchExpressions": [{"operator": "Exists"}]})",
                "s.matchExpressions[0].key: Invalid value: \"\": name part must be non-empty"},
           Case{R"({"matchExpressions": [{"key": "a", "operator": "In", "values": "x"}]})",
                "s.matchExpressions[0].values: Invalid value: \"x\": must be a list"},
           Case{R"({"matchExpressions": [{"key": "a", "operator": "In", "values": [1]}]})",
                "s.matchExpressions[0].values[0]: Invalid value: 1: must be a string"},
           Case{R"({"matchExpressions": [{"key": "a", "operator": "Exists"},
                                         {"key": "a", "operator": "In"}, {"key": "b", "operator": "x"}]})",
                "[s.matchExpressions[1].values: Required value: must be specified when `operator` is 'In' or 'NotIn', "
                "s.matchExpressions[2].operator: Invalid value: \"x\": not a valid selector operator]"},
       }) {
    Result<LabelSelector> parsed = LabelSelector::Parse(Json::parse(one.selector), "s");
    ASSERT_FALSE(parsed.has_value()) << one.selector;
    EXPECT_EQ(parsed.error().reason, Reason::kInvalid);
    EXPECT_EQ(parsed.error().message, one.message);
    EXPECT_FALSE(parsed.error().causes.empty());
  }
}

TEST(LabelSelectorTest, ExclusiveSelectorsMatchNoCommonLabels) {
  const std::vector<std::string> texts = {
      "null",
      "{}",
      R"({"matchLabels": {"a": "x"}})",
      R"({"matchLabels": {"a": "y"}})",
      R"({"matchLabels": {"b": "x"}})",
      R"({"matchLabels": {"a": "x", "b": "x"}})",
      R"({"matchExpressions": [{"key": "a", "operator": "In", "values": ["x", "z"]}]})",
      R"({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["x"]}]})",
      R"({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["y", "z", "x"]}]})",
      R"({"matchExpressions": [{"key": "a", "operator": "Exists"}]})",
      R"({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]})",
      R"({"matchExpressions": [{"key": "b", "operator": "DoesNotExist"}]})"};
  std::vector<StringMap> labels;
  for (const char* a : {"", "x", "y", "z", "w"}) {
    for (const char* b : {"", "x", "y"}) {
      StringMap& one = labels.emplace_back();
      if (*a != '\0') one["a"] = a;
      if (*b != '\0') one["b"] = b;
    }
  }
  // The label sets above contain all combinations that the selectors distinguish. So two selectors overlap if and only
  // if both match one of these sets.
  for (const std::string& left : texts) {
    for (const std::string& right : texts) {
      const LabelSelector a = *LabelSelector::Parse(Json::parse(left), "s");
      const LabelSelector b = *LabelSelector::Parse(Json::parse(right), "s");
      const bool together = std::any_of(labels.begin(), labels.end(),
                                        [&](const StringMap& one) { return a.Matches(one) && b.Matches(one); });
      EXPECT_EQ(a.Excludes(b), !together) << left << " " << right;
    }
  }
}

TEST(LabelSelectorTest, MalformedValuesAreRejectedAsTheApiserverRejectsThem) {
  Result<LabelSelector> parsed = LabelSelector::Parse(Json::parse(
                                                          R"({"matchLabels": {"a": "x y"},
              "matchExpressions": [{"key": "a", "operator": "In", "values": ["ok", "-"]}]})"),
                                                      "s");
  ASSERT_FALSE(parsed.has_value());
  ASSERT_EQ(parsed.error().causes.size(), 2U);
  EXPECT_EQ(parsed.error().causes[0].field, "s.matchLabels");
  EXPECT_EQ(parsed.error().causes[1].field, "s.matchExpressions[0].values[1]");
}

TEST(LabelSelectorTest, TextIsParsedAsKubectlParsesIt) {
  const auto read = [](const std::string& text) { return LabelSelector::ParseText(text).value().ToString(); };
  EXPECT_EQ(read("app=x"), read(" app == x "));
  EXPECT_EQ(read("a in (x,y),b=1"), "a in (x,y),b in (1)");
  EXPECT_EQ(read("zone!=north, tier notin ( a , b )"), "tier notin (a,b),zone notin (north)");
  EXPECT_EQ(read("example.com/a,!b"), "!b,example.com/a");
  EXPECT_TRUE(LabelSelector::ParseText("a=").value().Matches({{"a", ""}}));
  EXPECT_FALSE(LabelSelector::ParseText("a!=x").value().Matches({{"a", "x"}}));
  EXPECT_TRUE(LabelSelector::ParseText("a!=x").value().Matches({}));
  for (const char* text :
       {"", " ", ",", "a=b,", "=x", "a in x", "a in (x", "a on (x)", "a b", "in (x)", "a=b=c", "!", "a)", "(x)"})
    EXPECT_FALSE(LabelSelector::ParseText(text)) << text;
}

}  // namespace
}  // namespace yad
