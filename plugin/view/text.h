// Measures and formats text for terminals and users.
#ifndef PLUGIN_VIEW_TEXT_H_
#define PLUGIN_VIEW_TEXT_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "operator/base/clock.h"

namespace yad {

// Returns the number of terminal columns of `text`. Wide East Asian characters and emoji take two columns. Combining
// marks and colour sequences take no column.
std::size_t Width(std::string_view text);
// Returns the number of rows that the text takes on a terminal with `width` columns. A wide character that does not fit
// at the end of a row moves to the next row.
std::size_t Rows(std::string_view text, std::size_t width);
// Returns the text without colour sequences, in at most `width` columns. If the text is truncated, the last column is
// an ellipsis ("…", or "~" without `unicode`).
std::string Fit(const std::string& text, std::size_t width, bool unicode);

// Returns `text`, or `other` if `text` is empty.
inline std::string TextOr(std::string_view text, std::string_view other) {
  return std::string(text.empty() ? other : text);
}

// Formats a duration as kubectl prints ages: "5s", "3m20s", "47m", "5h8m", "36h", "9d", "3y12d".
std::string HumanDuration(Duration duration);
// Returns the age of a time; "<unknown>" for the epoch, or if the string is not a time (RFC 3339).
std::string Age(WallTime since, WallTime now);
std::string Age(const std::string& since, WallTime now);

// Parses "1h30m", "45s", "500ms" as Go does; a bare number is in seconds. Returns nullopt for other strings.
std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text);

}  // namespace yad

#endif  // PLUGIN_VIEW_TEXT_H_
