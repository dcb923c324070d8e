// What the merge has to know of the types of apps/v1 and core/v1: list keys, atomic structs, choices, quantities, and
// which values an apiserver drops or fills in. Facts from the tags (patchMergeKey, listMapKey, mapType, omitempty) and
// defaults of k8s.io/api and k8s.io/kubernetes v1.34. What is not listed here (a field that is newer than this
// operator) is merged as a map, its lists are atomic, its values are taken literally.
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
    // 0 and false are not stored (omitempty on a plain number or bool): the same as absent.
    kZeroIsAbsent = 2,
    // The server puts its default in the place of 0 or "": a manifest that says so says nothing.
    kZeroIsDefaulted = 4,
    // "" is a value (a pointer to a string, an entry of a map), and not the same as absent.
    kEmptyCounts = 8,
    // Absent in the manifest means that somebody else owns it: it is never taken away.
    kHandedOver = 16,
    // Holds entries of several owners: where the manifest no longer has it, ours go and the others stay. Keyed lists
    // always are.
    kShared = 32,
    // An object is a value however little it says: it chooses ("fc: {readOnly: false}" is refused, no absent volume).
    kChooses = 64,
  };

  const Schema* schema = nullptr;  // of the object or of the list's items; nullptr: unknown
  std::vector<std::string> keys;   // of a keyed list ("metadata.name" leads into the item); none: an atomic list
  unsigned flags = 0;
  Json default_value;             // what the server fills in; null: nothing, or not always the same
  std::string default_from = {};  // the server fills in the value of this sibling ("": it does not)

  bool Has(Flag flag) const { return (flags & flag) != 0; }
  bool shared() const { return Has(kShared) || !keys.empty(); }
  const Schema& SchemaOrUnknown() const;
};

struct Schema {
  std::map<std::string, Field, std::less<>> fields;
  Field other;          // every key that is not in `fields`
  bool atomic = false;  // replaced as a whole

  // Of these keys a manifest sets one, and the others must go (retainKeys, unions).
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
  // Whether `object` names a type with which `dependent` is not allowed.
  bool IsOfOtherType(const Json& object) const;
};

// Of an object {metadata, spec}, a Deployment or a StatefulSet (their fields do not contradict each other).
const Schema& WorkloadSchema();
// Of {metadata, spec} of a Service. Who merges one looks after its ports (service.h).
const Schema& ServiceSchema();
// Of what is not known.
const Schema& UnknownSchema();

// Whether an empty object says something at this key (`emptyDir: {}`).
bool EmptyObjectCounts(std::string_view key);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_SCHEMA_H_
