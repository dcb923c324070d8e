// The validation and the parsing of the checks of a YurtAppDaemon.
#include "operator/api/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/update_strategy.h"
#include "tests/unit/api/validation_cases.h"

namespace yad::testing {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kChecks[] = "spec.updateStrategy.rollingUpdate.checks";
const std::string kFirst = std::string(kChecks) + "[0]";
const std::string kQuery = kFirst + ".prometheus";
constexpr char kQuantityFault[] = "must be a quantity, such as 500m, \"0.05\" or 3";

SpecEdit Checks(Json checks) {
  return {"/updateStrategy", {{"type", "RollingUpdate"}, {"rollingUpdate", {{"checks", std::move(checks)}}}}};
}
SpecEdit Checks(const char* checks) { return Checks(Json::parse(checks)); }
// Returns a list with one valid check, to which it adds the fields of `more`.
SpecEdit One(Json more) {
  Json check = {{"name", "smoke"}};
  check.update(more);
  return Checks(Json::array({std::move(check)}));
}
SpecEdit Prometheus(const char* prometheus) { return One({{"prometheus", Json::parse(prometheus)}}); }
SpecEdit Condition(const char* condition) { return One({{"condition", Json::parse(condition)}}); }
SpecEdit JobSpec(const char* spec) { return One({{"job", {{"spec", Json::parse(spec)}}}}); }

std::string Invalid(const std::string& path, const std::string& value, const std::string& fault) {
  return path + ": Invalid value: " + value + ": " + fault;
}

std::vector<Check> Parsed(const char* checks) {
  const auto daemon = ParseYurtAppDaemon(With(GoodDeployment(), {Checks(checks)}));
  if (daemon) return daemon->strategy.rolling.checks;
  ADD_FAILURE() << daemon.error().ToString();
  return {};
}

constexpr char kJob[] = R"({"template": {"spec": {"containers": [{"name": "c", "image": "i:1"}]}}})";

TEST(CheckValidationTest, ValidChecksAreAccepted) {
  ExpectErrors({
      {{Checks("[]")}, {}},
      {{Checks(Json())}, {}},
      {{Checks(R"([
         {"name": "smoke", "timeoutSeconds": 1, "dryRun": true, "job": {"spec": {"backoffLimit": 0,
          "activeDeadlineSeconds": 60, "suspend": false, "manualSelector": false,
          "template": {"metadata": {"labels": {"a": "b"}}, "spec": {
            "restartPolicy": "OnFailure", "initContainers": [{"name": "a", "image": "i"}],
            "containers": [{"name": "c", "image": "i"}], "nodeSelector": {}, "tolerations": [], "affinity": {}}}}}},
         {"name": "tested", "timeoutSeconds": 604800, "condition": {"type": "example.org/Tested"}},
         {"name": "broken", "condition": {"type": "Broken", "status": "False"}, "dryRun": null},
         {"name": "e", "timeoutSeconds": null, "job": null, "condition": null,
          "prometheus": {"query": "x", "max": "0.05", "min": "-1", "intervalSeconds": 1, "durationSeconds": 599,
                         "failureLimit": 2147483647}},
         {"name": "ratio", "prometheus": {"query": "x", "compare": {"query": "y", "maxRatio": "1500m"},
                                          "durationSeconds": 0}, "timeoutSeconds": 1}])")},
       {}},
  });
}

TEST(CheckValidationTest, ValuesOfWrongTypesAreErrors) {
  const std::string object = "must be an object", text = "must be a string", integer = "must be an integer";
  ExpectErrors({
      {{Checks("{}")}, {Invalid(kChecks, "{}", "must be a list")}},
      {{Checks(R"("smoke")")}, {Invalid(kChecks, "\"smoke\"", "must be a list")}},
      {{Checks("[null]")}, {Invalid(kFirst, "null", object)}},
      {{Checks("[[]]")}, {Invalid(kFirst, "[]", object)}},
      {{One({{"job", 1}})}, {Invalid(kFirst + ".job", "1", object)}},
      {{One({{"condition", "Ready"}})}, {Invalid(kFirst + ".condition", "\"Ready\"", object)}},
      {{One({{"prometheus", "up"}})}, {Invalid(kFirst + ".prometheus", "\"up\"", object)}},
      {{Checks(R"([{"name": 1, "timeoutSeconds": "1", "dryRun": "yes", "condition": {"type": 2, "status": true}}])")},
       {Invalid(kFirst + ".name", "1", text), Invalid(kFirst + ".timeoutSeconds", "\"1\"", integer),
        Invalid(kFirst + ".dryRun", "\"yes\"", "must be true or false"), Invalid(kFirst + ".condition.type", "2", text),
        Invalid(kFirst + ".condition.status", "true", text)}},
      {{Prometheus(R"({"query": 1, "max": 1, "intervalSeconds": "5", "durationSeconds": 1.5, "failureLimit": []})")},
       {Invalid(kQuery + ".query", "1", text), Invalid(kQuery + ".intervalSeconds", "\"5\"", integer),
        Invalid(kQuery + ".failureLimit", "[]", integer), Invalid(kQuery + ".durationSeconds", "1.5", integer)}},
      {{Prometheus(R"({"query": "x", "compare": 2})")}, {Invalid(kQuery + ".compare", "2", object)}},
      {{One({{"job", {{"spec", 1}}}})}, {Invalid(kFirst + ".job.spec", "1", object)}},
  });
}

TEST(CheckValidationTest, ACheckMustHaveExactlyOneKind) {
  const std::string none = kFirst + ": Required value: needs one of `job`, `condition` and `prometheus`";
  const std::string more = kFirst + ": Forbidden: may have only one of `job`, `condition` and `prometheus`";
  const Json job = {{"spec", Json::parse(kJob)}}, condition = {{"type", "A"}};
  const Json prometheus = {{"query", "x"}, {"max", 1}};
  ExpectErrors({
      {{One(Json::object())}, {none}},
      {{One({{"job", nullptr}, {"condition", nullptr}})}, {none}},
      {{One({{"job", job}, {"condition", condition}})}, {more}},
      {{One({{"job", job}, {"prometheus", prometheus}})}, {more}},
      {{One({{"condition", condition}, {"prometheus", prometheus}})}, {more}},
      {{One({{"job", job}, {"condition", condition}, {"prometheus", prometheus}})}, {more}},
  });
}

TEST(CheckValidationTest, NamesMustBeUniqueDnsLabels) {
  const auto named = [](const Json& name) { return Json{{"name", name}, {"condition", {{"type", "A"}}}}; };
  ExpectErrors({
      {{Checks(Json::array({{{"condition", {{"type", "A"}}}}}))}, {kFirst + ".name: Required value"}},
      {{Checks(Json::array({named("")}))}, {kFirst + ".name: Required value"}},
      {{Checks(Json::array({named("a"), named("b"), named("a"), named("a")}))},
       {std::string(kChecks) + "[2].name: Duplicate value: \"a\"",
        std::string(kChecks) + "[3].name: Duplicate value: \"a\""}},
      {{Checks(Json::array({named(std::string(63, 'a'))}))}, {}},
  });
  for (const std::string& name : {std::string("Smoke"), std::string("a.b"), std::string("-a"), std::string(64, 'a')}) {
    const FieldErrors errors = ValidateYurtAppDaemon(With(GoodDeployment(), {Checks(Json::array({named(name)}))}));
    ASSERT_EQ(errors.size(), 1U) << name;
    EXPECT_EQ(errors.front().path, kFirst + ".name");
  }
}

TEST(CheckValidationTest, MoreThanTenChecksAreRejected) {
  Json checks = Json::array();
  for (int i = 0; i < 10; ++i) checks.push_back({{"name", "c" + std::to_string(i)}, {"condition", {{"type", "A"}}}});
  ExpectErrors({{{Checks(checks)}, {}}});
  checks.push_back(checks[0]);
  ExpectErrors({{{Checks(checks)}, {Invalid(kChecks, "11", "must have at most 10 items")}}});
}

TEST(CheckValidationTest, TimesAndFailureLimitsMustBeInTheirRanges) {
  const auto least = [](int value) { return "must be greater than or equal to " + std::to_string(value); };
  const auto most = [](int value) { return "must be less than or equal to " + std::to_string(value); };
  const std::string query = R"({"query": "x", "max": 1, )";
  const auto prometheus = [&](const std::string& rest) { return Prometheus((query + rest + "}").c_str()); };
  const Json condition = {{"type", "A"}};
  ExpectErrors({
      {{One({{"condition", condition}, {"timeoutSeconds", 0}})}, {Invalid(kFirst + ".timeoutSeconds", "0", least(1))}},
      {{One({{"condition", condition}, {"timeoutSeconds", 604801}})},
       {Invalid(kFirst + ".timeoutSeconds", "604801", most(604800))}},
      {{prometheus(R"("intervalSeconds": 0)")}, {Invalid(kQuery + ".intervalSeconds", "0", least(1))}},
      {{prometheus(R"("intervalSeconds": 604801)")}, {Invalid(kQuery + ".intervalSeconds", "604801", most(604800))}},
      {{prometheus(R"("durationSeconds": -1)")}, {Invalid(kQuery + ".durationSeconds", "-1", least(0))}},
      {{prometheus(R"("failureLimit": -1)")}, {Invalid(kQuery + ".failureLimit", "-1", least(0))}},
      {{prometheus(R"("failureLimit": 2147483648)")},
       {Invalid(kQuery + ".failureLimit", "2147483648", most(2147483647))}},
  });
}

TEST(CheckValidationTest, DurationMustBeLessThanTheTimeout) {
  const std::string fault = "must be less than timeoutSeconds of the check";
  const auto timed = [](Json times, const Json& timeout) {
    times.update({{"query", "x"}, {"max", 1}});
    return One({{"prometheus", times}, {"timeoutSeconds", timeout}});
  };
  const std::string at = kQuery + ".durationSeconds";
  ExpectErrors({
      {{timed({{"durationSeconds", 60}}, 60)}, {Invalid(at, "60", fault)}},
      {{timed({{"durationSeconds", 60}}, 61)}, {}},
      {{timed({{"durationSeconds", 600}}, nullptr)}, {Invalid(at, "600", fault)}},
      {{timed({{"durationSeconds", 300}}, 300)}, {Invalid(at, "300", fault)}},
      {{timed(Json::object(), 300)}, {}},
      {{timed(Json::object(), 1)}, {}},
  });
}

TEST(CheckValidationTest, LimitsMustBeQuantities) {
  for (const char* good : {"3", "0", "-5", R"("500m")", R"("0.05")", R"("3")", R"("1Ki")", R"("-1.5")", R"("1e3")"}) {
    const std::string prometheus = R"({"query": "x", "max": )" + std::string(good) + "}";
    ExpectErrors({{{Prometheus(prometheus.c_str())}, {}}});
  }
  for (const char* bad :
       {"0.05", "true", "[]", R"("")", R"("5%")", R"("1e999")", R"("NaN")", R"("+Inf")", R"("1 m")"}) {
    for (const char* field : {"max", "min"}) {
      const std::string prometheus = R"({"query": "x", ")" + std::string(field) + "\": " + bad + "}";
      const std::string value = Json::parse(bad).dump();
      ExpectErrors({{{Prometheus(prometheus.c_str())}, {Invalid(kQuery + "." + field, value, kQuantityFault)}}});
    }
  }
  ExpectErrors({
      {{Prometheus(R"({"query": "x"})")}, {kQuery + ": Required value: needs max, min or compare"}},
      {{Prometheus(R"({"query": "x", "max": null, "min": null})")},
       {kQuery + ": Required value: needs max, min or compare"}},
      {{Prometheus(R"({"query": "x", "max": 1, "min": "1"})")}, {}},
      {{Prometheus(R"({"query": "x", "max": "500m", "min": "0.6"})")},
       {Invalid(kQuery + ".min", "\"0.6\"", "must not be greater than max")}},
  });
}

