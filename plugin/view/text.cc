#include "plugin/view/text.h"

#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace yad {
namespace {

// If a colour sequence begins at `at`, returns its end; otherwise returns `at`.
std::size_t AfterColour(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) != "\x1b[") return at;
  const std::size_t end = text.find('m', at);
  return end == std::string_view::npos ? at : end + 1;
}

struct Character {
  std::size_t bytes = 0;
  std::size_t columns = 0;  // 2: East Asian wide, emoji; 0: combining marks and colours
};

// Measures the character that begins at `at`. A byte that is not UTF-8 takes one column, in which terminals show a
// replacement character.
Character CharacterAt(std::string_view text, std::size_t at) {
  if (const std::size_t after = AfterColour(text, at); after != at) return {after - at, 0};
  utf8proc_int32_t code_point = 0;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
  const auto size = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &code_point);
  if (size <= 0) return {1, 1};
  return {static_cast<std::size_t>(size), static_cast<std::size_t>(std::max(utf8proc_charwidth(code_point), 0))};
}

}  // namespace

std::size_t Width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = CharacterAt(text, at);
    width += character.columns;
    at += character.bytes;
  }
  return width;
}

std::size_t Rows(std::string_view text, std::size_t width) {
  std::size_t rows = 1;
  std::size_t column = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = CharacterAt(text, at);
    if (column > 0 && column + character.columns > width) {
      ++rows;
      column = 0;
    }
    column += character.columns;
    at += character.bytes;
  }
  return rows;
}

std::string Fit(const std::string& text, std::size_t width, bool unicode) {
  if (Width(text) <= width) return text;
  if (width == 0) return "";
  std::size_t end = 0;
  for (std::size_t columns = 0; end < text.size();) {
    const Character character = CharacterAt(text, end);
    if (columns + character.columns > width - 1) break;
    columns += character.columns;
    end += character.bytes;
  }
  return text.substr(0, end) + (unicode ? "…" : "~");
}

// Formats the duration as k8s.io/apimachinery/pkg/util/duration.HumanDuration does. Longer durations are less precise.
std::string HumanDuration(Duration duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  if (seconds < 0) return "0s";
  const auto with = [](long long value, const char* unit, long long rest, const char* rest_unit) {
    return std::to_string(value) + unit + (rest == 0 ? "" : std::to_string(rest) + rest_unit);
  };
  if (seconds < 120) return std::to_string(seconds) + "s";
  const long long minutes = seconds / 60;
  if (minutes < 10) return with(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return std::to_string(minutes) + "m";
  const long long hours = minutes / 60;
  if (hours < 8) return with(hours, "h", minutes % 60, "m");
  if (hours < 48) return std::to_string(hours) + "h";
  const long long days = hours / 24;
  if (hours < 192) return with(days, "d", hours % 24, "h");
  if (days < 730) return std::to_string(days) + "d";
  if (days < 2920) return with(days / 365, "y", days % 365, "d");
  return std::to_string(days / 365) + "y";
}

std::string Age(WallTime since, WallTime now) { return since == WallTime() ? "<unknown>" : HumanDuration(now - since); }

std::string Age(const std::string& since, WallTime now) { return Age(ParseTime(since), now); }

std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  constexpr double kLongest = 1e12;  // milliseconds
  double sum = 0;
  const bool bare = text.find_first_not_of("0123456789") == std::string_view::npos;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc() || number < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    double scale = bare ? 1e3 : 0;
    for (const auto& [unit, milliseconds] : {std::pair{"ms", 1.0}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3}}) {
      if (scale != 0 || !text.starts_with(unit)) continue;
      scale = milliseconds;
      text.remove_prefix(std::string_view(unit).size());
    }
    if (scale == 0) return std::nullopt;
    sum += number * scale;
    if (sum > kLongest) return std::nullopt;
  }
  return std::chrono::milliseconds(std::llround(sum));
}

}  // namespace yad
