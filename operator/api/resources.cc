#include "operator/api/resources.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "operator/api/quantity.h"

namespace yad {
namespace {

std::int64_t Sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

std::int64_t* Named(Resources& resources, std::string_view name) {
  if (name == "cpu") return &resources.milli_cpu;
  if (name == "memory") return &resources.memory;
  if (name == "ephemeral-storage") return &resources.ephemeral_storage;
  if (name == "pods") return &resources.pods;
  return nullptr;
}

std::int64_t& At(Resources& resources, const std::string& name) {
  if (std::int64_t* named = Named(resources, name)) return *named;
  return resources.others[name];
}

// Calls combine(amount in `resources`, amount in `with`) for each resource in `with`.
template <typename Combine>
void ForEach(Resources& resources, const Resources& with, Combine combine) {
  combine(resources.milli_cpu, with.milli_cpu);
  combine(resources.memory, with.memory);
  combine(resources.ephemeral_storage, with.ephemeral_storage);
  combine(resources.pods, with.pods);
  for (const auto& [name, amount] : with.others) combine(At(resources, name), amount);
}

Resources RequestsOfContainer(const Json& container) {
  return Resources::Parse(Find(container, {"resources", "requests"}));
}

}  // namespace

Resources Resources::Parse(const Json* list) {
  Resources resources;
  if (list == nullptr || !list->is_object()) return resources;
  for (const auto& [name, value] : list->items()) {
    if (!value.is_string() && !value.is_number()) continue;
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    const auto amount = QuantityIn(name == "cpu" ? Unit::kMilli : Unit::kOne, text);
    if (amount && *amount > 0) At(resources, name) = *amount;
  }
  return resources;
}

void Resources::Add(const Resources& more) {
  ForEach(*this, more, [](std::int64_t& mine, std::int64_t theirs) { mine = Sum(mine, theirs); });
}

void Resources::Subtract(const Resources& less) {
  ForEach(*this, less, [](std::int64_t& mine, std::int64_t theirs) { mine = Sum(mine, -theirs); });
}

void Resources::Raise(const Resources& to) {
  ForEach(*this, to, [](std::int64_t& mine, std::int64_t theirs) { mine = std::max(mine, theirs); });
}

bool Resources::FitsIn(const Resources& room) const {
  const auto fits = [](std::int64_t asked, std::int64_t there) { return asked <= 0 || asked <= there; };
  if (!fits(milli_cpu, room.milli_cpu) || !fits(memory, room.memory) ||
      !fits(ephemeral_storage, room.ephemeral_storage) || !fits(pods, room.pods)) {
    return false;
  }
  return std::all_of(others.begin(), others.end(),
                     [&](const auto& entry) { return fits(entry.second, room.Get(entry.first)); });
}

std::int64_t Resources::Get(const std::string& name) const {
  if (const std::int64_t* named = Named(const_cast<Resources&>(*this), name)) return *named;
  const auto found = others.find(name);
  return found == others.end() ? 0 : found->second;
}

// Follows PodRequests in k8s.io/component-helpers/resource.
Resources RequestsOf(const Json& pod) {
  Resources sum, restartable, at_start;
  for (const Json& container : ListAt(pod, {"spec", "containers"})) sum.Add(RequestsOfContainer(container));
  for (const Json& container : ListAt(pod, {"spec", "initContainers"})) {
    Resources needs = RequestsOfContainer(container);
    if (StringAt(container, {"restartPolicy"}) == "Always") {  // a sidecar runs together with all later containers
      sum.Add(needs);
      restartable.Add(needs);
      needs = restartable;
    } else {
      needs.Add(restartable);
    }
    at_start.Raise(needs);
  }
  sum.Raise(at_start);
  const Resources stated = Resources::Parse(Find(pod, {"spec", "resources", "requests"}));
  if (stated.milli_cpu > 0) sum.milli_cpu = stated.milli_cpu;
  if (stated.memory > 0) sum.memory = stated.memory;
  sum.Add(Resources::Parse(Find(pod, {"spec", "overhead"})));
  sum.pods = 1;
  return sum;
}

}  // namespace yad
