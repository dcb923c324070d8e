// Update windows around changes of clocks, midnight and the week.
#include "operator/yurtappdaemon/rollout/windows.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace yad {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr unsigned kSun = 1, kMon = 2, kWed = 8, kFri = 32, kSat = 64;

UpdateWindow Window(int hour, int minute, seconds duration, const char* zone = "",
                    unsigned days = UpdateWindow::kEveryDay) {
  return {days, hours(hour) + minutes(minute), duration, zone};
}

WallTime At(const char* time) {
  const WallTime parsed = ParseTime(time);
  EXPECT_NE(parsed, WallTime()) << time;
  return parsed;
}

bool IsOpen(const std::vector<UpdateWindow>& windows, const char* time, const char* zone = "") {
  return WindowsAt(windows, zone, At(time)).open;
}

// Returns the next opening after `time`, such as "2026-01-02T22:00:00Z (Fri 22:00 UTC)"; "open" if a window is open;
// "never" if no window opens.
std::string NextOpening(const std::vector<UpdateWindow>& windows, const char* time, const char* zone = "") {
  const WindowState state = WindowsAt(windows, zone, At(time));
  EXPECT_FALSE(state.open && state.opens);
  if (state.open) return "open";
  if (!state.opens) return "never";
  return FormatTime(*state.opens) + " (" + state.opens_locally + ")";
}

TEST(WindowsTest, APoolWithoutWindowsIsAlwaysOpen) {
  const WindowState state = WindowsAt({}, "Europe/Atlantis", At("2026-01-02T03:04:05Z"));
  EXPECT_TRUE(state.open);
  EXPECT_FALSE(state.opens);
  EXPECT_EQ(state.fault, "");
}

TEST(WindowsTest, WindowIncludesItsStartAndExcludesItsEnd) {
  const std::vector<UpdateWindow> windows = {Window(9, 30, hours(2))};
  EXPECT_EQ(NextOpening(windows, "2026-01-02T00:00:00Z"), "2026-01-02T09:30:00Z (Fri 09:30 UTC)");
  EXPECT_FALSE(IsOpen(windows, "2026-01-02T09:29:59Z"));
  EXPECT_TRUE(IsOpen(windows, "2026-01-02T09:30:00Z"));
  EXPECT_TRUE(IsOpen(windows, "2026-01-02T11:29:59Z"));
  EXPECT_FALSE(IsOpen(windows, "2026-01-02T11:30:00Z"));
  EXPECT_EQ(NextOpening(windows, "2026-01-02T11:30:00Z"), "2026-01-03T09:30:00Z (Sat 09:30 UTC)");
  const WallTime end = At("2026-01-02T11:30:00Z");
  EXPECT_TRUE(WindowsAt(windows, "", end - WallTime::duration(1)).open) << "the smallest time before the end";
  const WallTime begin = At("2026-01-02T09:30:00Z");
  EXPECT_EQ(WindowsAt(windows, "", begin - WallTime::duration(1)).opens, begin) << "a time with a fraction of a second";
}

TEST(WindowsTest, ShortestWindowIsOpenForAMinute) {
  const std::vector<UpdateWindow> windows = {Window(23, 59, minutes(1))};
  EXPECT_FALSE(IsOpen(windows, "2026-01-02T23:58:59Z"));
  EXPECT_TRUE(IsOpen(windows, "2026-01-02T23:59:00Z"));
  EXPECT_TRUE(IsOpen(windows, "2026-01-02T23:59:59Z"));
  EXPECT_EQ(NextOpening(windows, "2026-01-03T00:00:00Z"), "2026-01-03T23:59:00Z (Sat 23:59 UTC)");
}

