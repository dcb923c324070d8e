// Describes the fields of apps/v1 and core/v1 that a merge must treat specially:
// - list keys, atomic structs and unions
// - quantities
// - values that an apiserver drops or sets
//
// Follows the tags (patchMergeKey, listMapKey, mapType, omitempty) and the defaults of k8s.io/api and k8s.io/kubernetes
// v1.34. A field that is not listed, such as a newer field, is merged as a map. Its lists are replaced as a whole, and
// its values are compared literally.
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
    // 0 and false are equal to an absent value, because the apiserver does not store them (omitempty).
    kZeroIsAbsent = 2,
    // 0 and "" are equal to an absent value, because the server replaces them with its default.
    kZeroIsDefaulted = 4,
    // "" is not equal to an absent value (a pointer to a string, or an entry of a map).
    kEmptyCounts = 8,
    // The merge never removes the field, because another owner may set a field that the manifest does not set.
    kNeverRemoved = 16,
    // Several owners may add entries to the field. If the manifest no longer has the field, only the operator's entries
    // are removed. Keyed lists are always shared.
    kShared = 32,
    // An object at this key is not equal to an absent value, even if none of its members has an effect. Its presence
    // chooses a member of a union. Example: an apiserver rejects the volume "fc: {readOnly: false}".
    kPresenceCounts = 64,
  };

  const Schema* schema = nullptr;  // of the object or of the list's items; nullptr: unknown
  std::vector<std::string> keys;  // keys of a keyed list ("metadata.name" is a path in the item); empty: an atomic list
  unsigned flags = 0;
  Json default_value;             // the server's default; null if the field has no default, or no constant default
  std::string default_from = {};  // the sibling whose value is the server's default; "": none

  bool Has(Flag flag) const { return (flags & flag) != 0; }
  bool shared() const { return Has(kShared) || !keys.empty(); }
  const Schema& SchemaOrUnknown() const;
};

struct Schema {
  std::map<std::string, Field, std::less<>> fields;
  Field other;          // for all keys that are not in `fields`
  bool atomic = false;  // replaced as a whole

  // The members of a union. If a manifest sets one of these keys, the others must be removed (retainKeys).
  std::vector<std::string> choices;
  bool all_are_choices = false;  // all keys except "name" are choices
  // The member that the server sets, as an empty object, if no choice is set. Example: emptyDir in a volume.
  std::string default_choice;
  // The name of a member that is allowed only if the field "type" has the value `dependent_on_type`. Example:
  // rollingUpdate, which requires type RollingUpdate.
  std::string dependent;
  std::string dependent_on_type;
  // The name of a field that selects a variant. If it is true in an object, the schema of the object is `variant`.
  // Example: hostNetwork.
  std::string variant_key;
  const Schema* variant = nullptr;

  const Schema& For(const Json& object) const;
  const Field& Of(std::string_view key) const {
    const auto found = fields.find(key);
    return found == fields.end() ? other : found->second;
  }
  bool IsChoice(std::string_view key) const;
  // Returns true if `object` has a "type" that does not allow the member `dependent`.
  bool IsOfOtherType(const Json& object) const;
};

// Returns the schema of {metadata, spec} of both Deployments and StatefulSets. Their fields do not conflict.
const Schema& WorkloadSchema();
// Returns the schema of {metadata, spec} of a Service. It does not describe how to merge ports; see MergeService.
const Schema& ServiceSchema();
// Returns the schema of unknown values.
const Schema& UnknownSchema();

// Returns true if an empty object at this key is not equal to an absent value (`emptyDir: {}`).
bool EmptyObjectCounts(std::string_view key);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_SCHEMA_H_
