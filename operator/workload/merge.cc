#include "operator/workload/merge.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "operator/workload/semantics.h"

namespace yad {
namespace {

using Index = std::unordered_map<std::string, std::size_t>;

// Returns the key of an item of a keyed list as a string, for example the name of a container. Returns nullopt if the
// item has no key.
std::optional<std::string> KeyOf(const Field& list, const Json& item) {
  std::string text;
  for (const std::string& path : list.keys) {
    const Json* value = &item;
    const Schema* schema = list.schema;
    const Field* field = nullptr;
    for (std::size_t begin = 0; begin <= path.size();) {
      const std::size_t end = std::min(path.find('.', begin), path.size());
      const std::string_view step = std::string_view(path).substr(begin, end - begin);
      field = schema == nullptr ? nullptr : &schema->Of(step);
      schema = field == nullptr ? nullptr : field->schema;
      value = &MemberOf(*value, step);
      begin = end + 1;
    }
    if (field != nullptr && !field->default_value.is_null() && (value->is_null() || IsZero(*value))) {
      value = &field->default_value;
    }
    if (value->is_string()) {
      text += "s" + value->get_ref<const std::string&>();
    } else if (value->is_number_integer()) {
      text += "i" + value->dump();
    } else {
      return std::nullopt;
    }
    text += '\0';
  }
  return text;
}

// Returns the keys of all items of a keyed list. Adds the position of each key to `index`. Returns nullopt if an item
// has no key, or if two items have the same key. The API allows duplicate keys in env and ports. A three-way merge can
// only replace a list with duplicate keys as a whole.
std::optional<std::vector<std::string>> UniqueKeys(const Field& list, const Json& items, Index& index) {
  std::vector<std::string> keys;
  keys.reserve(items.size());
  for (const Json& item : items) {
    auto key = KeyOf(list, item);
    if (!key || !index.emplace(*key, keys.size()).second) return std::nullopt;
    keys.push_back(*std::move(key));
  }
  return keys;
}

// Returns the field for one item of a list.
Field ItemOf(const Field& list) { return {list.schema, {}, 0, nullptr}; }

class Merger {
 public:
  // If `patching` is true, `now` is a patch for a template. A null in the patch removes a member, and an empty list
  // removes all items. If `merges_duplicates` is true, a patch does not replace lists that have a key twice.
  explicit Merger(bool patching, bool merges_duplicates = false)
      : patching_(patching), merges_duplicates_(merges_duplicates) {}

  // `now` and `live` must be objects.
  void Object(const Schema& general, const Json& last, const Json& now, Json& live, int depth) const {
    const Schema& schema = general.For(now);
    if (schema.atomic || depth >= kMaxDepth) {
      if (!SameObject(schema, now, live, depth)) live = WithoutNulls(now);
      return;
    }
    if (last.is_object()) RemoveDropped(schema, last, now, live, depth);
    if (patching_) EraseNulls(now, live);
    DropOtherChoices(schema, now, live);
    for (const auto& [key, wish] : now.items()) {
      if (!wish.is_null()) Member(schema.Of(key), key, MemberOf(last, key), wish, live, depth);
    }
  }

 private:
  // Returns true if the value is 0 or "" and the server would replace it with its default. The field then counts as
  // absent.
  static bool RequestsDefault(const Field& field, const Json& wish) {
    return field.Has(Field::kZeroIsDefaulted) && IsZero(wish);
  }

  // Removes from `live` the members that are set in `last` but not in `now`.
  void RemoveDropped(const Schema& schema, const Json& last, const Json& now, Json& live, int depth) const {
    for (const auto& [key, old] : last.items()) {
      const Field& field = schema.Of(key);
      if (const Json& wish = MemberOf(now, key); !wish.is_null() && !RequestsDefault(field, wish)) continue;
      if (field.Has(Field::kNeverRemoved) || HasNoEffect(field, key, old, depth)) continue;
      const auto found = live.find(key);
      if (found == live.end() || found->is_null()) continue;
      if (field.shared() && found->is_structured() && old.type() == found->type()) {
        Value(field, old, found->is_array() ? Json::array() : Json::object(), *found, depth);
        if (found->empty()) live.erase(found);
      } else if ((found->is_structured() && key != schema.default_choice) || !IsDefault(schema, key, live, depth)) {
        live.erase(found);  // A default stays, because the server would restore it.
      }
    }
  }

  static void EraseNulls(const Json& now, Json& live) {
    for (const auto& [key, wish] : now.items()) {
      if (wish.is_null()) live.erase(key);
    }
  }

