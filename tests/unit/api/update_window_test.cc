// Update windows in YurtAppDaemons and in annotations of NodePools, and the field maxFailures of groups.
#include "operator/api/update_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/api/nodepool.h"
#include "operator/api/update_strategy.h"
#include "operator/api/well_known.h"
#include "tests/unit/api/validation_cases.h"

namespace yad::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr char kWindows[] = "spec.updateStrategy.rollingUpdate.windows";
constexpr char kStartFault[] = "must be a time of day from 00:00 to 23:59";
constexpr char kDurationFault[] = "must be a duration from 1m to 24h, such as 4h or 1h30m";
constexpr char kZoneFault[] = "is not a time zone of the IANA database, such as Europe/Lisbon";

SpecEdit Rolling(Json rolling) {
  return {"/updateStrategy", {{"type", "RollingUpdate"}, {"rollingUpdate", std::move(rolling)}}};
}
SpecEdit Windows(Json windows) { return Rolling({{"windows", std::move(windows)}}); }
SpecEdit Windows(const char* windows) { return Windows(Json::parse(windows)); }

// Returns a list with one valid window, but with this value of `field`.
Json OneWindow(const char* field, Json value) {
  Json window = {{"start", "22:00"}, {"duration", "4h"}};
  window[field] = std::move(value);
  return Json::array({window});
}

void ExpectFault(const char* field, const Json& value, const std::string& fault) {
  ExpectErrors({{{Windows(OneWindow(field, value))},
                 {std::string(kWindows) + "[0]." + field + ": Invalid value: " + value.dump() + ": " + fault}}});
}

TEST(UpdateWindowTest, ValidWindowsAreAccepted) {
  ExpectErrors({
      {{Windows("[]")}, {}},
      {{Rolling({{"windows", nullptr}})}, {}},
      {{Windows(R"([{"days": ["Sat", "Sun"], "start": "22:00", "duration": "4h", "timeZone": "Europe/Lisbon"},
                    {"start": "00:00", "duration": "24h"}, {"start": "23:59", "duration": "1m", "days": null},
                    {"start": "09:05", "duration": "60s", "timeZone": null},
                    {"days": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], "start": "00:00", "duration": "1h30m"},
                    {"start": "01:00", "duration": "86400s", "timeZone": "UTC"},
                    {"start": "01:00", "duration": "1440m", "timeZone": "Asia/Kathmandu"}])")},
       {}},
  });
}

TEST(UpdateWindowTest, ValuesOfWrongTypesAreErrors) {
  const std::string at = kWindows;
  ExpectErrors({
      {{Windows("{}")}, {at + ": Invalid value: {}: must be a list"}},
      {{Windows(R"("22:00")")}, {at + ": Invalid value: \"22:00\": must be a list"}},
      {{Windows("[null]")}, {at + "[0]: Invalid value: null: must be an object"}},
      {{Windows("[[]]")}, {at + "[0]: Invalid value: []: must be an object"}},
      {{Windows("[{}]")}, {at + "[0].start: Required value", at + "[0].duration: Required value"}},
      {{Windows(R"([{"start": "", "duration": "", "timeZone": ""}])")},
       {at + "[0].start: Required value", at + "[0].duration: Required value", at + "[0].timeZone: Required value"}},
      {{Windows(R"([{"start": 22, "duration": 4, "timeZone": true, "days": "Mon"}])")},
       {at + "[0].days: Invalid value: \"Mon\": must be a list", at + "[0].start: Invalid value: 22: must be a string",
        at + "[0].duration: Invalid value: 4: must be a string",
        at + "[0].timeZone: Invalid value: true: must be a string"}},
      {{Windows(R"([{"start": "01:00", "duration": "1h"}, {"start": "25:00", "duration": "1h"}])")},
       {at + "[1].start: Invalid value: \"25:00\": " + kStartFault}},
  });
}

