// Makes the values for tests of each property of an OpenAPI schema.
#ifndef TESTS_CLUSTER_PROPERTY_SPACE_H_
#define TESTS_CLUSTER_PROPERTY_SPACE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/api/object.h"

namespace yad::testing {

enum class Sense {
  kGood,   // the operator has to apply it
  kWrong,  // the webhook has to reject it, or the status to report it
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

// The tables of property_values.yaml, which describes them: facts about properties that their schemas lack. A key is
// the end of a property's path. The longest matching key applies.
class ValueTable {
 public:
  explicit ValueTable(Json tables) : tables_(std::move(tables)) {}
  // Returns nullptr if the table has no entry.
  const Json* Find(const std::string& table, const std::string& path) const;

 private:
  Json tables_;
};

// A schema whose $refs point into `components`. Thread-safe.
class PropertySpace {
 public:
  PropertySpace(Json components, ValueTable table) : components_(std::move(components)), table_(std::move(table)) {}

  // Returns all properties below `path`, at most `depth` objects deep. The value at `path` has this schema.
  std::vector<Property> Walk(const Json& schema, const std::string& path, int depth) const;

  // Puts `value` at the path (below "spec") into a spec, and creates missing parents with their required fields.
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
