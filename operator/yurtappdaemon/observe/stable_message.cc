#include "operator/yurtappdaemon/observe/stable_message.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/base/join.h"

namespace yad {
namespace {

// The shortest run of hexadecimal digits and dashes that counts as an id. A UUID has 36 characters.
constexpr std::size_t kShortestId = 32;
constexpr std::size_t kTaintsNamed = 2;
constexpr std::string_view kDecimalDigits = "0123456789";
constexpr std::string_view kCharactersOfIds = "0123456789abcdefABCDEF-";

// Returns the part of `text` before `end`, or the whole `text` if `end` does not occur.
std::string_view Before(std::string_view text, std::string_view end) { return text.substr(0, text.find(end)); }

// Returns the index of the first character, from `begin` on, that is not in `set`.
std::size_t EndOfRun(std::string_view text, std::size_t begin, std::string_view set) {
  return std::min(text.find_first_not_of(set, begin), text.size());
}

// Returns whether this part of a scheduler's message may be about nodes of other pools, such as an untolerated taint.
bool MayBeAboutOthers(std::string_view words) {
  constexpr std::array<std::string_view, 4> kOthers{"node(s) didn't match Pod's node affinity/selector",
                                                    "node(s) didn't match node selector",
                                                    "node(s) had untolerated taint", "node(s) were unschedulable"};
  return std::any_of(kOthers.begin(), kOthers.end(), [&](std::string_view other) { return words.starts_with(other); });
}

}  // namespace

std::string Steady(std::string_view text) {
  text = Before(text, " (pod: ");
  std::string steady;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (const std::size_t end = EndOfRun(text, at, kCharactersOfIds); end > at) {
      steady += end - at >= kShortestId ? std::string_view("...") : text.substr(at, end - at);
      at = end;
      continue;
    }
    if (c == ':') {  // a port follows, as in "10.0.0.7:51234->10.96.0.10:53"
      const std::size_t end = EndOfRun(text, at + 1, kDecimalDigits);
      if (end > at + 1 && text.substr(end).starts_with("->")) {
        at = end;
        continue;
      }
    }
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!space) steady += c;
    if (space && !steady.empty() && steady.back() != ' ') steady += ' ';
    ++at;
  }
  while (steady.ends_with(' ')) steady.pop_back();
  return Cut(std::move(steady), kMaxMessage);
}

std::string SchedulerMessage(std::string_view message) {
  constexpr std::string_view kBegin = "nodes are available: ";
  const std::size_t begin = message.find(kBegin);
  if (begin == std::string_view::npos) return Steady(message);
  std::string_view list = Before(message.substr(begin + kBegin.size()), ". ");
  if (list.ends_with('.')) list.remove_suffix(1);

  std::set<std::string> own, others, taints;
  while (!list.empty()) {
    std::string_view words = Before(list, ", ");
    list.remove_prefix(std::min(list.size(), words.size() + 2));
    const std::size_t digits = EndOfRun(words, 0, kDecimalDigits);
    if (digits > 0 && words.substr(digits).starts_with(' ')) words.remove_prefix(digits + 1);
    if (words.starts_with("node(s) had untolerated taint")) {
      taints.insert(Steady(words));
    } else {
      (MayBeAboutOthers(words) ? others : own).insert(Steady(words));
    }
  }
  if (taints.size() > kTaintsNamed) taints = {"node(s) had untolerated taints"};
  others.merge(taints);
  return "0 nodes are available: " + Join(own.empty() ? others : own);
}

std::string PullError(std::string_view message) {
  constexpr std::string_view kTried = "ErrImagePull: ";
  if (const std::size_t at = message.find(kTried); at != std::string_view::npos) {
    message.remove_prefix(at + kTried.size());
  } else if (message.starts_with("Back-off pulling image")) {
    return "";
  }
  constexpr std::string_view kDescription = "desc = ";
  if (const std::size_t at = message.find(kDescription);
      at != std::string_view::npos && message.starts_with("rpc error"))
    message.remove_prefix(at + kDescription.size());
  return Steady(message);
}

std::string RejectionOfPod(std::string_view message) {
  if (const std::size_t quota = message.find("exceeded quota"); quota != std::string_view::npos) {
    message.remove_prefix(quota);
    const std::size_t used = message.find(", used: "), limited = message.find(", limited: ");
    if (used == std::string_view::npos || limited == std::string_view::npos || limited < used) return Steady(message);
    return Steady(std::string(message.substr(0, used)) + std::string(message.substr(limited)));
  }
  for (const std::string_view rejection : {"is forbidden: ", "is invalid: "}) {
    if (const std::size_t at = message.find(rejection); at != std::string_view::npos)
      return Steady(message.substr(at + rejection.size()));
  }
  return Steady(message);
}

bool ReportsMissingObject(std::string_view text) {
  if (text.find("couldn't find key ") != std::string_view::npos) return true;
  if (text.find("references non-existent ") != std::string_view::npos) return true;
  if (text.find("\" not found") == std::string_view::npos) return false;
  for (const std::string_view kind : {"configmap \"", "secret \"", "persistentvolumeclaim \"", "serviceaccount \""}) {
    if (text.find(kind) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace yad