TEST(UpdateWindowTest, InvalidDaysAreErrors) {
  const std::string days = std::string(kWindows) + "[0].days";
  const std::string supported = ": supported values: \"Mon\", \"Tue\", \"Wed\", \"Thu\", \"Fri\", \"Sat\", \"Sun\"";
  ExpectErrors({
      {{Windows(OneWindow("days", Json::array()))},
       {days + ": Invalid value: []: the window never opens: name a day, or omit `days` for all"}},
      {{Windows(OneWindow("days", {"Mon", "Monday", "mon", "Sun "}))},
       {days + "[1]: Unsupported value: \"Monday\"" + supported, days + "[2]: Unsupported value: \"mon\"" + supported,
        days + "[3]: Unsupported value: \"Sun \"" + supported}},
      {{Windows(OneWindow("days", {"", 1, nullptr}))},
       {days + "[0]: Required value", days + "[1]: Invalid value: 1: must be a string",
        days + "[2]: Invalid value: null: must be a string"}},
  });
}

TEST(UpdateWindowTest, StartMustBeATimeOfDay) {
  for (const char* start : {"24:00", "23:60", "9:00", "09:0", "-1:30", "01:-3", "+1:00", "22:00 ", " 2:00", "22.00",
                            "2200", "22:00:00", "ab:cd", "1a:00", "00:0a", "0x:00", ":", "00:00Z", "２２:00"})
    ExpectFault("start", start, kStartFault);
}

TEST(UpdateWindowTest, DurationMustBeBetweenAMinuteAndADay) {
  for (const char* duration : {"0s",
                               "0h",
                               "59s",
                               "25h",
                               "24h1s",
                               "1441m",
                               "86401s",
                               "4",
                               "h",
                               "1.5h",
                               "-1h",
                               "+1h",
                               "1h-1m",
                               "1 h",
                               " 1h",
                               "1h ",
                               "1d",
                               "4H",
                               "1h30",
                               "100ms",
                               "1e3s",
                               "0000001h",
                               "999999h",
                               "99999999999999999999h",
                               "18446744073709551617s",
                               "4294967297m"})
    ExpectFault("duration", duration, kDurationFault);
  std::string sum;  // The sum would overflow without a check.
  for (int i = 0; i < 5'000; ++i) sum += "999999h";
  const auto errors = Texts(ValidateYurtAppDaemon(With(GoodDeployment(), {Windows(OneWindow("duration", sum))})));
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(errors[0], HasSubstr(kDurationFault));
  EXPECT_LT(errors[0].size(), 500U) << "a long value is cut";
}

TEST(UpdateWindowTest, TimeZoneMustBeInTheDatabase) {
  for (const char* zone : {"Europe/Atlantis", "europe/lisbon", "Europe", "+02:00", "../../etc/passwd", " UTC"})
    ExpectFault("timeZone", zone, kZoneFault);
}

TEST(UpdateWindowTest, NumberOfWindowsIsLimited) {
  Json windows = Json::array();
  for (std::size_t i = 0; i < kMaxUpdateWindows; ++i) windows.push_back(OneWindow("start", "01:00")[0]);
  ExpectErrors({{{Windows(windows)}, {}}});
  windows.push_back("not looked at");
  ExpectErrors({{{Windows(windows)}, {std::string(kWindows) + ": Invalid value: 21: must have at most 20 items"}}});
}

TEST(UpdateWindowTest, MaxFailuresOfAGroupMustBeANumberOrAPercentage) {
  const auto group = [](const Json& max_failures) {
    const Json entry = {{"name", "first"}, {"pools", {"a"}}, {"maxFailures", max_failures}};
    return Rolling({{"groups", Json::array({entry})}});
  };
  const std::string at = "spec.updateStrategy.rollingUpdate.groups[0].maxFailures: Invalid value: ";
  ExpectErrors({
      {{group(0)}, {}},
      {{group(3)}, {}},
      {{group("0%")}, {}},
      {{group("100%")}, {}},
      {{group(nullptr)}, {}},
      {{group(-1)}, {at + "-1: must be greater than or equal to 0"}},
      {{group(2147483648)}, {at + "2147483648: must be less than or equal to 2147483647"}},
      {{group("101%")}, {at + "\"101%\": must not be greater than 100%"}},
      {{group(1.5)}, {at + "1.5: must be an integer or percentage (e.g '5%')"}},
      {{group("3")},
       {at + "\"3\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', "
             "regex used for validation is '[0-9]+%')"}},
  });
}

UpdateStrategy ReadStrategy(const Json& strategy) {
  FieldErrors errors;
  UpdateStrategy read = ReadUpdateStrategy({&strategy, "spec.updateStrategy"}, errors);
  EXPECT_TRUE(errors.empty()) << Describe(errors);
  return read;
}

TEST(UpdateWindowTest, WindowsAndMaxFailuresOfGroupsAreRead) {
  const UpdateStrategy strategy = ReadStrategy(Json::parse(R"({"type": "RollingUpdate", "rollingUpdate": {
      "windows": [{"days": ["Sat", "Sun"], "start": "22:05", "duration": "1h30m10s", "timeZone": "Europe/Lisbon"},
                  {"start": "00:00", "duration": "90m"}],
      "groups": [{"name": "a", "pools": ["x"], "maxFailures": "30%"}, {"name": "b", "pools": ["y"], "maxFailures": 0},
                 {"name": "c", "pools": ["z"]}]}})"));
  EXPECT_EQ(strategy.rolling.windows,
            (std::vector<UpdateWindow>{{0x41, hours(22) + minutes(5), seconds(5410), "Europe/Lisbon"},
                                       {UpdateWindow::kEveryDay, minutes(0), seconds(5400), ""}}));
  const auto& groups = strategy.rolling.groups;
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[0].max_failures.value().Of(10), 3U);
  EXPECT_EQ(groups[0].max_failures.value().Of(4), 2U) << "a percentage is rounded up";
  EXPECT_EQ(groups[1].max_failures.value().Of(10), 0U) << "0 is not the same as absent";
  EXPECT_FALSE(groups[2].max_failures);
  EXPECT_FALSE(groups[3].max_failures) << "the default group has no limit of its own";
  EXPECT_TRUE(ReadStrategy(Json::parse(R"({"type": "RollingUpdate"})")).rolling.windows.empty());
}

