#include "operator/base/time_zone.h"

#include <date/tz.h>

#include <exception>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "operator/base/synchronized.h"

namespace yad {
namespace {

using Seconds = std::chrono::seconds;

constexpr char kFolder[] = "/usr/share/zoneinfo/";  // where the library looks for the database
constexpr char kNoDatabase[] = "the system has no time zone database (tzdata)";
constexpr char kDamaged[] = "the file of this time zone in the system's database (tzdata) is damaged";
constexpr char kIncomplete[] =
    "the file of this time zone in the system's database (tzdata) lacks later changes of the clock: install a database "
    "that was made with `zic -b fat`";
constexpr char kUnknownZone[] = "is not a time zone of the IANA database, such as Europe/Lisbon";

date::local_seconds Local(std::chrono::days date, std::chrono::minutes time_of_day) {
  return date::local_seconds(Seconds(date) + Seconds(time_of_day));
}

// Returns whether the zone's file lists all clock changes until 2037 (`zic -b fat`). A file of `zic -b slim` ends with
// a rule for the later changes. The library ignores this rule, so it would miss these changes.
bool HasAllChanges(const date::time_zone& zone, const std::string& content) {
  const std::size_t end = content.find_last_not_of('\n');
  const std::size_t line = end == std::string::npos ? end : content.rfind('\n', end);
  // The last line of the file is a rule for later years. If the clocks change in each year, the rule contains commas,
  // as in "WET0WEST,M3.5.0/1,M10.5.0".
  if (line == std::string::npos || content.find(',', line) == std::string::npos) return true;
  return zone.get_info(date::sys_days(date::year(2037) / 1 / 1)).end < date::sys_days(date::year(2038) / 1 / 1);
}

// Reads the zone's file into the library, which keeps the data. Returns an error message, or "".
std::string Read(const date::time_zone& zone) {
  static Synchronized<std::set<const date::time_zone*>>& read = *new Synchronized<std::set<const date::time_zone*>>;
  return read.With([&](auto& zones) -> std::string {
    if (zones.contains(&zone)) return "";
    try {
      std::ifstream file(kFolder + zone.name(), std::ios::binary);
      const std::string content{std::istreambuf_iterator<char>(file), {}};
      // If the file had another header, the library would terminate the process.
      if (!content.starts_with("TZif")) return kDamaged;
      (void)zone.get_info(date::sys_seconds());
      if (!HasAllChanges(zone, content)) return kIncomplete;
    } catch (const std::exception&) {
      return kDamaged;
    }
    zones.insert(&zone);
    return "";
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
  if (std::string fault = Read(*zone); !fault.empty()) return Fail(Reason::kInternalError, std::move(fault));
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
