#include "operator/yurtappdaemon/rollout/percent_groups.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

namespace yad {
namespace {

constexpr std::size_t kDigits = 8;

using Places = std::vector<std::uint32_t>;

// Returns the position of a pool in the revision's order of the pools, which is a hash of both names. The pool's name
// is hashed first, because FNV-1a mixes its last bytes badly.
std::uint32_t PlaceOf(const std::string& pool, const std::string& revision) {
  return static_cast<std::uint32_t>(Fnv1a64(revision, Fnv1a64(pool)) >> 32U);
}

// Returns the value of `pools` in the annotation.
std::string ToHex(const Places& places) {
  std::string hex;
  for (const std::uint32_t place : places) {
    char digits[kDigits + 1];
    std::snprintf(digits, sizeof digits, "%08x", place);
    hex += digits;
  }
  return hex;
}

// Returns the positions of the pools that `annotation` stores for the group, or nullopt if it does not store pools for
// the group's current percentage.
std::optional<Places> StoredPlaces(const Json& annotation, const RolloutGroup& group) {
  if (IntAt(annotation, {group.name, "percent"}) != group.percent) return std::nullopt;
  const std::string text = StringAt(annotation, {group.name, "pools"}, "?");
  if (text.size() % kDigits != 0) return std::nullopt;
  Places places;
  for (std::size_t at = 0; at < text.size(); at += kDigits) {
    const char* const end = text.data() + at + kDigits;
    const auto [rest, error] = std::from_chars(text.data() + at, end, places.emplace_back(), 16);
    if (error != std::errc() || rest != end) return std::nullopt;
  }
  std::sort(places.begin(), places.end());
  return places;
}

// Returns the positions of the pools in `left`, sorted, and at most `count` of them.
Places FirstPlaces(const Places& of_pool, const std::vector<std::size_t>& left, std::size_t count) {
  Places places;
  places.reserve(left.size());
  for (const std::size_t i : left) places.push_back(of_pool[i]);
  std::sort(places.begin(), places.end());
  if (places.size() > count) places.resize(count);
  return places;
}

}  // namespace

PoolGroups AssignGroups(const RollingUpdate& strategy, const std::vector<const NodePool*>& pools,
                        const std::string& revision, const std::string& stored) {
  const std::size_t last = strategy.groups.size() - 1;
  PoolGroups result{std::vector<std::size_t>(pools.size(), last), ""};
  const bool any_share = std::any_of(strategy.groups.begin(), strategy.groups.end(),
                                     [](const RolloutGroup& group) { return group.percent > 0; });
  Places of_pool;
  for (std::size_t i = 0; any_share && i < pools.size(); ++i) of_pool.push_back(PlaceOf(pools[i]->name, revision));
  const Json annotation = any_share ? Json::parse(stored, nullptr, false) : Json();
  Json shares = Json::object();
  std::vector<std::size_t> left(pools.size());  // the pools that no earlier group has
  std::iota(left.begin(), left.end(), 0);

  for (std::size_t g = 0; g < last; ++g) {
    const RolloutGroup& group = strategy.groups[g];
    Places places;
    if (group.percent > 0) {
      const std::size_t count = IntOrPercent{group.percent, true}.Of(pools.size());
      places = StoredPlaces(annotation, group).value_or(FirstPlaces(of_pool, left, count));
      shares[group.name] = {{"percent", group.percent}, {"pools", ToHex(places)}};
    }
    std::erase_if(left, [&](std::size_t i) {
      const bool taken =
          group.percent > 0 ? std::binary_search(places.begin(), places.end(), of_pool[i]) : group.Selects(*pools[i]);
      if (taken) result.of_pool[i] = g;
      return taken;
    });
  }
  if (!shares.empty()) result.percent_groups = shares.dump();
  return result;
}

}  // namespace yad
