#include "plugin/unified_diff.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace yad {
namespace {

constexpr std::size_t kContext = 3;
// Maximum number of differing lines for which the shortest script is searched, because that takes eight bytes for each
// pair of them. Beyond it, all old lines come before all new lines.
constexpr long kMostEdits = 3000;

using Lines = std::vector<std::string_view>;

Lines SplitLines(const std::string& text) {
  Lines lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.data() + begin, end - begin);
    begin = end + 1;
  }
  return lines;
}

struct Edit {
  char sign;  // ' ', '-', '+'
  std::string_view line;
};

// Runs Myers' greedy algorithm ("An O(ND) Difference Algorithm and Its Variations", 1986) on the lines between the
// common lines at both ends.
std::vector<Edit> Script(const Lines& a, const Lines& b) {
  std::size_t begin = 0;
  while (begin < a.size() && begin < b.size() && a[begin] == b[begin]) ++begin;
  std::size_t end = 0;
  while (end < a.size() - begin && end < b.size() - begin && a[a.size() - 1 - end] == b[b.size() - 1 - end]) ++end;
  const auto n = static_cast<long>(a.size() - begin - end);
  const auto m = static_cast<long>(b.size() - begin - end);
  const auto old_line = [&](long x) { return a[begin + static_cast<std::size_t>(x)]; };
  const auto new_line = [&](long y) { return b[begin + static_cast<std::size_t>(y)]; };

  // furthest[offset + k]: the furthest x on diagonal k = x - y.
  const long offset = n + m + 1;
  std::vector<long> furthest(static_cast<std::size_t>(2 * offset + 1), 0);
  std::vector<std::vector<long>> rounds;  // the used part of `furthest` before each round
  const auto at = [&](long k) -> long& { return furthest[static_cast<std::size_t>(offset + k)]; };
  bool done = false;
  for (long d = 0; !done && d <= kMostEdits; ++d) {
    rounds.emplace_back(furthest.begin() + (offset - d - 1), furthest.begin() + (offset + d + 2));
    for (long k = -d; k <= d && !done; k += 2) {
      const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
      long x = down ? at(k + 1) : at(k - 1) + 1;
      while (x < n && x - k < m && old_line(x) == new_line(x - k)) ++x;
      at(k) = x;
      done = x >= n && x - k >= m;
    }
  }

  std::vector<Edit> middle;  // in reverse order
  long x = n;
  long y = m;
  while (!done && y > 0) middle.push_back({'+', new_line(--y)});
  while (!done && x > 0) middle.push_back({'-', old_line(--x)});
  for (long d = done ? static_cast<long>(rounds.size()) - 1 : -1; d >= 0; --d) {
    const std::vector<long>& before = rounds[static_cast<std::size_t>(d)];
    const auto was = [&](long k) { return before[static_cast<std::size_t>(k + d + 1)]; };
    const long k = x - y;
    const bool down = k == -d || (k != d && was(k - 1) < was(k + 1));
    const long from_k = down ? k + 1 : k - 1;
    const long from_x = d == 0 ? 0 : was(from_k);
    const long from_y = d == 0 ? 0 : from_x - from_k;
    while (x > from_x && y > from_y) {
      middle.push_back({' ', old_line(x - 1)});
      --x;
      --y;
    }
    if (d == 0) break;
    if (down) {
      middle.push_back({'+', new_line(y - 1)});
    } else {
      middle.push_back({'-', old_line(x - 1)});
    }
    x = from_x;
    y = from_y;
  }

  std::vector<Edit> script;
  for (std::size_t i = 0; i < begin; ++i) script.push_back({' ', a[i]});
  script.insert(script.end(), middle.rbegin(), middle.rend());
  for (std::size_t i = a.size() - end; i < a.size(); ++i) script.push_back({' ', a[i]});
  return script;
}

// Returns a range such as "3,4". A range without lines has the number of the line before it.
std::string Range(std::size_t first, std::size_t count) {
  const std::size_t begin = count == 0 ? first : first + 1;
  return std::to_string(begin) + (count == 1 ? "" : "," + std::to_string(count));
}

}  // namespace

std::string UnifiedDiff(const std::string& before, const std::string& after) {
  const Lines a = SplitLines(before);
  const Lines b = SplitLines(after);
  const std::vector<Edit> script = Script(a, b);

  std::string text;
  std::size_t old_line = 0;
  std::size_t new_line = 0;
  std::size_t taken = 0;  // number of edits that are done
  const auto pass = [&](const Edit& edit) {
    old_line += edit.sign != '+';
    new_line += edit.sign != '-';
  };
  while (true) {
    std::size_t change = taken;
    while (change < script.size() && script[change].sign == ' ') ++change;
    if (change == script.size()) return text;
    const std::size_t first = std::max(taken, change - std::min(change, kContext));
    for (; taken < first; ++taken) pass(script[taken]);

    // The hunk covers further changes as long as at most twice the context separates one from the next.
    std::size_t end = change;
    for (std::size_t i = change; i < script.size() && i <= end + 2 * kContext + 1; ++i) {
      if (script[i].sign != ' ') end = i;
    }
    end = std::min(script.size(), end + 1 + kContext);
    const std::size_t old_first = old_line;
    const std::size_t new_first = new_line;
    std::string hunk;
    for (; taken < end; ++taken) {
      pass(script[taken]);
      hunk += script[taken].sign + std::string(script[taken].line) + "\n";
    }
    text += "@@ -" + Range(old_first, old_line - old_first) + " +" + Range(new_first, new_line - new_first) + " @@\n" +
            hunk;
  }
}

}  // namespace yad