PoolWindows OfPool(const StringMap& annotations) { return ParsePoolWindows(annotations); }
PoolWindows OfList(const std::string& list) { return OfPool({{kUpdateWindowsAnnotation, list}}); }

TEST(PoolWindowsTest, AnnotationsAreRead) {
  EXPECT_EQ(OfPool({}), PoolWindows{});
  EXPECT_EQ(OfPool({{"other", "x"}}), PoolWindows{});
  EXPECT_EQ(OfPool({{kTimeZoneAnnotation, "Europe/Oslo"}}), (PoolWindows{"Europe/Oslo", std::nullopt, ""}));
  const PoolWindows both =
      OfPool({{kTimeZoneAnnotation, "Europe/Oslo"},
              {kUpdateWindowsAnnotation, R"([{"days": ["Wed"], "start": "01:00", "duration": "2h"}])"}});
  EXPECT_EQ(both, (PoolWindows{"Europe/Oslo", std::vector<UpdateWindow>{{8, hours(1), hours(2), ""}}, ""}));
}

TEST(PoolWindowsTest, EmptyListReplacesTheWindowsOfDaemons) {
  const PoolWindows parsed = OfList(" [] ");
  EXPECT_EQ(parsed.fault, "");
  ASSERT_TRUE(parsed.windows);
  EXPECT_TRUE(parsed.windows->empty());
}