  void DropOtherChoices(const Schema& schema, const Json& now, Json& live) const {
    bool chosen = false;
    if (schema.all_are_choices || !schema.choices.empty()) {
      for (const auto& [key, wish] : now.items()) chosen = chosen || (!wish.is_null() && schema.IsChoice(key));
    }
    for (auto it = live.begin(); chosen && it != live.end();) {
      const bool goes = schema.IsChoice(it.key()) && MemberOf(now, it.key()).is_null();
      it = goes ? live.erase(it) : std::next(it);
    }
    if (schema.dependent.empty()) return;
    const Json& dependent = MemberOf(now, schema.dependent);
    if (schema.IsOfOtherType(now) && dependent.is_null()) live.erase(schema.dependent);
    // If `now` has no type, it has the server's default type. The server rejects `dependent` with any other type.
    const bool has_default_type =
        !schema.IsOfOtherType(now) && schema.Of("type").default_value == Json(schema.dependent_on_type);
    if (!patching_ && has_default_type && !dependent.empty() && schema.IsOfOtherType(live)) live.erase("type");
  }

  void Member(const Field& field, const std::string& key, const Json& last, const Json& wish, Json& live,
              int depth) const {
    const auto found = live.find(key);
    if (found == live.end() || found->is_null()) {
      if (!HasNoEffect(field, key, wish, depth)) live[key] = WithoutNulls(wish);
      return;
    }
    if (RequestsDefault(field, wish)) {
      if (patching_)
        live.erase(found);  // removes the template's value; RemoveDropped removes the value of the last rendered object
      return;
    }
    const bool was_empty = found->empty();
    Value(field, last, wish, *found, depth);
    if (found->is_array() && found->empty() && !was_empty) live.erase(found);
  }

  void Value(const Field& field, const Json& last, const Json& now, Json& live, int depth) const {
    if (now.is_object() && live.is_object()) {
      Object(field.SchemaOrUnknown(), last, now, live, depth + 1);
    } else if (now.is_array() && live.is_array()) {
      if (depth < kMaxDepth && !field.keys.empty() && KeyedList(field, last, now, live, depth)) return;
      // An empty list changes nothing if the last rendered object also had no items.
      if (now.empty() && !patching_ && (!last.is_array() || last.empty())) return;
      if (!SameValue(field, now, live, depth)) live = WithoutNulls(now);
    } else if (!SameValue(field, now, live, depth)) {
      live = WithoutNulls(now);
    }
  }

  // Merges two lists by their keys. If a list has no unique keys, returns false and does nothing.
  bool KeyedList(const Field& field, const Json& last, const Json& now, Json& live, int depth) const {
    Index now_at;
    Index live_at;
    const auto now_keys = UniqueKeys(field, now, now_at);
    if (!now_keys) return false;
    const auto live_keys = UniqueKeys(field, live, live_at);
    if (!live_keys && patching_ && merges_duplicates_) PatchList(field, *now_keys, now, live, depth);
    if (!live_keys) return patching_ && merges_duplicates_;
    Index last_at;
    if (last.is_array() && !UniqueKeys(field, last, last_at)) return false;

    // `ours` contains the items that the operator owns, in the order of `now`. An item that is also in `live` is merged
    // with its live value.
    static const Json& null = *new Json(nullptr);
    std::vector<Json> ours(now_keys->size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const auto at = live_at.find((*now_keys)[i]);
      if (at == live_at.end()) {
        ours[i] = WithoutNulls(now[i]);
        continue;
      }
      const auto before = last_at.find((*now_keys)[i]);
      ours[i] = std::move(live[at->second]);
      Value(ItemOf(field), before == last_at.end() ? null : last[before->second], now[i], ours[i], depth + 1);
    }

    // The order of the merged list:
    // - Items of other owners keep their positions.
    // - The positions of the items in `ours` that are also in `live` are filled with these items in the order of `now`.
    //   The order matters: init containers run in order, and variables refer to earlier variables.
    // - A new item directly follows the item before it in `now`.
    Json result = Json::array();
    std::size_t done = 0;  // number of finished items in `ours`
    const auto add_new_items = [&] {
      for (; done < ours.size() && !live_at.contains((*now_keys)[done]); ++done)
        result.push_back(std::move(ours[done]));
    };
    for (std::size_t i = 0; i < live_keys->size(); ++i) {
      const std::string& key = (*live_keys)[i];
      if (!now_at.contains(key)) {
        if (!last_at.contains(key)) result.push_back(std::move(live[i]));
        continue;
      }
      add_new_items();  // only at the first of these positions
      result.push_back(std::move(ours[done++]));
      add_new_items();
    }
    add_new_items();  // if `live` has no item of `ours`
    live = std::move(result);
    return true;
  }

  // Merges each item of a patch into the first item of `live` that has its key, as `kubectl patch` does. Appends the
  // other items of the patch. `keys` are the keys of the items of `now`.
  void PatchList(const Field& field, const std::vector<std::string>& keys, const Json& now, Json& live,
                 int depth) const {
    Index first;
    for (std::size_t i = 0; i < live.size(); ++i) {
      if (auto key = KeyOf(field, live[i])) first.emplace(*std::move(key), i);
    }
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (const auto at = first.find(keys[i]); at != first.end()) {
        Value(ItemOf(field), nullptr, now[i], live[at->second], depth + 1);
      } else {
        live.push_back(WithoutNulls(now[i]));
      }
    }
  }

