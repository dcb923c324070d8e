#include "plugin/view/unified_diff.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace yad {
namespace {

constexpr std::size_t kContext = 3;
// The maximum number of removed and added lines in a shortest script. The search needs about eight bytes times the
// square of this number, which is 72 MB. If more lines differ, the script removes all old lines and then adds all new
// lines.
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

using LineSpan = std::span<const std::string_view>;
std::string_view LineAt(LineSpan lines, long index) { return lines[static_cast<std::size_t>(index)]; }

// Myers' algorithm works in rounds. Round d stores, for each diagonal k = x - y from -d - 1 to d + 1, the furthest x
// that was reached before the round.
using Rounds = std::vector<std::vector<long>>;

// Runs Myers' greedy algorithm ("An O(ND) Difference Algorithm and Its Variations", 1986). Returns an empty list if
// more than kMostEdits lines differ.
Rounds SearchShortestScript(LineSpan a, LineSpan b) {
  const auto n = static_cast<long>(a.size());
  const auto m = static_cast<long>(b.size());
  // furthest[offset + k] is the furthest x on diagonal k.
  const long offset = n + m + 1;
  std::vector<long> furthest(static_cast<std::size_t>(2 * offset + 1), 0);
  const auto at = [&](long k) -> long& { return furthest[static_cast<std::size_t>(offset + k)]; };
  Rounds rounds;
  for (long d = 0; d <= kMostEdits; ++d) {
    rounds.emplace_back(furthest.begin() + (offset - d - 1), furthest.begin() + (offset + d + 2));
    for (long k = -d; k <= d; k += 2) {
      const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
      long x = down ? at(k + 1) : at(k - 1) + 1;
      while (x < n && x - k < m && LineAt(a, x) == LineAt(b, x - k)) ++x;
      at(k) = x;
      if (x >= n && x - k >= m) return rounds;
    }
  }
  return {};
}

// Follows the rounds from the last to the first, and returns the edits in reverse order.
std::vector<Edit> FollowBack(LineSpan a, LineSpan b, const Rounds& rounds) {
  std::vector<Edit> edits;
  auto x = static_cast<long>(a.size());
  auto y = static_cast<long>(b.size());
  for (long d = static_cast<long>(rounds.size()) - 1; d >= 0; --d) {
    const std::vector<long>& before = rounds[static_cast<std::size_t>(d)];
    const auto was = [&](long k) { return before[static_cast<std::size_t>(k + d + 1)]; };
    const long k = x - y;
    const bool down = k == -d || (k != d && was(k - 1) < was(k + 1));
    const long from_k = down ? k + 1 : k - 1;
    const long from_x = d == 0 ? 0 : was(from_k);
    const long from_y = d == 0 ? 0 : from_x - from_k;
    while (x > from_x && y > from_y) {
      edits.push_back({' ', LineAt(a, x - 1)});
      --x;
      --y;
    }
    if (d == 0) break;
    if (down) {
      edits.push_back({'+', LineAt(b, y - 1)});
    } else {
      edits.push_back({'-', LineAt(a, x - 1)});
    }
    x = from_x;
    y = from_y;
  }
  return edits;
}

// Skips the first lines and the last lines that are equal in both texts, and searches between them.
std::vector<Edit> Script(const Lines& a, const Lines& b) {
  std::size_t begin = 0;
  while (begin < a.size() && begin < b.size() && a[begin] == b[begin]) ++begin;
  std::size_t end = 0;
  while (end < a.size() - begin && end < b.size() - begin && a[a.size() - 1 - end] == b[b.size() - 1 - end]) ++end;
  const LineSpan old_lines = LineSpan(a).subspan(begin, a.size() - begin - end);
  const LineSpan new_lines = LineSpan(b).subspan(begin, b.size() - begin - end);

  std::vector<Edit> script;
  for (std::size_t i = 0; i < begin; ++i) script.push_back({' ', a[i]});
  const Rounds rounds = SearchShortestScript(old_lines, new_lines);
  if (rounds.empty()) {
    for (const std::string_view line : old_lines) script.push_back({'-', line});
    for (const std::string_view line : new_lines) script.push_back({'+', line});
  } else {
    const std::vector<Edit> middle = FollowBack(old_lines, new_lines, rounds);
    script.insert(script.end(), middle.rbegin(), middle.rend());
  }
  for (std::size_t i = a.size() - end; i < a.size(); ++i) script.push_back({' ', a[i]});
  return script;
}

// Returns the notation of `diff -u` for a range of lines, such as "3,4" for four lines from line 3. If the range has no
// lines, the first number is the number of the line before it.
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
  std::size_t taken = 0;  // number of edits that have been processed
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

    // A hunk also contains the next change if the two changes are at most twice the context apart.
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