TEST(WindowsTest, LongestWindowOnEveryDayIsAlwaysOpen) {
  for (const char* zone : {"UTC", "Asia/Kathmandu"}) {
    const std::vector<UpdateWindow> windows = {Window(17, 0, hours(24), zone)};
    const WallTime begin = At("2026-01-02T03:04:05Z");
    for (int minute = 0; minute < 2 * 24 * 60; ++minute)
      ASSERT_TRUE(WindowsAt(windows, "", begin + minutes(minute)).open) << zone << " " << minute;
  }
}

TEST(WindowsTest, WindowMayCrossMidnightAndTheEndOfTheWeek) {
  const std::vector<UpdateWindow> windows = {Window(22, 0, hours(4), "", kSat)};
  EXPECT_FALSE(IsOpen(windows, "2026-01-03T21:59:59Z"));
  EXPECT_TRUE(IsOpen(windows, "2026-01-03T22:00:00Z"));
  EXPECT_TRUE(IsOpen(windows, "2026-01-04T01:59:59Z")) << "Sunday, the first day of the week";
  EXPECT_FALSE(IsOpen(windows, "2026-01-04T02:00:00Z"));
  EXPECT_FALSE(IsOpen(windows, "2026-01-04T23:00:00Z")) << "the window opens on Saturday only";
  EXPECT_EQ(NextOpening(windows, "2026-01-04T02:00:00Z"), "2026-01-10T22:00:00Z (Sat 22:00 UTC)");
}

TEST(WindowsTest, DaysAreThoseOfTheTimeZone) {
  // Monday in Kathmandu begins on Sunday at 18:15 UTC.
  const std::vector<UpdateWindow> windows = {Window(0, 0, hours(1), "Asia/Kathmandu", kMon)};
  EXPECT_EQ(NextOpening(windows, "2026-01-04T18:14:59Z"), "2026-01-04T18:15:00Z (Mon 00:00 Asia/Kathmandu)");
  EXPECT_TRUE(IsOpen(windows, "2026-01-04T18:15:00Z"));
  EXPECT_TRUE(IsOpen(windows, "2026-01-04T19:14:59Z"));
  EXPECT_EQ(NextOpening(windows, "2026-01-04T19:15:00Z"), "2026-01-11T18:15:00Z (Mon 00:00 Asia/Kathmandu)");
}