TEST(CheckValidationTest, InvalidQueriesAndComparisonsAreErrors) {
  const std::string compare = kQuery + ".compare";
  const std::string longest(4096, 'x');
  const Json limit = {{"max", 1}};
  const auto query = [&](const std::string& text) { return One({{"prometheus", {{"query", text}, {"max", 1}}}}); };
  ExpectErrors({
      {{Prometheus(R"({"max": 1})")}, {kQuery + ".query: Required value"}},
      {{Prometheus(R"({"max": 1, "query": ""})")}, {kQuery + ".query: Required value"}},
      {{query(longest)}, {}},
      {{query(longest + "x")},
       {Invalid(kQuery + ".query", "\"" + std::string(64, 'x') + "...\"", "must have at most 4096 bytes")}},
      {{Prometheus(R"({"query": "x", "compare": {}})")},
       {compare + ".query: Required value", compare + ".maxRatio: Required value"}},
      {{Prometheus(R"({"query": "x", "compare": {"query": "y", "maxRatio": 0}})")},
       {Invalid(compare + ".maxRatio", "0", "must be greater than 0")}},
      {{Prometheus(R"({"query": "x", "compare": {"query": "y", "maxRatio": "-1m"}})")},
       {Invalid(compare + ".maxRatio", "\"-1m\"", "must be greater than 0")}},
      {{Prometheus(R"({"query": "x", "compare": {"query": "y", "maxRatio": 1.5}})")},
       {Invalid(compare + ".maxRatio", "1.5", kQuantityFault)}},
  });
}

