#include "operator/base/time_zone.h"

#include <gtest/gtest.h>

#include <string>

namespace yad {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;

days Date(int year, unsigned month, unsigned day) {
  return std::chrono::sys_days(std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day))
      .time_since_epoch();
}

minutes Clock(int hour, int minute) { return hours(hour) + minutes(minute); }

WallTime Utc(days date, int hour, int minute) { return WallTime(date + Clock(hour, minute)); }

TimeZone Zone(const std::string& name) {
  const auto zone = TimeZone::Find(name);
  if (!zone) ADD_FAILURE() << name << ": " << zone.error().message;
  return zone ? *zone : *TimeZone::Find("UTC");
}

TEST(TimeZoneTest, UtcHasNoOffset) {
  const TimeZone utc = Zone("UTC");
  const days date = Date(2026, 3, 29);
  EXPECT_EQ(utc.InstantOf(date, Clock(1, 30)), Utc(date, 1, 30));
  EXPECT_EQ(utc.DateOf(Utc(date, 23, 59) + std::chrono::seconds(59)), date);
  EXPECT_EQ(utc.DateOf(Utc(date, 24, 0)), date + days(1));
  EXPECT_EQ(utc.Show(Utc(date, 9, 5)), "Sun 09:05");
  EXPECT_EQ(utc.DateOf(WallTime() - std::chrono::milliseconds(1)), days(-1)) << "times before 1970 are rounded down";
}

