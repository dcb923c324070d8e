// Update windows on a system without a time zone database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/time_zones/zones.h"
#include "tests/unit/webhook/admission.h"
#include "tests/unit/yurtappdaemon/rolling_update_fixture.h"
#include "webhook/admission/warnings.h"

namespace yad::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

Json AlwaysOpen(const std::string& zone) {
  const Json window = {{"start", "00:00"}, {"duration", "24h"}, {"timeZone", zone}};
  return {{"windows", Json::array({window})}};
}

TEST(AdmissionWithoutTimeZonesTest, WarnsOfAZoneThatIsNotChecked) {
  InNewProcess([](Zones&) {
    AdmissionWorld world;
    Json object = DaemonJson();
    object["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", AlwaysOpen("Europe/Lisbon")}};
    const auto daemon = ParseYurtAppDaemon(object);
    ASSERT_TRUE(daemon) << "the same object is valid on another replica";
    EXPECT_THAT(
        WarningsFor(*daemon, nullptr, world.stores()),
        Contains("spec.updateStrategy.rollingUpdate.windows[0].timeZone: \"Europe/Lisbon\" can't be checked, and "
                 "the window stays closed: the system has no time zone database (tzdata)"));
    object["spec"]["updateStrategy"]["rollingUpdate"] = AlwaysOpen("UTC");
    EXPECT_THAT(WarningsFor(*ParseYurtAppDaemon(object), nullptr, world.stores()),
                ::testing::Not(Contains(HasSubstr("timeZone"))));
  });
}

class WithoutTimeZonesTest : public RollingUpdateTest {};
INSTANTIATE_TEST_SUITE_P(Kind, WithoutTimeZonesTest,
                         ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet));

TEST_P(WithoutTimeZonesTest, WindowStaysClosedUntilThereIsADatabase) {
  InNewProcess([this](Zones& zones) {
    Deployed({"a"}, AlwaysOpen("Europe/Lisbon"));
    world_.SetImage("app:2");
    for (int hour = 0; hour < 30; ++hour) {
      Step();
      world_.clock.Advance(std::chrono::hours(1));
    }
    EXPECT_EQ(Images(), "a=1");
    EXPECT_EQ(WaitingFor("a"), "Window");
    EXPECT_EQ(Phase("a"), "Ready");
    EXPECT_EQ(MessageOf("a"), std::string("no update window opens: time zone Europe/Lisbon: ") + kNoDatabase);
    EXPECT_EQ(Progressing(), "True WaitingForWindow");
    EXPECT_EQ(Message(),
              std::string("0 of 1 pools are updated; 1 waits for its update window; no window opens: time zone "
                          "Europe/Lisbon: ") +
                  kNoDatabase);
    zones.Add("UTC");
    zones.Add("Europe/Lisbon");
    Wait(seconds(61));
    EXPECT_EQ(Images(), "a=2") << "the operator updates the pool without an event";
  });
}

TEST_P(WithoutTimeZonesTest, UnknownZoneOfAPoolClosesOnlyTheWindowsOfThatPool) {
  InNewProcess([this](Zones&) {
    Json rolling = AlwaysOpen("UTC");
    rolling["windows"][0].erase("timeZone");
    Deployed({"a", "b"}, rolling);
    AnnotatePool("a", kTimeZoneAnnotation, "Europe/Lisbon");
    world_.SetImage("app:2");
    for (int i = 0; i < 3; ++i) {
      Step();
      Heal("b");
    }
    EXPECT_EQ(Images(), "a=1 b=2");
    EXPECT_EQ(WaitingFor("a"), "Window");
    EXPECT_THAT(MessageOf("a"), HasSubstr(kNoDatabase));
  });
}

TEST_P(WithoutTimeZonesTest, RollbackAndCreationDoNotWaitForAWindow) {
  InNewProcess([this](Zones&) {
    Deployed({"a"}, AlwaysOpen("UTC"));
    world_.SetImage("app:2");
    Step();
    ASSERT_EQ(Images(), "a=2") << "pool a is not healthy yet, so app:1 is the current revision";
    Strategy("windows", AlwaysOpen("Europe/Lisbon")["windows"]);
    world_.AddPools({"b"});
    world_.SetImage("app:1");
    Step();
    EXPECT_EQ(Images(), "a=1 b=1");
  });
}

}  // namespace
}  // namespace yad::testing