// The error quotes only the beginning of the query. The cut must not be inside "é".
TEST(CheckValidationTest, ErrorOfALongQueryIsValidUtf8) {
  const std::string query = std::string(63, 'x') + "é" + std::string(5000, 'y');
  const FieldErrors errors =
      ValidateYurtAppDaemon(With(GoodDeployment(), {One({{"prometheus", {{"query", query}, {"max", 1}}}})}));
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_NO_THROW((void)Json(errors.front().ToString()).dump());
}

TEST(CheckValidationTest, InvalidConditionsAreErrors) {
  const std::string at = kFirst + ".condition";
  ExpectErrors({
      {{Condition("{}")}, {at + ".type: Required value"}},
      {{Condition(R"({"type": ""})")}, {at + ".type: Required value"}},
      {{Condition(R"({"type": "A", "status": "Unknown"})")},
       {at + ".status: Unsupported value: \"Unknown\": supported values: \"True\", \"False\""}},
      {{Condition(R"({"type": "A", "status": ""})")},
       {at + ".status: Unsupported value: \"\": supported values: \"True\", \"False\""}},
  });
  const FieldErrors errors = ValidateYurtAppDaemon(With(GoodDeployment(), {Condition(R"({"type": "a b"})")}));
  EXPECT_THAT(Texts(errors), ElementsAre(HasSubstr(at + ".type: Invalid value: \"a b\"")));
}