TEST(TimeZoneTest, NameThatIsNotInTheDatabaseIsInvalid) {
  const std::string junk("a\0b", 3);
  for (const std::string& name :
       {std::string(), std::string("Europe"), std::string("Europe/Atlantis"), std::string("europe/lisbon"),
        std::string("../../etc/passwd"), std::string("/"), std::string("."), std::string("UTC+1"),
        std::string("localtime"), std::string("posixrules"), std::string("Europe/Lisbon "), junk,
        std::string(100'000, 'x')}) {
    const auto zone = TimeZone::Find(name);
    ASSERT_FALSE(zone) << name.substr(0, 64);
    EXPECT_EQ(zone.error().reason, Reason::kInvalid) << name.substr(0, 64);
    EXPECT_EQ(zone.error().message, "is not a time zone of the IANA database, such as Europe/Lisbon");
  }
}

TEST(TimeZoneTest, LinksOfTheDatabaseAreFound) {
  for (const char* name : {"Europe/Lisbon", "Portugal", "Asia/Kathmandu", "Asia/Katmandu", "Etc/UTC"})
    EXPECT_TRUE(TimeZone::Find(name)) << name;
}

TEST(TimeZoneTest, OffsetsNeedNotBeWholeHours) {
  const TimeZone kathmandu = Zone("Asia/Kathmandu");  // UTC+05:45
  const days date = Date(2026, 7, 1);
  EXPECT_EQ(kathmandu.InstantOf(date, Clock(0, 0)), Utc(date - days(1), 18, 15));
  EXPECT_EQ(kathmandu.DateOf(Utc(date, 18, 14)), date);
  EXPECT_EQ(kathmandu.DateOf(Utc(date, 18, 15)), date + days(1));
  EXPECT_EQ(kathmandu.Show(Utc(date, 18, 15)), "Thu 00:00");
}

// A clock change of a zone, and a local time that the clock skips or shows twice.
struct ClockChange {
  const char* zone;
  days date;
  minutes time_of_day;
  WallTime instant;  // expected for `time_of_day`
  const char* shown;
};

TEST(TimeZoneTest, SkippedLocalTimeBecomesTheInstantOfTheClockChange) {
  const days lisbon = Date(2026, 3, 29), sydney = Date(2026, 10, 4), santiago = Date(2026, 9, 6);
  for (const ClockChange& one : {
           ClockChange{"Europe/Lisbon", lisbon, Clock(0, 59), Utc(lisbon, 0, 59), "Sun 00:59"},
           ClockChange{"Europe/Lisbon", lisbon, Clock(1, 0), Utc(lisbon, 1, 0), "Sun 02:00"},
           ClockChange{"Europe/Lisbon", lisbon, Clock(1, 30), Utc(lisbon, 1, 0), "Sun 02:00"},
           ClockChange{"Europe/Lisbon", lisbon, Clock(1, 59), Utc(lisbon, 1, 0), "Sun 02:00"},
           ClockChange{"Europe/Lisbon", lisbon, Clock(2, 0), Utc(lisbon, 1, 0), "Sun 02:00"},
           ClockChange{"Europe/Lisbon", lisbon, Clock(2, 1), Utc(lisbon, 1, 1), "Sun 02:01"},
           ClockChange{"Australia/Sydney", sydney, Clock(1, 59), Utc(sydney - days(1), 15, 59), "Sun 01:59"},
           ClockChange{"Australia/Sydney", sydney, Clock(2, 30), Utc(sydney - days(1), 16, 0), "Sun 03:00"},
           ClockChange{"Australia/Sydney", sydney, Clock(3, 1), Utc(sydney - days(1), 16, 1), "Sun 03:01"},
           ClockChange{"America/Santiago", santiago, Clock(0, 0), Utc(santiago, 4, 0), "Sun 01:00"},
       }) {
    const TimeZone zone = Zone(one.zone);
    EXPECT_EQ(zone.InstantOf(one.date, one.time_of_day), one.instant) << one.zone << one.time_of_day.count();
    EXPECT_EQ(zone.Show(one.instant), one.shown) << one.zone << one.time_of_day.count();
    EXPECT_EQ(zone.DateOf(one.instant), one.date) << one.zone << one.time_of_day.count();
  }
}

TEST(TimeZoneTest, RepeatedLocalTimeBecomesItsFirstOccurrence) {
  const days lisbon = Date(2026, 10, 25), sydney = Date(2026, 4, 5), santiago = Date(2026, 4, 4);
  for (const ClockChange& one : {
           ClockChange{"Europe/Lisbon", lisbon, Clock(0, 59), Utc(lisbon - days(1), 23, 59), "Sun 00:59"},
           ClockChange{"Europe/Lisbon", lisbon, Clock(1, 0), Utc(lisbon, 0, 0), "Sun 01:00"},
           ClockChange{"Europe/Lisbon", lisbon, Clock(1, 30), Utc(lisbon, 0, 30), "Sun 01:30"},
           ClockChange{"Europe/Lisbon", lisbon, Clock(1, 59), Utc(lisbon, 0, 59), "Sun 01:59"},
           ClockChange{"Europe/Lisbon", lisbon, Clock(2, 0), Utc(lisbon, 2, 0), "Sun 02:00"},
           ClockChange{"Australia/Sydney", sydney, Clock(2, 30), Utc(sydney - days(1), 15, 30), "Sun 02:30"},
           ClockChange{"Australia/Sydney", sydney, Clock(3, 0), Utc(sydney - days(1), 17, 0), "Sun 03:00"},
           ClockChange{"America/Santiago", santiago, Clock(23, 30), Utc(santiago + days(1), 2, 30), "Sat 23:30"},
       }) {
    const TimeZone zone = Zone(one.zone);
    EXPECT_EQ(zone.InstantOf(one.date, one.time_of_day), one.instant) << one.zone << one.time_of_day.count();
    EXPECT_EQ(zone.Show(one.instant), one.shown) << one.zone << one.time_of_day.count();
  }
  EXPECT_EQ(Zone("Europe/Lisbon").Show(Utc(lisbon, 1, 30)), "Sun 01:30") << "the clock shows 01:30 for the second time";
  EXPECT_EQ(Zone("America/Santiago").DateOf(Utc(santiago + days(1), 3, 30)), santiago)
      << "the clock shows 23:30 for the second time";
}

// Samoa moved across the date line and skipped 2011-12-30.
TEST(TimeZoneTest, EveryTimeOfASkippedDayBecomesTheInstantOfTheClockChange) {
  const TimeZone apia = Zone("Pacific/Apia");
  const days skipped = Date(2011, 12, 30);
  const WallTime change = Utc(skipped, 10, 0);
  for (const minutes time : {Clock(0, 0), Clock(12, 0), Clock(23, 59)})
    EXPECT_EQ(apia.InstantOf(skipped, time), change) << time.count();
  EXPECT_EQ(apia.InstantOf(skipped + days(1), Clock(0, 0)), change);
  EXPECT_EQ(apia.InstantOf(skipped - days(1), Clock(23, 59)), change - minutes(1));
  EXPECT_EQ(apia.DateOf(change - std::chrono::seconds(1)), skipped - days(1));
  EXPECT_EQ(apia.DateOf(change), skipped + days(1));
  EXPECT_EQ(apia.Show(change - minutes(1)), "Thu 23:59");
  EXPECT_EQ(apia.Show(change), "Sat 00:00");
}

TEST(TimeZoneTest, InstantsOfEveryHourOfAYearKeepTheirDateAndOrder) {
  for (const char* name : {"UTC", "Europe/Lisbon", "Australia/Lord_Howe", "America/Santiago", "Asia/Kathmandu"}) {
    const TimeZone zone = Zone(name);
    WallTime last = WallTime::min();
    for (days date = Date(2026, 1, 1); date < Date(2027, 1, 1); date += days(1)) {
      for (int hour = 0; hour < 24; ++hour) {
        const WallTime instant = zone.InstantOf(date, Clock(hour, 0));
        EXPECT_EQ(zone.DateOf(instant), date) << name << " " << date.count() << " " << hour;
        EXPECT_GE(instant, last) << name << " " << date.count() << " " << hour << ": later times are not earlier";
        last = instant;
      }
    }
  }
}

}  // namespace
}  // namespace yad
