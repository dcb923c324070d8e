// The rules by which StoredObject::NormalizedDigest compares objects.
#ifndef OPERATOR_RUNTIME_FIELD_RULE_H_
#define OPERATOR_RUNTIME_FIELD_RULE_H_

#include <string_view>
#include <vector>

namespace yad {

// A rule for one member of an object.
struct FieldRule {
  enum Treatment {
    kDescend,         // the member is an object with rules of its own
    kIgnore,          // the member is skipped
    kSubstituteName,  // the value is not compared if it is the object's own name
  };
  std::string_view key;
  Treatment treatment = kDescend;
  std::vector<FieldRule> inside;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_FIELD_RULE_H_