  bool patching_;
  bool merges_duplicates_;
};

// Returns the path from `value`, which is a part of a patch, to its first duplicate key (see FindDuplicateKey).
std::optional<std::string> DuplicateKeyIn(const Field& field, const Json& value, int depth) {
  if (field.schema == nullptr || depth >= kMaxDepth) return std::nullopt;
  if (value.is_object()) {
    const Schema& schema = field.schema->For(value);
    for (const auto& [key, member] : value.items()) {
      const auto found = schema.atomic ? std::nullopt : DuplicateKeyIn(schema.Of(key), member, depth + 1);
      if (found) return "." + key + *found;
    }
  } else if (value.is_array() && !field.keys.empty()) {
    std::set<std::string> keys;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string index = "[" + std::to_string(i) + "]";
      const auto key = KeyOf(field, value[i]);
      if (key && !keys.insert(*key).second) return index;
      const auto found = DuplicateKeyIn(ItemOf(field), value[i], depth + 1);
      if (found) return index + *found;
    }
  }
  return std::nullopt;
}

bool IsFilled(const Json& value) { return value.is_string() && !IsZero(value); }

// serviceAccount is a deprecated copy of serviceAccountName, and an apiserver sets each of them from the other. So a
// value must be removed from both, or the apiserver restores it.
constexpr const char* kServiceAccount[] = {"serviceAccountName", "serviceAccount"};

const Json& PodSpec(const Json& workload) { return MemberOf(MemberOf(MemberOf(workload, "spec"), "template"), "spec"); }

const Json& ServiceAccountOf(const Json& workload) {
  const Json& name = MemberOf(PodSpec(workload), kServiceAccount[0]);
  return IsFilled(name) ? name : MemberOf(PodSpec(workload), kServiceAccount[1]);
}

void MergeServiceAccount(const Json& last, const Json& now, bool had_both, Json& live) {
  if (!PodSpec(live).is_object()) return;
  Json& pod = live["spec"]["template"]["spec"];
  const Json& wish = ServiceAccountOf(now);
  for (const char* name : kServiceAccount) {
    if (IsFilled(wish)) {
      if (had_both || pod.contains(name)) pod[name] = wish;
    } else if (const Json& value = MemberOf(PodSpec(now), name);
               IsFilled(ServiceAccountOf(last)) && (value.is_null() || value == "")) {
      pod.erase(name);  // A value of a wrong type stays, so that the apiserver rejects it.
    }
  }
}

// Returns the labels and annotations. They are the only metadata in which the operator owns values.
Json LabelsAndAnnotations(const Json& object) {
  Json result = Json::object();
  for (const char* name : {"labels", "annotations"}) {
    const Json& map = MemberOf(MemberOf(object, "metadata"), name);
    if (map.is_object()) result.emplace(name, map);
  }
  return result;
}

void MergePart(const Merger& merger, const Schema& schema, const char* part, const Json& last, const Json& now,
               Json& live) {
  static const Json& nothing = *new Json(Json::object());
  if (!MemberOf(live, part).is_object()) {
    if (!now.is_object() || now.empty()) return;
    live[part] = Json::object();
  }
  merger.Object(*schema.Of(part).schema, last, now.is_object() ? now : nothing, live[part], 0);
}

void Merge(const Merger& merger, const Schema& schema, const Json& last, const Json& now, Json& live) {
  if (!live.is_object()) live = Json::object();
  const bool had_both = PodSpec(live).contains(kServiceAccount[0]) && PodSpec(live).contains(kServiceAccount[1]);
  MergePart(merger, schema, "metadata", LabelsAndAnnotations(last), LabelsAndAnnotations(now), live);
  MergePart(merger, schema, "spec", MemberOf(last, "spec"), MemberOf(now, "spec"), live);
  MergeServiceAccount(last, now, had_both, live);  // changes nothing in a Service, which has no pod template
}

}  // namespace

bool IsMerged(const Json& now, const Json& live) { return ThreeWayMerge(now, now, live) == live; }

Json ThreeWayMerge(const Json& last, const Json& now, Json live, const Schema& schema) {
  Merge(Merger(false), schema, last, now, live);
  return live;
}

void ApplyPatch(const Json& patch, bool merges_duplicates, Json& workload) {
  Merge(Merger(true, merges_duplicates), WorkloadSchema(), nullptr, patch, workload);
}

std::optional<std::string> FindDuplicateKey(const Json& patch) {
  return DuplicateKeyIn({&WorkloadSchema(), {}, 0, nullptr}, patch, 0);
}

}  // namespace yad
