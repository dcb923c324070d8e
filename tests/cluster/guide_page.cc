#include "tests/cluster/guide_page.h"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "tests/support/eventually.h"

namespace yad::testing {
namespace {

constexpr std::string_view kAnyText = "...";

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(std::move(line));
  return lines;
}

// Replaces each run of spaces with one space.
std::string Squeeze(const std::string& line) {
  std::string squeezed;
  std::istringstream words(line);
  for (std::string word; words >> word;) squeezed += (squeezed.empty() ? "" : " ") + word;
  return squeezed;
}

// Squeezes the lines, and removes empty lines.
std::vector<std::string> SqueezeAll(const std::vector<std::string>& lines) {
  std::vector<std::string> squeezed;
  for (const std::string& line : lines) {
    if (std::string text = Squeeze(line); !text.empty()) squeezed.push_back(std::move(text));
  }
  return squeezed;
}

bool LineMatches(std::string_view pattern, std::string_view text) {
  const std::size_t gap = pattern.find(kAnyText);
  if (gap == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, gap))) return false;
  pattern.remove_prefix(gap + kAnyText.size());
  for (std::size_t begin = gap; begin <= text.size(); ++begin) {
    if (LineMatches(pattern, text.substr(begin))) return true;
  }
  return false;
}

// Returns the number of pattern lines that match before the first difference. If the whole text matches, returns the
// number of pattern lines plus one.
std::size_t Fit(const std::vector<std::string>& pattern, std::size_t p, const std::vector<std::string>& text,
                std::size_t t) {
  if (p == pattern.size()) return t == text.size() ? p + 1 : p;
  if (pattern[p] != kAnyText) {
    return t < text.size() && LineMatches(pattern[p], text[t]) ? Fit(pattern, p + 1, text, t + 1) : p;
  }
  std::size_t best = p;
  for (std::size_t rest = t; rest <= text.size(); ++rest) best = std::max(best, Fit(pattern, p + 1, text, rest));
  return best;
}

}  // namespace

bool GuideCommand::OnlyReads() const {
  const auto begins = [&](std::string_view verb) { return text.starts_with(verb); };
  return begins("kubectl get ") || begins("kubectl describe ") || begins("kubectl events ");
}

std::vector<GuideCommand> CommandsOf(const std::string& page) {
  std::vector<GuideCommand> commands;
  const std::vector<std::string> lines = LinesOf(page);
  enum class Where { kText, kOtherBlock, kAnswer, kCommand, kHereDocument } where = Where::kText;
  bool fails = false;
  bool first = false;
  const auto fail = [](std::size_t line, const std::string& why) {
    throw TestFailure(std::to_string(line) + ": " + why);
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    const bool fence = line.starts_with("```");
    const auto read_on = [&] {
      if (line.find("<<EOF") != std::string::npos) return Where::kHereDocument;
      return line.ends_with("\\") ? Where::kCommand : Where::kAnswer;
    };
    switch (where) {
      case Where::kText:
        if (!fence) break;
        fails = line == "```console fails";
        first = true;
        if (line.starts_with("```console") && line != "```console" && !fails) fail(i + 1, "unknown kind of block");
        where = line.starts_with("```console") ? Where::kAnswer : Where::kOtherBlock;
        break;
      case Where::kOtherBlock:
        if (fence) where = Where::kText;
        break;
      case Where::kAnswer:
        if (fence) {
          where = Where::kText;
        } else if (line.starts_with("$ ")) {
          commands.push_back({static_cast<int>(i + 1), line.substr(2), {}, fails});
          where = read_on();
        } else if (first) {
          fail(i + 1, "an answer without a command");
        } else {
          commands.back().answer.push_back(line);
        }
        first = false;
        break;
      case Where::kCommand:
        commands.back().text += "\n" + line;
        where = read_on();
        break;
      case Where::kHereDocument:
        commands.back().text += "\n" + line;
        if (line == "EOF") where = Where::kAnswer;
        break;
    }
  }
  if (where != Where::kText) fail(lines.size(), "the block does not end");
  return commands;
}

std::string DifferenceFromAnswer(const std::vector<std::string>& answer, const std::string& output) {
  const std::vector<std::string> pattern = SqueezeAll(answer);
  const std::size_t fit = Fit(pattern, 0, SqueezeAll(LinesOf(output)), 0);
  if (fit > pattern.size()) return "";
  const std::string missed = fit < pattern.size() ? "the page says \"" + pattern[fit] + "\"" : "the page says no more";
  return missed + "; the answer was\n" + (output.empty() ? "(nothing)\n" : output);
}

}  // namespace yad::testing
