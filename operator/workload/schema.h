// The properties of the types of apps/v1 and core/v1 on which a merge depends: list keys, atomic structs, choices,
// quantities, and values that an apiserver drops or sets. The properties follow the tags (patchMergeKey, listMapKey,
// mapType, omitempty) and the defaults of k8s.io/api and k8s.io/kubernetes v1.34. A field that is not listed here
// (because it is newer than this operator) is merged as a map; its lists are atomic, and its values are compared
// literally.
#ifndef OPERATOR_WORKLOAD_SCHEMA_H_
#define OPERATOR_WORKLOAD_SCHEMA_H_

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/object.h"

namespace yad {

struct Schema;

struct Field {
  enum Flag : unsigned {
    kQuantity = 1,
    // 0 and false are not stored (omitempty on a plain number or bool), and are equal to an absent value.
    kZeroIsAbsent = 2,
    // The server replaces 0 or "" with its default, so such a value in a manifest has no effect.
    kZeroIsDefaulted = 4,
    // "" is a value (a pointer to a string, an entry of a map), and not equal to an absent value.
    kEmptyCounts = 8,
    // If the manifest does not have the field, the field has another owner and is never removed.
    kHandedOver = 16,
    // Several owners have entries in the field. If the manifest no longer has the field, the operator's entries are
    // removed and the others stay. Keyed lists are always shared.
    kShared = 32,
    // An object without effective members is still a value, because it makes a choice. For example, an apiserver
    // rejects "fc: {readOnly: false}", and does not treat it as an absent volume.
    kChooses = 64,
  };

  const Schema* schema = nullptr;  // of the object or of the list's items; nullptr: unknown
  std::vector<std::string> keys;  // keys of a keyed list ("metadata.name" is a path in the item); empty: an atomic list
  unsigned flags = 0;
  Json default_value;             // the server's default; null if there is none, or if it is not constant
  std::string default_from = {};  // the sibling whose value is the server's default; "": none

  bool Has(Flag flag) const { return (flags & flag) != 0; }
  bool shared() const { return Has(kShared) || !keys.empty(); }
  const Schema& SchemaOrUnknown() const;
};

struct Schema {
  std::map<std::string, Field, std::less<>> fields;
  Field other;          // for all keys that are not in `fields`
  bool atomic = false;  // replaced as a whole

  // A manifest sets one of these keys. The others must then be removed (retainKeys, unions).
  std::vector<std::string> choices;
  bool all_are_choices = false;  // all keys except "name" are choices
  // A member that is allowed only if the field "type" has the value dependent_on_type.
  std::string dependent;
  std::string dependent_on_type;
  // An object in which `variant_key` is true has the schema `variant` instead.
  std::string variant_key;
  const Schema* variant = nullptr;

  const Schema& For(const Json& object) const;
  const Field& Of(std::string_view key) const {
    const auto found = fields.find(key);
    return found == fields.end() ? other : found->second;
  }
  bool IsChoice(std::string_view key) const;
  // Returns true if `object` has a type for which `dependent` is not allowed.
  bool IsOfOtherType(const Json& object) const;
};

// Returns the schema of {metadata, spec} of a Deployment or a StatefulSet. One schema has the fields of both, which do
// not conflict.
const Schema& WorkloadSchema();
// Returns the schema of {metadata, spec} of a Service. The caller of a merge handles the ports itself (service.h).
const Schema& ServiceSchema();
// Returns the schema of unknown values.
const Schema& UnknownSchema();

// Returns true if an empty object has a meaning at this key (`emptyDir: {}`).
bool EmptyObjectCounts(std::string_view key);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_SCHEMA_H_
