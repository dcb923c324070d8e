// Texts as terminals and people count them.
#ifndef PLUGIN_TEXT_H_
#define PLUGIN_TEXT_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/clock.h"

namespace yad {

// How many columns of a terminal a text takes: two for an East Asian wide character or an emoji, none for a combining
// mark or a colour.
std::size_t Width(std::string_view text);
// How many rows of a terminal with `width` columns the text takes. A wide character is not cut at the end of a row.
std::size_t Rows(std::string_view text, std::size_t width);
// At most `width` columns of a text without colours; where something was left out, the last one is an ellipsis ("…",
// or "~" without `unicode`).
std::string Fit(const std::string& text, std::size_t width, bool unicode);

// As kubectl prints ages: "5s", "3m20s", "47m", "5h8m", "36h", "9d", "3y12d".
std::string HumanDuration(Duration duration);
// The age of an RFC 3339 time; "<unknown>" where there is none.
std::string Age(const std::string& since, WallTime now);

// "1h30m", "45s", "500ms", as Go reads them; a bare number is of seconds. nullopt: it is none.
std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text);

// "a", "a, b", "a, b and 3 more"
std::string NameSome(const std::vector<std::string>& names, std::size_t most);

}  // namespace yad

#endif  // PLUGIN_TEXT_H_
