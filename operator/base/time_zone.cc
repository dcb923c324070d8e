#include "operator/base/time_zone.h"

#include <date/tz.h>

#include <exception>
#include <fstream>
#include <set>

#include "operator/base/synchronized.h"

namespace yad {
namespace {

using Seconds = std::chrono::seconds;

constexpr char kFolder[] = "/usr/share/zoneinfo/";  // where the library looks for the database
constexpr char kNoDatabase[] = "the system has no time zone database (tzdata)";
constexpr char kDamaged[] = "the file of this time zone in the system's database (tzdata) is damaged";
constexpr char kUnknownZone[] = "is not a time zone of the IANA database, such as Europe/Lisbon";

date::local_seconds Local(std::chrono::days date, std::chrono::minutes time_of_day) {
  return date::local_seconds(Seconds(date) + Seconds(time_of_day));
}

// Returns whether the zone's file is a time zone file. The library ends the process if it reads any other file.
bool HasHeader(const date::time_zone& zone) {
  std::ifstream file(kFolder + zone.name(), std::ios::binary);
  std::string header(4, '\0');
  return file.read(header.data(), static_cast<std::streamsize>(header.size())) && header == "TZif";
}

// Reads the zone's file, once per process, because the library keeps the data. Returns false if the file is not valid.
bool Read(const date::time_zone& zone) {
  static Synchronized<std::set<const date::time_zone*>>& read = *new Synchronized<std::set<const date::time_zone*>>;
  return read.With([&](auto& zones) {
    if (zones.contains(&zone)) return true;
    try {
      if (!HasHeader(zone)) return false;
      (void)zone.get_info(date::sys_seconds());
    } catch (const std::exception&) {
      return false;
    }
    zones.insert(&zone);
    return true;
  });
}

}  // namespace

Result<TimeZone> TimeZone::Find(const std::string& name) {
  if (name == "UTC") return TimeZone(nullptr);
  // Some files of the database are not zones. They are tables, or depend on the settings of the machine.
  if (name == "localtime" || name == "posixrules" || name.find('.') != std::string::npos)
    return Fail(Reason::kInvalid, kUnknownZone);
  try {
    if (date::get_tzdb().zones.empty()) return Fail(Reason::kInternalError, kNoDatabase);
  } catch (const std::exception&) {
    return Fail(Reason::kInternalError, kNoDatabase);
  }
  const date::time_zone* zone = nullptr;
  try {
    zone = date::locate_zone(name);
  } catch (const std::exception&) {
    return Fail(Reason::kInvalid, kUnknownZone);
  }
  if (!Read(*zone)) return Fail(Reason::kInternalError, kDamaged);
  return TimeZone(zone);
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
  // If local clocks skip this time, returns the time at which they are set forward.
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
