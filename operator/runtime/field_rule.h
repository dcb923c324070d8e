// The rules by which StoredObject::NormalizedDigest compares objects.
#ifndef OPERATOR_RUNTIME_FIELD_RULE_H_
#define OPERATOR_RUNTIME_FIELD_RULE_H_

#include <string_view>
#include <vector>

namespace yad {

// The treatment of one member of an object by StoredObject::NormalizedDigest.
struct FieldRule {
  enum Treatment {
    kDescend,         // the member is an object with rules of its own
    kIgnore,          // the member is skipped
    kSubstituteName,  // a string that equals the object's name counts as equal for all objects
  };
  std::string_view key;
  Treatment treatment = kDescend;
  std::vector<FieldRule> inside;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_FIELD_RULE_H_
