// Makes test values for each property of an OpenAPI schema.
#ifndef TESTS_CLUSTER_PROPERTY_SPACE_H_
#define TESTS_CLUSTER_PROPERTY_SPACE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/api/object.h"

namespace yad::testing {

enum class Sense {
  kGood,   // the operator must apply it
  kWrong,  // the webhook must reject it, or the status must report it
  kOpen,   // the operator may apply or reject it
};

struct PropertyValue {
  Json value;
  Sense sense = Sense::kOpen;
};

struct Property {
  std::string path;  // "spec.overrides[].images[].name"; [] is the first element
  std::vector<PropertyValue> values;
};

// The tables of property_values.yaml: facts about properties that their schemas lack. A key is the end of a property's
// path. The longest matching key applies.
class ValueTable {
 public:
  explicit ValueTable(Json tables) : tables_(std::move(tables)) {}
  // Returns the entry of the table, or nullptr.
  const Json* Find(const std::string& table, const std::string& path) const;

 private:
  Json tables_;
};

// A schema whose $refs point into `components`. Thread-safe.
class PropertySpace {
 public:
  PropertySpace(Json components, ValueTable table) : components_(std::move(components)), table_(std::move(table)) {}

  // Returns the properties below `path`, at most `depth` objects deep. `schema` is the schema at `path`.
  std::vector<Property> Walk(const Json& schema, const std::string& path, int depth) const;

  // Sets the value at this path below "spec". Creates missing parents with their required fields.
  void Place(const Json& schema, const std::string& path, const Json& value, Json& spec) const;

 private:
  Json Resolve(const Json& schema) const;
  Json Example(const Json& schema, const std::string& path, int which) const;
  std::vector<PropertyValue> ValuesOf(const Json& schema, const std::string& path) const;
  void Walk(const Json& schema, const std::string& path, int depth, std::vector<Property>& properties) const;
  void PlaceBelow(const Json& schema, const std::string& path, const std::string& rest, const Json& value,
                  Json& node) const;

  const Json components_;
  const ValueTable table_;
};

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_PROPERTY_SPACE_H_