TEST(CheckValidationTest, JobsNeedAPodTemplateAndMayNotSetFieldsOfTheOperator) {
  const std::string spec = kFirst + ".job.spec", pod = spec + ".template.spec";
  const std::string own = "the apiserver generates the selector of a Job";
  ExpectErrors({
      {{One({{"job", Json::object()}})}, {spec + ": Required value"}},
      {{JobSpec("{}")}, {pod + ": Required value"}},
      {{JobSpec(R"({"template": {}})")}, {pod + ": Required value"}},
      {{JobSpec(R"({"template": {"spec": {}}})")}, {pod + ".containers: Required value"}},
      {{JobSpec(R"({"template": {"spec": 1}})")}, {Invalid(pod, "1", "must be an object")}},
      {{JobSpec(R"({"template": {"metadata": 1, "spec": {"containers": [{"name": "c", "image": "i"}]}}})")},
       {Invalid(spec + ".template.metadata", "1", "must be an object")}},
      {{JobSpec(R"({"template": {"spec": {"restartPolicy": "Always", "containers": [{"name": "c", "image": "i"}]}}})")},
       {pod + ".restartPolicy: Unsupported value: \"Always\": supported values: \"Never\", \"OnFailure\""}},
      {{JobSpec(R"({"suspend": 1, "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}})")},
       {Invalid(spec + ".suspend", "1", "must be true or false")}},
      {{JobSpec(R"({"selector": {}, "manualSelector": true, "ttlSecondsAfterFinished": 0, "suspend": true,
                    "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}})")},
       {spec + ".selector: Forbidden: " + own, spec + ".manualSelector: Forbidden: " + own,
        spec +
            ".ttlSecondsAfterFinished: Forbidden: the operator deletes the Job when the check has a newer Job for the "
            "same pool",
        spec + ".suspend: Forbidden: the check would never end, because a suspended Job does not run"}},
  });
}