TEST(WindowsTest, WindowOfEachDayOpensOnThatDay) {
  const char* const names[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  for (int day = 0; day < 7; ++day) {
    const std::vector<UpdateWindow> windows = {Window(12, 0, hours(1), "", 1U << day)};
    const WindowState state = WindowsAt(windows, "", At("2026-01-04T00:00:00Z"));  // a Sunday
    EXPECT_EQ(state.opens, At("2026-01-04T12:00:00Z") + hours(24 * day));
    EXPECT_EQ(state.opens_locally, std::string(names[day]) + " 12:00 UTC");
    const WallTime old = At("1969-12-28T00:00:00Z");  // a Sunday before the epoch
    EXPECT_EQ(WindowsAt(windows, "", old).opens, old + hours(24 * day + 12));
  }
}

TEST(WindowsTest, OneOpenWindowOfSeveralSufficesAndTheEarliestOpeningIsReported) {
  const std::vector<UpdateWindow> windows = {Window(20, 0, hours(2), "", kWed), Window(6, 0, hours(1), "", kFri),
                                             Window(21, 0, hours(3), "", kWed)};
  EXPECT_EQ(NextOpening(windows, "2026-01-06T00:00:00Z"), "2026-01-07T20:00:00Z (Wed 20:00 UTC)");
  EXPECT_TRUE(IsOpen(windows, "2026-01-07T20:30:00Z"));
  EXPECT_TRUE(IsOpen(windows, "2026-01-07T22:30:00Z")) << "the windows overlap";
  EXPECT_EQ(NextOpening(windows, "2026-01-08T00:00:00Z"), "2026-01-09T06:00:00Z (Fri 06:00 UTC)");
}

TEST(WindowsTest, WindowsOfDifferentZonesAreComparedByTheirInstants) {
  const std::vector<UpdateWindow> windows = {Window(22, 0, hours(1), "America/Santiago"),
                                             Window(22, 0, hours(1), "Australia/Sydney")};
  EXPECT_EQ(NextOpening(windows, "2026-01-02T00:00:00Z"), "2026-01-02T01:00:00Z (Thu 22:00 America/Santiago)");
  EXPECT_EQ(NextOpening(windows, "2026-01-02T02:00:00Z"), "2026-01-02T11:00:00Z (Fri 22:00 Australia/Sydney)");
}

TEST(WindowsTest, ZoneOfTheWindowOverridesThatOfThePoolAndUtcIsTheDefault) {
  const std::vector<UpdateWindow> own = {Window(22, 0, hours(1), "Asia/Kathmandu")}, none = {Window(22, 0, hours(1))};
  const char* const time = "2026-07-01T00:00:00Z";
  EXPECT_EQ(NextOpening(none, time), "2026-07-01T22:00:00Z (Wed 22:00 UTC)");
  EXPECT_EQ(NextOpening(none, time, "Europe/Lisbon"), "2026-07-01T21:00:00Z (Wed 22:00 Europe/Lisbon)");
  EXPECT_EQ(NextOpening(own, time, "Europe/Lisbon"), "2026-07-01T16:15:00Z (Wed 22:00 Asia/Kathmandu)");
}

// Times that the clocks skip:
// - Lisbon: 01:00 to 02:00 on 2026-03-29, at 01:00 UTC
// - Sydney: 02:00 to 03:00 on 2026-10-04
// - Santiago: 00:00 to 01:00 on 2026-09-06
TEST(WindowsTest, SkippedStartTimeIsTheNextExistingInstant) {
  const std::vector<UpdateWindow> lisbon = {Window(1, 30, hours(2), "Europe/Lisbon", kSun)};
  EXPECT_EQ(NextOpening(lisbon, "2026-03-29T00:59:59Z"), "2026-03-29T01:00:00Z (Sun 02:00 Europe/Lisbon)");
  EXPECT_TRUE(IsOpen(lisbon, "2026-03-29T01:00:00Z"));
  EXPECT_TRUE(IsOpen(lisbon, "2026-03-29T02:59:59Z"));
  EXPECT_FALSE(IsOpen(lisbon, "2026-03-29T03:00:00Z")) << "two hours have elapsed";
  const std::vector<UpdateWindow> sydney = {Window(2, 15, hours(1), "Australia/Sydney")};
  EXPECT_EQ(NextOpening(sydney, "2026-10-03T15:59:59Z"), "2026-10-03T16:00:00Z (Sun 03:00 Australia/Sydney)");
  EXPECT_TRUE(IsOpen(sydney, "2026-10-03T16:59:59Z"));
  EXPECT_EQ(NextOpening(sydney, "2026-10-03T17:00:00Z"), "2026-10-04T15:15:00Z (Mon 02:15 Australia/Sydney)");
  const std::vector<UpdateWindow> santiago = {Window(0, 0, hours(1), "America/Santiago")};
  EXPECT_EQ(NextOpening(santiago, "2026-09-06T03:59:59Z"), "2026-09-06T04:00:00Z (Sun 01:00 America/Santiago)");
  EXPECT_EQ(NextOpening(santiago, "2026-09-06T05:00:00Z"), "2026-09-07T03:00:00Z (Mon 00:00 America/Santiago)");
}

// Times that the clocks show twice:
// - Lisbon: 01:00 to 02:00 on 2026-10-25, until 01:00 UTC and after it
// - Sydney: 02:00 to 03:00 on 2026-04-05
// - Santiago: 23:00 to 24:00 on 2026-04-04
TEST(WindowsTest, StartTimeThatOccursTwiceIsTheFirstOccurrence) {
  const std::vector<UpdateWindow> lisbon = {Window(1, 30, minutes(20), "Europe/Lisbon")};
  EXPECT_EQ(NextOpening(lisbon, "2026-10-25T00:00:00Z"), "2026-10-25T00:30:00Z (Sun 01:30 Europe/Lisbon)");
  EXPECT_TRUE(IsOpen(lisbon, "2026-10-25T00:49:59Z"));
  EXPECT_EQ(NextOpening(lisbon, "2026-10-25T00:50:00Z"), "2026-10-26T01:30:00Z (Mon 01:30 Europe/Lisbon)");
  EXPECT_FALSE(IsOpen(lisbon, "2026-10-25T01:30:00Z")) << "the clock shows this time for the second time";
  const std::vector<UpdateWindow> sydney = {Window(2, 30, minutes(20), "Australia/Sydney")};
  EXPECT_EQ(NextOpening(sydney, "2026-04-04T15:00:00Z"), "2026-04-04T15:30:00Z (Sun 02:30 Australia/Sydney)");
  EXPECT_FALSE(IsOpen(sydney, "2026-04-04T16:30:00Z")) << "the clock shows this time for the second time";
  const std::vector<UpdateWindow> santiago = {Window(23, 30, minutes(20), "America/Santiago", kSat)};
  EXPECT_EQ(NextOpening(santiago, "2026-04-05T02:00:00Z"), "2026-04-05T02:30:00Z (Sat 23:30 America/Santiago)");
  EXPECT_EQ(NextOpening(santiago, "2026-04-05T03:30:00Z"), "2026-04-12T03:30:00Z (Sat 23:30 America/Santiago)");
}

TEST(WindowsTest, DurationIsElapsedTimeWhenTheClockChanges) {
  const std::vector<UpdateWindow> windows = {Window(22, 0, hours(6), "Europe/Lisbon", kSat)};
  // From 22:00 to 05:00 by the wall clock, in spring.
  EXPECT_TRUE(IsOpen(windows, "2026-03-28T22:00:00Z"));
  EXPECT_TRUE(IsOpen(windows, "2026-03-29T03:59:59Z"));
  EXPECT_FALSE(IsOpen(windows, "2026-03-29T04:00:00Z"));
  // From 22:00 to 03:00 by the wall clock, in autumn.
  EXPECT_TRUE(IsOpen(windows, "2026-10-24T21:00:00Z"));
  EXPECT_TRUE(IsOpen(windows, "2026-10-25T02:59:59Z"));
  EXPECT_FALSE(IsOpen(windows, "2026-10-25T03:00:00Z"));
}

TEST(WindowsTest, DailyWindowOf24HoursIsClosedForAnHourWhenTheClockIsSetBack) {
  const std::vector<UpdateWindow> windows = {Window(12, 0, hours(24), "Europe/Lisbon")};
  EXPECT_TRUE(IsOpen(windows, "2026-10-25T10:59:59Z"));
  EXPECT_EQ(NextOpening(windows, "2026-10-25T11:00:00Z"), "2026-10-25T12:00:00Z (Sun 12:00 Europe/Lisbon)");
  EXPECT_TRUE(IsOpen(windows, "2026-03-29T10:59:59Z")) << "two windows overlap in spring";
  EXPECT_TRUE(IsOpen(windows, "2026-03-29T11:00:00Z"));
}

// The clock of Apia went from the end of Thursday, 2011-12-29, to Saturday 00:00 at 2011-12-30T10:00:00Z.
TEST(WindowsTest, WindowOnASkippedDayOpensAtTheClockChange) {
  const std::vector<UpdateWindow> friday = {Window(20, 0, hours(3), "Pacific/Apia", kFri)};
  EXPECT_EQ(NextOpening(friday, "2011-12-29T00:00:00Z"), "2011-12-30T10:00:00Z (Sat 00:00 Pacific/Apia)");
  EXPECT_TRUE(IsOpen(friday, "2011-12-30T12:59:59Z"));
  EXPECT_EQ(NextOpening(friday, "2011-12-30T13:00:00Z"), "2012-01-06T06:00:00Z (Fri 20:00 Pacific/Apia)");
}

TEST(WindowsTest, WindowBeforeASkippedDayStaysOpenForItsDuration) {
  const std::vector<UpdateWindow> thursday = {Window(23, 0, hours(24), "Pacific/Apia", 16)};
  EXPECT_EQ(NextOpening(thursday, "2011-12-30T08:59:59Z"), "2011-12-30T09:00:00Z (Thu 23:00 Pacific/Apia)");
  EXPECT_TRUE(IsOpen(thursday, "2011-12-30T09:00:00Z"));
  EXPECT_TRUE(IsOpen(thursday, "2011-12-31T08:59:59Z")) << "the local time is Saturday 22:59, two dates later";
  EXPECT_FALSE(IsOpen(thursday, "2011-12-31T09:00:00Z"));
}

TEST(WindowsTest, WindowOfAnUnknownZoneIsClosedAndTheErrorNamesTheZone) {
  const std::vector<UpdateWindow> windows = {Window(0, 0, hours(24), "Europe/Atlantis")};
  const WindowState state = WindowsAt(windows, "", At("2026-01-02T03:04:05Z"));
  EXPECT_FALSE(state.open);
  EXPECT_FALSE(state.opens);
  EXPECT_EQ(state.fault, "time zone Europe/Atlantis: is not a time zone of the IANA database, such as Europe/Lisbon");
  const std::vector<UpdateWindow> poolwide = {Window(0, 0, hours(24))};
  EXPECT_FALSE(WindowsAt(poolwide, "Mars/Base", At("2026-01-02T03:04:05Z")).open);
}

TEST(WindowsTest, UnknownZoneOfOneWindowDoesNotCloseTheOthers) {
  const std::vector<UpdateWindow> windows = {Window(0, 0, hours(24), "Europe/Atlantis"), Window(9, 0, hours(1))};
  EXPECT_TRUE(IsOpen(windows, "2026-01-02T09:00:00Z"));
  const WindowState state = WindowsAt(windows, "", At("2026-01-02T10:00:00Z"));
  EXPECT_EQ(state.opens, At("2026-01-03T09:00:00Z"));
  EXPECT_FALSE(state.fault.empty());
}

// A sleep until the reported opening must find an open window, and must not miss an earlier opening.
TEST(WindowsTest, ReportedOpeningIsTheFirstOpenInstant) {
  const std::vector<UpdateWindow> windows = {Window(1, 30, minutes(45), "Europe/Lisbon", kSun | kWed),
                                             Window(2, 30, minutes(10), "Australia/Sydney"),
                                             Window(23, 45, minutes(30), "America/Santiago", kSat)};
  const std::pair<const char*, const char*> spans[] = {{"2026-03-27T00:00:00Z", "2026-04-07T00:00:00Z"},
                                                       {"2026-09-04T00:00:00Z", "2026-09-08T00:00:00Z"},
                                                       {"2026-10-02T00:00:00Z", "2026-10-27T00:00:00Z"}};
  for (const auto& [from, to] : spans) {
    std::optional<WallTime> expected;
    for (WallTime now = At(from); now < At(to); now += minutes(5)) {
      const WindowState state = WindowsAt(windows, "", now);
      if (expected) {
        ASSERT_EQ(state.open, now >= *expected) << FormatTime(now);
      }
      ASSERT_NE(state.open, state.opens.has_value()) << FormatTime(now);
      if (expected && state.opens) {
        ASSERT_EQ(state.opens, expected) << FormatTime(now);
      }
      expected = state.opens;
      if (state.opens) {
        ASSERT_GT(*state.opens, now) << FormatTime(now);
        ASSERT_TRUE(WindowsAt(windows, "", *state.opens).open) << FormatTime(now);
      }
    }
  }
}

}  // namespace
}  // namespace yad
