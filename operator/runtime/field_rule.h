// Rules for the comparison of two objects by a digest (StoredObject::NormalizedDigest): which fields are omitted, and
// which values count as equal.
#ifndef OPERATOR_RUNTIME_FIELD_RULE_H_
#define OPERATOR_RUNTIME_FIELD_RULE_H_

#include <string_view>
#include <vector>

namespace yad {

// How NormalizedDigest treats one member of an object.
struct FieldRule {
  enum Treatment {
    kDescend,         // `inside` has rules for the members of this member
    kIgnore,          // the member is not part of the digest
    kSubstituteName,  // if the value is the object's own name, it is not part of the digest
  };
  std::string_view key;
  Treatment treatment = kDescend;
  std::vector<FieldRule> inside;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_FIELD_RULE_H_
