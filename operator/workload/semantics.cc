#include "operator/workload/semantics.h"

#include "operator/api/quantity.h"

namespace yad {
namespace {

const Json& Null() {
  static const Json& null = *new Json(nullptr);
  return null;
}

// Returns a quantity as a string. The value may be a JSON number.
std::string QuantityText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() ? value.dump() : "";
}

bool SameScalar(const Field& field, const Json& a, const Json& b) {
  if (a == b) return true;
  return field.Has(Field::kQuantity) && QuantityEqual(QuantityText(a), QuantityText(b));
}

// Returns the server's default for a field that `object` does not have; null if no default is known.
const Json& DefaultOf(const Field& field, const Json& object) {
  return field.default_from.empty() ? field.default_value : MemberOf(object, field.default_from);
}

bool MembersHaveNoEffect(const Schema& schema, const Json& object, int depth) {
  for (const auto& [name, member] : object.items()) {
    if (!HasNoEffect(schema.Of(name), name, member, depth)) return false;
  }
  return true;
}

// Returns true if `key` is the default choice of a union, `object` has no other choice, and no member of this choice
// has an effect.
bool IsDefaultChoice(const Schema& schema, std::string_view key, const Json& object, int depth) {
  if (schema.default_choice.empty() || key != schema.default_choice || depth >= kMaxDepth) return false;
  for (const auto& [name, member] : object.items()) {
    if (name != key && schema.IsChoice(name) && !member.is_null()) return false;
  }
  const Json& choice = MemberOf(object, key);
  return choice.is_object() && MembersHaveNoEffect(schema.Of(key).SchemaOrUnknown(), choice, depth + 1);
}

void RemoveNulls(Json& value, int depth) {
  if (depth >= kMaxDepth || !value.is_structured()) return;
  for (auto it = value.begin(); it != value.end();) {
    if (value.is_object() && it->is_null()) {
      it = value.erase(it);
    } else {
      RemoveNulls(*it, depth + 1);
      ++it;
    }
  }
}

}  // namespace

const Json& MemberOf(const Json& object, std::string_view key) {
  if (!object.is_object()) return Null();
  const auto found = object.find(key);
  return found == object.end() ? Null() : *found;
}

bool IsZero(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  if (value.is_boolean()) return !value.get<bool>();
  return value.is_number() && value == 0;
}

bool HasNoEffect(const Field& field, std::string_view key, const Json& value, int depth) {
  if (value.is_null()) return true;
  if (value.is_array()) return value.empty();
  if (value.is_object()) {
    if (EmptyObjectCounts(key) || field.Has(Field::kPresenceCounts)) return false;
    if (value.empty()) return true;
    return depth < kMaxDepth && MembersHaveNoEffect(field.SchemaOrUnknown(), value, depth + 1);
  }
  if (!IsZero(value) || field.Has(Field::kQuantity)) return false;
  if (field.Has(Field::kZeroIsDefaulted)) return true;
  return value.is_string() ? !field.Has(Field::kEmptyCounts) : field.Has(Field::kZeroIsAbsent);
}

bool IsDefault(const Schema& schema, std::string_view key, const Json& object, int depth) {
  const Field& field = schema.Of(key);
  const Json& value = MemberOf(object, key);
  if (HasNoEffect(field, key, value, depth)) return true;
  if (!value.is_object()) {
    const Json& filled_in = DefaultOf(field, object);
    return !filled_in.is_null() && SameScalar(field, value, filled_in);
  }
  if (IsDefaultChoice(schema, key, object, depth)) return true;
  if (EmptyObjectCounts(key) || field.Has(Field::kPresenceCounts) || depth >= kMaxDepth) return false;
  if (key == schema.dependent && schema.IsOfOtherType(object)) return false;
  const Schema& inside = field.SchemaOrUnknown().For(value);
  for (const auto& [name, member] : value.items()) {
    if (!IsDefault(inside, name, value, depth + 1)) return false;
  }
  return true;
}

bool SameMember(const Schema& schema, std::string_view key, const Json& a, const Json& b, int depth) {
  const Field& field = schema.Of(key);
  const Json& left = MemberOf(a, key);
  const Json& right = MemberOf(b, key);
  const bool no_left = HasNoEffect(field, key, left, depth);
  const bool no_right = HasNoEffect(field, key, right, depth);
  if (no_left && no_right) return true;
  if (no_left || no_right) return IsDefault(schema, key, no_left ? b : a, depth);
  return SameValue(field, left, right, depth);
}

bool SameObject(const Schema& general, const Json& a, const Json& b, int depth) {
  if (depth >= kMaxDepth) return a == b;
  const Schema& schema = general.For(a);
  if (&schema != &general.For(b)) return false;
  for (const auto& [key, member] : a.items()) {
    if (!SameMember(schema, key, a, b, depth + 1)) return false;
  }
  for (const auto& [key, member] : b.items()) {
    if (!a.contains(key) && !SameMember(schema, key, a, b, depth + 1)) return false;
  }
  return true;
}

bool SameValue(const Field& field, const Json& a, const Json& b, int depth) {
  if (a.is_object() && b.is_object()) return SameObject(field.SchemaOrUnknown(), a, b, depth);
  if (!a.is_array() || !b.is_array()) return SameScalar(field, a, b);
  if (depth >= kMaxDepth) return a == b;
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!SameValue(field, a[i], b[i], depth + 1)) return false;
  }
  return true;
}

Json WithoutNulls(Json value) {
  RemoveNulls(value, 0);
  return value;
}

Json Canonical(const Schema& general, const Json& value, Defaults defaults, int depth) {
  if (depth >= kMaxDepth || !value.is_structured()) return value;
  if (value.is_array()) {
    Json result = Json::array();
    for (const Json& item : value) result.push_back(Canonical(general, item, defaults, depth + 1));
    return result;
  }
  const Schema& schema = defaults == Defaults::kDropped ? general.For(value) : general;
  Json result = Json::object();
  for (const auto& [key, member] : value.items()) {
    const Field& field = schema.Of(key);
    // The apiserver rejects a member that the object's type does not allow. So an empty member is not the same as an
    // absent member here.
    const bool misplaced = key == schema.dependent && !member.is_null() && schema.IsOfOtherType(value);
    if (defaults == Defaults::kDropped && IsDefaultChoice(schema, key, value, depth)) continue;
    if (member.is_object() && !field.Has(Field::kQuantity) && depth + 1 < kMaxDepth) {
      // The recursive call removes members without effect. If no member remains, `member` itself has no effect.
      Json canonical = Canonical(field.SchemaOrUnknown(), member, defaults, depth + 1);
      const bool counts = misplaced || EmptyObjectCounts(key) || field.Has(Field::kPresenceCounts);
      if (counts || !canonical.empty()) result.emplace(key, std::move(canonical));
      continue;
    }
    if (!misplaced && HasNoEffect(field, key, member, depth)) continue;
    if (!misplaced && defaults == Defaults::kDropped && IsDefault(schema, key, value, depth)) continue;
    if (field.Has(Field::kQuantity)) {
      const auto text = CanonicalQuantity(QuantityText(member));
      result.emplace(key, text ? Json(*text) : member);
    } else {
      result.emplace(key, Canonical(field.SchemaOrUnknown(), member, defaults, depth + 1));
    }
  }
  return result;
}

}  // namespace yad