TEST(PoolWindowsTest, StringThatIsNotAListIsAnError) {
  std::string deep(8'000, '[');
  deep += std::string(8'000, ']');
  for (const std::string& text : {std::string(), std::string("always"), std::string("{}"), std::string("null"),
                                  std::string("7"), std::string(R"({"start": "22:00", "duration": "4h"})"),
                                  std::string("["), std::string("[] x"), std::string("[{}"), std::string("[[[[[]]]]]"),
                                  std::string(16'000, '['), deep, std::string("\xff"), std::string("[\"\xc3\x28\"]")}) {
    const PoolWindows parsed = OfList(text);
    EXPECT_EQ(parsed.fault,
              "annotation apps.openyurt.io/update-windows: must be a list in JSON, such as "
              R"([{"start": "22:00", "duration": "4h"}])")
        << text.substr(0, 64);
    EXPECT_FALSE(parsed.windows) << text.substr(0, 64);
  }
}

TEST(PoolWindowsTest, ErrorNamesTheFieldOfTheList) {
  const std::string at = "annotation apps.openyurt.io/update-windows: windows";
  EXPECT_EQ(OfList("[1]").fault, at + "[0]: Invalid value: 1: must be an object");
  EXPECT_EQ(OfList("[[[[]]]]").fault, at + "[0]: Invalid value: [[[]]]: must be an object");
  EXPECT_EQ(OfList(R"([{"start": "22:00", "duration": "4h"}, {"start": "24:00", "duration": "0s"}])").fault,
            at + "[1].start: Invalid value: \"24:00\": " + kStartFault);
  EXPECT_EQ(OfList(R"([{"start": "22:00", "duration": "4h", "timeZone": "Mars/Base"}])").fault,
            at + "[0].timeZone: Invalid value: \"Mars/Base\": " + kZoneFault);
  std::string many = "[0";
  for (std::size_t i = 0; i < kMaxUpdateWindows; ++i) many += ",0";
  EXPECT_EQ(OfList(many + "]").fault, at + ": Invalid value: 21: must have at most 20 items");
}

TEST(PoolWindowsTest, UnknownFieldIsAnError) {
  const std::string at = "annotation apps.openyurt.io/update-windows: windows";
  const std::string fault = ": is not a field: use days, start, duration and timeZone";
  EXPECT_EQ(OfList(R"([{"day": ["Sat"], "start": "22:00", "duration": "4h"}])").fault,
            at + "[0]: Invalid value: \"day\"" + fault);
  const PoolWindows parsed = OfList(R"([{"start": "22:00", "duration": "4h", "days": ["Sat"], "timeZone": "UTC"},
                                        {"start": "22:00", "duration": "4h", "timezone": "Asia/Tokyo"}])");
  EXPECT_EQ(parsed.fault, at + "[1]: Invalid value: \"timezone\"" + fault);
  EXPECT_FALSE(parsed.windows);
  EXPECT_LT(OfList(R"([{")" + std::string(10'000, 'x') + R"(": 1}])").fault.size(), 500U);
}

TEST(PoolWindowsTest, LengthOfTheListIsLimited) {
  const std::string list = R"([{"start": "22:00", "duration": "4h"}])";
  EXPECT_EQ(OfList(list + std::string(kMaxWindowsText - list.size(), ' ')).fault, "");
  const PoolWindows parsed = OfList(list + std::string(17 * 1024 - list.size(), ' '));
  EXPECT_EQ(parsed.fault, "annotation apps.openyurt.io/update-windows: must be no more than 16384 bytes");
  EXPECT_FALSE(parsed.windows);
}

TEST(PoolWindowsTest, ErrorOfAnUnknownTimeZoneIsShort) {
  EXPECT_EQ(OfPool({{kTimeZoneAnnotation, "Mars/Base"}}).fault,
            std::string("annotation apps.openyurt.io/time-zone: \"Mars/Base\" ") + kZoneFault);
  EXPECT_FALSE(OfPool({{kTimeZoneAnnotation, ""}}).fault.empty());
  EXPECT_FALSE(OfPool({{kTimeZoneAnnotation, "\xff\xfe"}}).fault.empty());
  EXPECT_LT(OfPool({{kTimeZoneAnnotation, std::string(100'000, 'x')}}).fault.size(), 300U);
}

TEST(PoolWindowsTest, FirstErrorIsReported) {
  const PoolWindows parsed = OfPool({{kTimeZoneAnnotation, "Mars/Base"}, {kUpdateWindowsAnnotation, "x"}});
  EXPECT_THAT(parsed.fault, HasSubstr("time-zone"));
}

TEST(PoolWindowsTest, NodePoolsWithDifferentWindowsAreNotEqual) {
  Json object = {{"metadata", {{"name", "a"}, {"annotations", Json::object()}}}};
  const NodePool plain = ParseNodePool(object);
  EXPECT_EQ(plain.windows, PoolWindows{});
  object["metadata"]["annotations"] = {{kTimeZoneAnnotation, "Asia/Kathmandu"}, {kUpdateWindowsAnnotation, "[]"}};
  const NodePool parsed = ParseNodePool(object);
  EXPECT_EQ(parsed.windows, (PoolWindows{"Asia/Kathmandu", std::vector<UpdateWindow>{}, ""}));
  EXPECT_NE(parsed, plain);
  object["metadata"]["annotations"][kUpdateWindowsAnnotation] = 7;
  EXPECT_NO_THROW(ParseNodePool(object));
}

}  // namespace
}  // namespace yad::testing
