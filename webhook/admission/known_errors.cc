#include "webhook/admission/known_errors.h"

#include <map>
#include <tuple>

namespace yad {
namespace {

using Place = std::tuple<std::string, FieldError::Type, std::string>;

Place Exact(const FieldError& error) { return {error.path, error.type, error.detail}; }
Place InItsList(const FieldError& error) {
  return {WithoutIndices(error.path), error.type, error.detail + "\n" + error.value};
}

// Removes one of the errors at `place`. Returns false if there are no more.
bool Take(std::map<Place, int>& places, const Place& place) {
  const auto found = places.find(place);
  if (found == places.end() || found->second == 0) return false;
  --found->second;
  return true;
}

}  // namespace

std::string WithoutIndices(const std::string& path) {
  std::string result;
  for (std::size_t i = 0; i < path.size(); ++i) {
    result += path[i];
    if (path[i] != '[') continue;
    std::size_t end = i + 1;
    while (end < path.size() && path[end] >= '0' && path[end] <= '9') ++end;
    if (end < path.size() && path[end] == ']') i = end - 1;
  }
  return result;
}

SortedErrors SortErrors(const FieldErrors& now, const FieldErrors& before) {
  std::map<Place, int> exact;
  for (const FieldError& error : before) ++exact[Exact(error)];
  std::vector<bool> known(now.size());
  for (std::size_t i = 0; i < now.size(); ++i) known[i] = Take(exact, Exact(now[i]));
  // The remaining old errors may have moved within their list.
  std::map<Place, int> moved;
  for (const FieldError& error : before) {
    if (Take(exact, Exact(error))) ++moved[InItsList(error)];
  }
  SortedErrors sorted;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const bool is_known = known[i] || Take(moved, InItsList(now[i]));
    (is_known ? sorted.known : sorted.fresh).Add(now[i]);
  }
  if (now.full() && !sorted.known.empty()) {
    sorted.fresh.Add(FieldError::Forbidden(
        "spec", "has too many errors to distinguish new ones from old ones: fix the old ones first"));
  }
  return sorted;
}

}  // namespace yad
