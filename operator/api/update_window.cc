#include "operator/api/update_window.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/base/number.h"
#include "operator/base/time_zone.h"

namespace yad {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::size_t kLongestZoneName = 64;  // the maximum length of a zone's name in messages
constexpr std::chrono::seconds kShortest = std::chrono::minutes(1);
constexpr std::chrono::seconds kLongest = std::chrono::hours(24);

// Returns the index of the day in kDays, or nullopt if it is not a day.
std::optional<std::size_t> DayOf(std::string_view text) {
  const auto day = std::find(kDays.begin(), kDays.end(), text);
  if (day == kDays.end()) return std::nullopt;
  return static_cast<std::size_t>(day - kDays.begin());
}

// Parses "HH:MM".
std::optional<std::chrono::minutes> ParseStart(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  const auto hour = ParseNumber<unsigned>(text.substr(0, 2)), minute = ParseNumber<unsigned>(text.substr(3));
  if (!hour || !minute || *hour > 23 || *minute > 59) return std::nullopt;
  return std::chrono::minutes(60 * *hour + *minute);
}

// Parses a duration in Go's format with hours, minutes and seconds: "4h", "1h30m", "90m", "120s".
std::optional<std::chrono::seconds> ParseWindowDuration(std::string_view text) {
  constexpr std::size_t kMostDigits = 6;  // of one number
  std::chrono::seconds sum{0};
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const std::size_t unit = text.find_first_of("hms");
    const auto number = ParseNumber<unsigned>(text.substr(0, unit));
    if (unit == std::string_view::npos || unit > kMostDigits || !number) return std::nullopt;
    const std::chrono::seconds one(text[unit] == 'h' ? 3600 : text[unit] == 'm' ? 60 : 1);
    sum += *number * one;
    text.remove_prefix(unit + 1);
  }
  return sum;
}

std::string CheckTimeZone(const std::string& name) {
  const auto zone = TimeZone::Find(name);
  return zone || zone.error().reason != Reason::kInvalid ? "" : zone.error().message;
}

// Returns the days as UpdateWindow::days.
unsigned ReadDays(const JsonField& days, FieldErrors& errors) {
  const Json* list = AsArray(days, errors);
  if (list == nullptr) return UpdateWindow::kEveryDay;
  if (list->empty()) {
    errors.Add(FieldError::Invalid(days.path, *list, "the window never opens: name a day, or omit `days` for all"));
  }
  unsigned read = 0;
  ForEachElement(days, errors, [&](const JsonField& day) {
    const std::string* text = AsRequiredText(day, errors);
    if (text == nullptr) return;
    if (const auto index = DayOf(*text)) {
      read |= 1U << *index;
    } else {
      errors.Add(FieldError::NotSupported(day.path, *day.value, {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}));
    }
  });
  return read;
}

UpdateWindow ReadWindow(const JsonField& field, FieldErrors& errors) {
  UpdateWindow window;
  window.days = ReadDays(field.Child("days"), errors);
  const JsonField start = field.Child("start");
  if (const std::string* text = AsRequiredText(start, errors); text != nullptr) {
    const auto parsed = ParseStart(*text);
    if (!parsed) errors.Add(FieldError::Invalid(start.path, *text, "must be a time of day from 00:00 to 23:59"));
    window.start = parsed.value_or(window.start);
  }
  const JsonField duration = field.Child("duration");
  if (const std::string* text = AsRequiredText(duration, errors); text != nullptr) {
    window.duration = ParseWindowDuration(*text).value_or(window.duration);
    if (window.duration < kShortest || window.duration > kLongest) {
      errors.Add(FieldError::Invalid(duration.path, *text, "must be a duration from 1m to 24h, such as 4h or 1h30m"));
    }
  }
  const JsonField zone = field.Child("timeZone");
  if (!zone.present()) return window;
  if (const std::string* text = AsRequiredText(zone, errors); text != nullptr) {
    errors.AddIfFault(zone.path, *text, CheckTimeZone(*text));
    window.time_zone = *text;
  }
  return window;
}

// Adds an error for each member that is not a field of a window. The apiserver checks this in YurtAppDaemons, but not
// in annotations. With a misspelt field, such as "timezone", the window would open at the wrong time.
void CheckMembers(const JsonField& windows, FieldErrors& errors) {
  ForEachElement(windows, errors, [&](const JsonField& window) {
    if (!window.value->is_object()) return;
    for (const auto& [key, member] : window.value->items()) {
      if (key == "days" || key == "start" || key == "duration" || key == "timeZone") continue;
      errors.Add(FieldError::Invalid(window.path, key, "is not a field: use days, start, duration and timeZone"));
    }
  });
}

}  // namespace

std::vector<UpdateWindow> ReadUpdateWindows(const JsonField& windows, FieldErrors& errors) {
  std::vector<UpdateWindow> read;
  ForEachObject(
      windows, errors, [&](const JsonField& window) { read.push_back(ReadWindow(window, errors)); }, kMaxUpdateWindows);
  return read;
}

PoolWindows ParsePoolWindows(const StringMap& annotations) {
  PoolWindows parsed;
  const auto invalid = [&](const char* annotation, const std::string& fault) {
    if (parsed.fault.empty()) parsed.fault = std::string("annotation ") + annotation + ": " + fault;
  };
  if (const auto zone = annotations.find(kTimeZoneAnnotation); zone != annotations.end()) {
    if (const std::string fault = CheckTimeZone(zone->second); fault.empty()) {
      parsed.time_zone = zone->second;
    } else {
      const Json quoted = zone->second.substr(0, kLongestZoneName);
      invalid(kTimeZoneAnnotation, DumpJson(quoted) + " " + fault);
    }
  }
  const auto windows = annotations.find(kUpdateWindowsAnnotation);
  if (windows == annotations.end()) return parsed;
  if (windows->second.size() > kMaxWindowsText) {
    invalid(kUpdateWindowsAnnotation, "must be no more than " + std::to_string(kMaxWindowsText) + " bytes");
    return parsed;
  }
  const Json list = Json::parse(windows->second, nullptr, /*allow_exceptions=*/false);
  constexpr std::size_t kLevels = 4;  // list, window, `days`, day
  if (!list.is_array() || IsDeeperThan(list, kLevels)) {
    invalid(kUpdateWindowsAnnotation, R"(must be a list in JSON, such as [{"start": "22:00", "duration": "4h"}])");
    return parsed;
  }
  FieldErrors errors;
  CheckMembers({&list, "windows"}, errors);
  std::vector<UpdateWindow> read = ReadUpdateWindows({&list, "windows"}, errors);
  if (!errors.empty()) {
    invalid(kUpdateWindowsAnnotation, errors.front().ToString());
    return parsed;
  }
  parsed.windows = std::move(read);
  return parsed;
}

}  // namespace yad
