// The merge's knowledge of the types in apps/v1 and core/v1: list keys, atomic structs, choices, quantities, and values
// that an apiserver drops or sets. It follows the tags (patchMergeKey, listMapKey, mapType, omitempty) and the defaults
// of k8s.io/api and k8s.io/kubernetes v1.34. A field that is not listed here (because it is newer than this operator)
// is merged as a map; its lists are atomic, and its values are compared literally.
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
    // 0 and false are not stored (omitempty on a plain number or bool) and equal an absent value.
    kZeroIsAbsent = 2,
    // The server replaces 0 or "" by its default, so such a value in a manifest sets nothing.
    kZeroIsDefaulted = 4,
    // "" is a value (a pointer to a string, an entry of a map) and differs from an absent one.
    kEmptyCounts = 8,
    // A field that is absent in the manifest has another owner and is never removed.
    kHandedOver = 16,
    // The field has entries of several owners. If the manifest no longer has the field, the operator's entries are
    // removed and the others stay. Keyed lists are always shared.
    kShared = 32,
    // An object is a value even if it sets nothing, because it makes a choice: an apiserver rejects "fc: {readOnly:
    // false}" and does not treat it as an absent volume.
    kChooses = 64,
  };

  const Schema* schema = nullptr;  // schema of the object or of the list's items; nullptr: unknown
  std::vector<std::string> keys;   // keys of a keyed list ("metadata.name" leads into the item); empty: an atomic list
  unsigned flags = 0;
  Json default_value;             // the server's default; null if there is none or it varies
  std::string default_from = {};  // the server copies this sibling's value; "": it does not

  bool Has(Flag flag) const { return (flags & flag) != 0; }
  bool shared() const { return Has(kShared) || !keys.empty(); }
  const Schema& SchemaOrUnknown() const;
};

struct Schema {
  std::map<std::string, Field, std::less<>> fields;
  Field other;          // for every key that is not in `fields`
  bool atomic = false;  // replaced as a whole

  // A manifest sets one of these keys, and the others must be removed (retainKeys, unions).
  std::vector<std::string> choices;
  bool all_are_choices = false;  // every key but "name"
  // A member that is only allowed with one value of the field "type".
  std::string dependent;
  std::string dependent_on_type;
  // An object in which `variant_key` is true has the schema `variant`.
  std::string variant_key;
  const Schema* variant = nullptr;

  const Schema& For(const Json& object) const;
  const Field& Of(std::string_view key) const {
    const auto found = fields.find(key);
    return found == fields.end() ? other : found->second;
  }
  bool IsChoice(std::string_view key) const;
  // Returns true if `object` has a type with which `dependent` is not allowed.
  bool IsOfOtherType(const Json& object) const;
};

// Returns the schema of an object {metadata, spec}: a Deployment or a StatefulSet, whose fields do not conflict.
const Schema& WorkloadSchema();
// Returns the schema of {metadata, spec} of a Service. The caller of a merge handles the ports itself (service.h).
const Schema& ServiceSchema();
// Returns the schema of unknown values.
const Schema& UnknownSchema();

// Returns true if an empty object has a meaning at this key (`emptyDir: {}`).
bool EmptyObjectCounts(std::string_view key);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_SCHEMA_H_
