#include "operator/api/update_window.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "operator/api/well_known.h"
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

// Reads a number of at most `digits` digits from the front of `text`, and removes it there.
std::optional<int> TakeNumber(std::string_view& text, std::size_t digits) {
  int number = 0;
  const char* const end = text.data() + std::min(text.size(), digits);
  const auto [rest, fault] = std::from_chars(text.data(), end, number);
  if (fault != std::errc() || number < 0 || text.front() == '-') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return number;
}

// Parses "HH:MM".
std::optional<std::chrono::minutes> ParseStart(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  std::string_view hours = text.substr(0, 2), minutes = text.substr(3);
  const auto hour = TakeNumber(hours, 2), minute = TakeNumber(minutes, 2);
  if (!hour || !minute || !hours.empty() || !minutes.empty() || *hour > 23 || *minute > 59) return std::nullopt;
  return std::chrono::minutes(60 * *hour + *minute);
}

// Parses a duration in Go's format with hours, minutes and seconds: "4h", "1h30m", "90m", "120s".
std::optional<std::chrono::seconds> ParseWindowDuration(std::string_view text) {
  std::chrono::seconds sum{0};
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const auto number = TakeNumber(text, 6);
    if (!number || text.empty()) return std::nullopt;
    switch (text.front()) {
      case 'h':
        sum += std::chrono::hours(*number);
        break;
      case 'm':
        sum += std::chrono::minutes(*number);
        break;
      case 's':
        sum += std::chrono::seconds(*number);
        break;
      default:
        return std::nullopt;
    }
    text.remove_prefix(1);
  }
  return sum;
}

std::string CheckTimeZone(const std::string& name) {
  const auto zone = TimeZone::Find(name);
  return zone || zone.error().reason != Reason::kInvalid ? "" : zone.error().message;
}

void CheckDays(const JsonField& days, FieldErrors& errors) {
  const Json* list = AsArray(days, errors);
  if (list == nullptr) return;
  if (list->empty()) {
    errors.Add(FieldError::Invalid(days.path, *list, "the window never opens: name a day, or omit `days` for all"));
  }
  for (std::size_t i = 0; i < list->size() && !errors.full(); ++i) {
    const JsonField day = days.Element(i);
    const std::string* text = AsRequiredText(day, errors);
    if (text != nullptr && !DayOf(*text)) {
      errors.Add(FieldError::NotSupported(day.path, *day.value, {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}));
    }
  }
}

void CheckWindow(const JsonField& window, FieldErrors& errors) {
  CheckDays(window.Child("days"), errors);
  const JsonField start = window.Child("start");
  if (const std::string* text = AsRequiredText(start, errors); text != nullptr && !ParseStart(*text)) {
    errors.Add(FieldError::Invalid(start.path, *start.value, "must be a time of day from 00:00 to 23:59"));
  }
  const JsonField duration = window.Child("duration");
  if (const std::string* text = AsRequiredText(duration, errors); text != nullptr) {
    const auto parsed = ParseWindowDuration(*text);
    if (!parsed || *parsed < kShortest || *parsed > kLongest) {
      errors.Add(FieldError::Invalid(duration.path, *duration.value,
                                     "must be a duration from 1m to 24h, such as 4h or 1h30m"));
    }
  }
  const JsonField zone = window.Child("timeZone");
  if (!zone.present()) return;
  if (const std::string* text = AsRequiredText(zone, errors); text != nullptr)
    errors.AddIfFault(zone.path, *zone.value, CheckTimeZone(*text));
}

// Adds an error for each member that is not a field of a window. The apiserver checks this in YurtAppDaemons, but not
// in annotations. With a misspelt field, such as "timezone", the window would open at the wrong time.
void CheckMembers(const JsonField& windows, FieldErrors& errors) {
  for (std::size_t i = 0; i < windows.value->size() && !errors.full(); ++i) {
    const JsonField window = windows.Element(i);
    if (!window.value->is_object()) continue;
    for (const auto& [key, member] : window.value->items()) {
      if (key == "days" || key == "start" || key == "duration" || key == "timeZone") continue;
      errors.Add(FieldError::Invalid(window.path, key, "is not a field: use days, start, duration and timeZone"));
    }
  }
}

}  // namespace

void ValidateUpdateWindows(const JsonField& windows, FieldErrors& errors) {
  ForEachObject(
      windows, errors, [&](const JsonField& window) { CheckWindow(window, errors); }, kMaxUpdateWindows);
}

std::vector<UpdateWindow> ParseUpdateWindows(const Json& windows) {
  std::vector<UpdateWindow> parsed;
  for (const Json& object : windows) {
    UpdateWindow window;
    if (const Json* days = Find(object, {"days"}); days != nullptr && days->is_array()) {
      window.days = 0;
      for (const Json& day : *days) {
        if (const auto index = DayOf(day.get_ref<const std::string&>())) window.days |= 1U << *index;
      }
    }
    window.start = ParseStart(StringAt(object, {"start"})).value_or(window.start);
    window.duration = ParseWindowDuration(StringAt(object, {"duration"})).value_or(window.duration);
    window.time_zone = StringAt(object, {"timeZone"});
    parsed.push_back(std::move(window));
  }
  return parsed;
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
  ValidateUpdateWindows({&list, "windows"}, errors);
  if (!errors.empty()) {
    invalid(kUpdateWindowsAnnotation, errors.front().ToString());
    return parsed;
  }
  parsed.windows = ParseUpdateWindows(list);
  return parsed;
}

}  // namespace yad