TEST(CheckValidationTest, ParseFailsForAnInvalidCheck) {
  const auto daemon = ParseYurtAppDaemon(With(GoodDeployment(), {One(Json::object())}));
  ASSERT_FALSE(daemon);
  EXPECT_EQ(daemon.error().reason, Reason::kInvalid);
}

TEST(CheckParseTest, AbsentFieldsHaveTheirDefaults) {
  const std::vector<Check> checks = Parsed(R"([
    {"name": "job", "job": {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}}},
    {"name": "condition", "condition": {"type": "A"}},
    {"name": "query", "prometheus": {"query": "x", "min": 1}}])");
  ASSERT_EQ(checks.size(), 3U);
  for (const Check& check : checks) {
    EXPECT_EQ(check.timeout, seconds(600)) << check.name;
    EXPECT_FALSE(check.dry_run) << check.name;
    EXPECT_EQ(!check.job_spec.is_null() + !check.condition.empty() + check.prometheus.has_value(), 1) << check.name;
  }
  EXPECT_EQ(checks[0].name, "job");
  EXPECT_TRUE(checks[0].job_spec.contains("template"));
  EXPECT_EQ(checks[1].condition, "A");
  EXPECT_EQ(checks[1].condition_status, "True");
  const PrometheusCheck& query = *checks[2].prometheus;
  EXPECT_EQ(query.interval, seconds(30));
  EXPECT_EQ(query.duration, seconds(300));
  EXPECT_EQ(query.failure_limit, 0);
  EXPECT_EQ(query.min, 1.0);
  EXPECT_FALSE(query.max);
  EXPECT_EQ(query.control_query, "");
}

TEST(CheckParseTest, DefaultDurationIsLessThanTheTimeout) {
  const auto duration = [](int timeout, const Json& interval) {
    const Json prometheus = {{"query", "x"}, {"max", 1}, {"intervalSeconds", interval}};
    const Json check = {{"name", "query"}, {"timeoutSeconds", timeout}, {"prometheus", prometheus}};
    const Json checks = Json::array({check});
    FieldErrors errors;
    return ReadChecks({&checks, "checks"}, errors)[0].prometheus->duration;
  };
  EXPECT_EQ(duration(301, nullptr), seconds(300));
  EXPECT_EQ(duration(300, nullptr), seconds(270));
  EXPECT_EQ(duration(60, nullptr), seconds(30));
  EXPECT_EQ(duration(60, 1), seconds(59));
  EXPECT_EQ(duration(20, nullptr), seconds(0));
}

TEST(CheckParseTest, GivenFieldsAreRead) {
  const std::vector<Check> checks = Parsed(R"([
    {"name": "a", "timeoutSeconds": 61, "dryRun": true, "condition": {"type": "B", "status": "False"}},
    {"name": "b", "timeoutSeconds": 100, "prometheus": {"query": "q{pool=\"{{nodepool-name}}\"}", "max": "500m",
     "min": "0.05", "compare": {"query": "c", "maxRatio": 3}, "intervalSeconds": 7, "durationSeconds": 70,
     "failureLimit": 2}}])");
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].timeout, seconds(61));
  EXPECT_TRUE(checks[0].dry_run);
  EXPECT_EQ(checks[0].condition_status, "False");
  const PrometheusCheck& query = *checks[1].prometheus;
  EXPECT_EQ(query.query, "q{pool=\"{{nodepool-name}}\"}");
  EXPECT_DOUBLE_EQ(*query.max, 0.5);
  EXPECT_DOUBLE_EQ(*query.min, 0.05);
  EXPECT_EQ(query.control_query, "c");
  EXPECT_DOUBLE_EQ(query.max_ratio, 3);
  EXPECT_EQ(query.interval, seconds(7));
  EXPECT_EQ(query.duration, seconds(70));
  EXPECT_EQ(query.failure_limit, 2);
}

TEST(CheckParseTest, MissingChecksAreAnEmptyList) {
  EXPECT_THAT(Parsed("[]"), IsEmpty());
  EXPECT_THAT(Parsed("null"), IsEmpty());
}

}  // namespace
}  // namespace yad::testing
