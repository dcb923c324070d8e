#include "operator/prometheus/pool_query.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace yad {
namespace {

const std::string kQuery = "max(errors{pool=\"{{nodepool-name}}\"} / ignoring(pool) all{of=\"{{nodepool-name}}\"})";

std::string Expression(std::vector<std::string> pools) { return WithPools("{{nodepool-name}}", std::move(pools)); }

TEST(PoolQueryTest, EachVariableIsReplacedByTheName) {
  EXPECT_EQ(WithPool(kQuery, "lisbon-1"), "max(errors{pool=\"lisbon-1\"} / ignoring(pool) all{of=\"lisbon-1\"})");
  EXPECT_EQ(WithPool("up", "lisbon-1"), "up");
  EXPECT_EQ(WithPool("", "lisbon-1"), "");
  EXPECT_EQ(WithPool("{{nodepool-name}", "x"), "{{nodepool-name}");
  EXPECT_EQ(WithPool("{{{nodepool-name}}}", "x"), "{x}");
}

TEST(PoolQueryTest, AReplacedNameIsNotReplacedAgain) {
  EXPECT_EQ(WithPool("{{nodepool-name}}", "{{nodepool-name}}"), "\\x7b\\x7bnodepool-name\\x7d\\x7d");
  EXPECT_EQ(WithPools("{{{{nodepool-name}}nodepool-name}}", {"x"}), "{{(?:x)nodepool-name}}");
}

TEST(PoolQueryTest, ANameIsEscapedForAStringLiteral) {
  EXPECT_EQ(WithPool("{{nodepool-name}}", "a\"} or vector(0) #"), "a\\x22\\x7d\\x20or\\x20vector\\x280\\x29\\x20\\x23");
  EXPECT_EQ(WithPool("{{nodepool-name}}", "'`\\\n"), "\\x27\\x60\\x5c\\x0a");
  EXPECT_EQ(WithPool("{{nodepool-name}}", "\xc3\xa4"), "\\xc3\\xa4");
  EXPECT_EQ(WithPool("{{nodepool-name}}", std::string(1, '\0')), "\\x00");
}

TEST(PoolQueryTest, SeveralPoolsAreOneExpressionInTheOrderOfTheirNames) {
  EXPECT_EQ(Expression({"b", "a", "c", "a"}), "(?:a|b|c)");
  EXPECT_EQ(WithPools("x{p=~\"{{nodepool-name}}\"} + y{p=~\"{{nodepool-name}}\"}", {"a"}),
            "x{p=~\"(?:a)\"} + y{p=~\"(?:a)\"}");
}

TEST(PoolQueryTest, ADotInANameMatchesADotOnly) { EXPECT_EQ(Expression({"shop.1"}), "(?:shop[.]1)"); }

TEST(PoolQueryTest, NamesThatKubernetesDoesNotAllowAreOmitted) {
  EXPECT_EQ(Expression({"a", "b\"", ".*|", "(", "b\\", "\xc3\xa4", ""}), "(?:a)");
}

TEST(PoolQueryTest, ExpressionWithoutPoolsMatchesNoSeries) {
  EXPECT_EQ(Expression({}), "(?:$.)");
  EXPECT_EQ(Expression({".*|", ""}), "(?:$.)");
}

TEST(PoolQueryTest, TooManyPoolsAreLimitedToTheFirstNamesInSortedOrder) {
  std::vector<std::string> pools;
  for (int i = 10'000; i < 13'000; ++i) pools.push_back("shop-" + std::to_string(i));
  const std::string expression = Expression(pools);
  EXPECT_LE(expression.size(), kMaxPoolExpression);
  EXPECT_GT(expression.size(), kMaxPoolExpression - 20);
  EXPECT_TRUE(expression.starts_with("(?:shop-10000|shop-10001|"));
  EXPECT_EQ(expression.back(), ')');
  std::shuffle(pools.begin(), pools.end(), std::mt19937(1));
  EXPECT_EQ(Expression(pools), expression);
}

TEST(PoolQueryTest, ANameThatIsTooLongMatchesNoSeries) {
  EXPECT_EQ(Expression({std::string(kMaxPoolExpression, 'a')}), "(?:$.)");
}

TEST(PoolQueryTest, PoolIsInLiteralFindsEachVariableOutsideOfStrings) {
  for (const char* good :
       {"up", "", "up{pool=\"{{nodepool-name}}\"}", "up{pool='x{{nodepool-name}}y'}", "up{pool=`\\{{nodepool-name}}`}",
        "up{pool=\"\\\"{{nodepool-name}}\"}", "up # {{nodepool-name}}\n", "up{a=\"'\", pool=\"{{nodepool-name}}\"}"}) {
    EXPECT_TRUE(PoolIsInLiteral(good)) << good;
  }
  for (const char* bad : {"{{nodepool-name}}", "up_{{nodepool-name}}", "up{pool={{nodepool-name}}}",
                          "up{pool=\"{{nodepool-name}}\"} + {{nodepool-name}}", "up{a=\"x\"} # \"\n{{nodepool-name}}",
                          "up{a=`\\`} / {{nodepool-name}}", "up{a=\"\\\\\"} / {{nodepool-name}}"}) {
    EXPECT_FALSE(PoolIsInLiteral(bad)) << bad;
  }
}

}  // namespace
}  // namespace yad
