#include "operator/base/time_zone.h"

#include <date/tz.h>

#include <exception>

namespace yad {
namespace {

using Seconds = std::chrono::seconds;

constexpr char kUnknownZone[] = "is not a time zone of the IANA database, such as Europe/Lisbon";

date::local_seconds Local(std::chrono::days date, std::chrono::minutes time_of_day) {
  return date::local_seconds(Seconds(date) + Seconds(time_of_day));
}

}  // namespace

Result<TimeZone> TimeZone::Find(const std::string& name) {
  if (name == "UTC") return TimeZone(nullptr);
  // These files of the database are not zones: they are tables, or depend on the settings of the machine.
  if (name == "localtime" || name == "posixrules" || name.find('.') != std::string::npos)
    return Fail(Reason::kInvalid, kUnknownZone);
  const date::tzdb* database = nullptr;
  try {
    database = &date::get_tzdb();
    if (database->zones.empty()) return Fail(Reason::kInternalError, "the system has no time zone database (tzdata)");
  } catch (const std::exception& exception) {
    return Fail(Reason::kInternalError,
                std::string("the time zone database (tzdata) can't be read: ") + exception.what());
  }
  try {
    const date::time_zone* zone = date::locate_zone(name);
    (void)zone->get_info(date::sys_seconds());  // reads the zone's file
    return TimeZone(zone);
  } catch (const std::exception&) {
    return Fail(Reason::kInvalid, kUnknownZone);
  }
}

std::chrono::days TimeZone::DateOf(WallTime time) const {
  const auto seconds = std::chrono::floor<Seconds>(time);
  const Seconds local = zone_ == nullptr ? seconds.time_since_epoch() : zone_->to_local(seconds).time_since_epoch();
  return std::chrono::floor<std::chrono::days>(local);
}

WallTime TimeZone::InstantOf(std::chrono::days date, std::chrono::minutes time_of_day) const {
  const date::local_seconds local = Local(date, time_of_day);
  if (zone_ == nullptr) return WallTime(local.time_since_epoch());
  const date::local_info info = zone_->get_info(local);
  // In a gap, `first` ends at the instant of the change.
  if (info.result == date::local_info::nonexistent) return WallTime(info.first.end.time_since_epoch());
  return WallTime(local.time_since_epoch() - info.first.offset);
}

std::string TimeZone::Show(WallTime time) const {
  const auto seconds = std::chrono::floor<Seconds>(time);
  const date::local_seconds local =
      zone_ == nullptr ? date::local_seconds(seconds.time_since_epoch()) : zone_->to_local(seconds);
  return date::format("%a %H:%M", local);
}

}  // namespace yad
