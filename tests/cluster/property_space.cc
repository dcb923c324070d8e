#include "tests/cluster/property_space.h"

#include "tests/support/eventually.h"
#include "tests/support/kube.h"

namespace yad::testing {
namespace {

bool IsIntOrString(const Json& schema) {
  return schema.contains("x-kubernetes-int-or-string") || StringAt(schema, {"format"}) == "int-or-string";
}

std::string TypeOf(const Json& schema) { return StringAt(schema, {"type"}); }

// Returns whether the schema allows the JSON type of `value`.
bool Allows(const Json& schema, const Json& value) {
  if (schema.contains("oneOf")) {
    for (const Json& one : schema["oneOf"]) {
      if (Allows(one, value)) return true;
    }
    return false;
  }
  if (IsIntOrString(schema)) return value.is_number_integer() || value.is_string();
  const std::string type = TypeOf(schema);
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  return true;
}

}  // namespace

const Json* ValueTable::Find(const std::string& table, const std::string& path) const {
  const Json* best = nullptr;
  std::size_t length = 0;
  const auto found = tables_.find(table);
  if (found == tables_.end()) return nullptr;
  for (const auto& [end, entry] : found->items()) {
    const bool fits =
        path == end || (path.ends_with(end) && (end[0] == '[' || path[path.size() - end.size() - 1] == '.'));
    if (!fits || end.size() < length) continue;
    best = &entry;
    length = end.size();
  }
  return best;
}

Json PropertySpace::Resolve(const Json& schema) const {
  const Json* reference = &schema;
  if (schema.contains("allOf") && schema["allOf"].size() == 1) reference = &schema["allOf"][0];
  const std::string ref = StringAt(*reference, {"$ref"});
  if (ref.empty()) return schema;
  const std::string name = ref.substr(ref.rfind('/') + 1);
  if (!components_.contains(name)) throw TestFailure("there is no schema " + name);
  return components_[name];
}

Json PropertySpace::Example(const Json& unresolved, const std::string& path, int which) const {
  if (const Json* values = table_.Find("values", path); values != nullptr && !values->empty())
    return values->at(static_cast<std::size_t>(which) % values->size());
  const Json schema = Resolve(unresolved);
  if (schema.contains("enum")) {
    const Json& choices = schema["enum"];
    return choices[static_cast<std::size_t>(which) % choices.size()];
  }
  if (IsIntOrString(schema)) return 1 + which;
  if (schema.contains("oneOf")) return std::to_string(1 + which);  // valid as a quantity
  const std::string type = TypeOf(schema);
  if (type == "integer" || type == "number") return std::max<std::int64_t>(1, IntAt(schema, {"minimum"})) + which;
  if (type == "boolean") return which == 0;
  if (type == "array") return Json::array({Example(schema.at("items"), path + "[]", which)});
  if (type == "object") {
    if (schema.contains("additionalProperties")) {
      return {{"key", Example(schema["additionalProperties"], path + "{}", which)}};
    }
    Json object = Json::object();
    for (const std::string key : schema.value("required", Json::array())) {
      object[key] = Example(At(schema, "/properties/" + key), path + "." + key, which);
    }
    return object;
  }
  if (StringAt(schema, {"format"}) == "date-time") return which == 0 ? "2026-01-01T00:00:00Z" : "2026-01-02T00:00:00Z";
  if (StringAt(schema, {"format"}) == "byte") return which == 0 ? "YWFh" : "YmJi";
  return which == 0 ? "aaa" : "bbb";
}

std::vector<PropertyValue> PropertySpace::ValuesOf(const Json& schema, const std::string& path) const {
  std::vector<PropertyValue> values;
  const auto add = [&](const Json& value, Sense sense) {
    for (const PropertyValue& have : values) {
      if (have.value == value) return;
    }
    values.push_back({value, sense});
  };
  const Json* good = table_.Find("values", path);
  const std::size_t count = good != nullptr ? good->size() : schema.contains("enum") ? schema["enum"].size() : 2;
  for (std::size_t i = 0; i < count; ++i) add(Example(schema, path, static_cast<int>(i)), Sense::kGood);
  if (const Json* open = table_.Find("open", path)) {
    for (const Json& value : *open) add(value, Sense::kOpen);
  }
  if (const Json* wrong = table_.Find("wrong", path)) {
    for (const Json& value : *wrong) add(value, Sense::kWrong);
  }

  const std::string type = TypeOf(schema);
  if (type == "array") add(Json::array(), Sense::kOpen);
  if (type == "object") add(Json::object(), Sense::kOpen);
  if (type == "string") {
    add("", schema.contains("enum") ? Sense::kWrong : Sense::kOpen);
    add(std::string(static_cast<std::size_t>(IntAt(schema, {"maxLength"}, 299)) + 1, 'a'), Sense::kOpen);
    add("Not good!", schema.contains("enum") ? Sense::kWrong : Sense::kOpen);
  }
  if (type == "integer" || IsIntOrString(schema)) {
    add(-1, schema.contains("minimum") || IsIntOrString(schema) ? Sense::kWrong : Sense::kOpen);
    add(0, Sense::kOpen);
    add(std::int64_t{1} << 31, StringAt(schema, {"format"}) == "int32" ? Sense::kWrong : Sense::kOpen);
  }
  for (const Json& other :
       {Json("text"), Json(7), Json(1.5), Json(true), Json::array({"text"}), Json({{"an", "object"}})}) {
    if (!Allows(schema, other)) add(other, Sense::kWrong);
  }
  add(nullptr, Sense::kOpen);
  return values;
}

void PropertySpace::Walk(const Json& unresolved, const std::string& path, int depth,
                         std::vector<Property>& properties) const {
  if (table_.Find("not_here", path) != nullptr) return;
  const Json schema = Resolve(unresolved);
  properties.push_back({path, ValuesOf(schema, path)});
  if (depth == 0) return;
  const Json members = At(schema, "/properties");
  for (const auto& [key, member] : members.items()) {
    Walk(member, path + "." + key, depth - 1, properties);
  }
  if (schema.contains("items")) Walk(schema["items"], path + "[]", depth, properties);
}

std::vector<Property> PropertySpace::Walk(const Json& schema, const std::string& path, int depth) const {
  std::vector<Property> properties;
  const Json resolved = Resolve(schema);
  for (const auto& [key, member] : resolved.at("properties").items()) {
    Walk(member, path + "." + key, depth, properties);
  }
  return properties;
}

void PropertySpace::PlaceBelow(const Json& unresolved, const std::string& path, const std::string& rest,
                               const Json& value, Json& node) const {
  if (rest.empty()) {
    node = value;
    return;
  }
  const Json schema = Resolve(unresolved);
  if (rest.starts_with("[]")) {
    const std::string element = path + "[]";
    if (!node.is_array() || node.empty()) node = Json::array({Example(schema.at("items"), element, 0)});
    PlaceBelow(schema.at("items"), element, rest.substr(2), value, node[0]);
    return;
  }
  const std::size_t end = std::min(rest.find_first_of(".[", 1), rest.size());
  const std::string key = rest.substr(1, end - 1);
  const std::string below = path + "." + key;
  const Json member = At(schema, "/properties/" + key);
  if (!node.contains(key) && end < rest.size()) node[key] = Example(member, below, 0);
  if (const Json* excluded = table_.Find("instead_of", below)) {
    for (const std::string other : *excluded) node.erase(other);
  }
  if (const Json* beside = table_.Find("together_with", below)) node.update(*beside);
  PlaceBelow(member, below, rest.substr(end), value, node[key]);
}

void PropertySpace::Place(const Json& schema, const std::string& path, const Json& value, Json& spec) const {
  PlaceBelow(schema, "spec", path.substr(std::string("spec").size()), value, spec);
}

}  // namespace yad::testing
