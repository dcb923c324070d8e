// The rules by which StoredObject::Likeness compares objects.
#ifndef OPERATOR_RUNTIME_LIKENESS_H_
#define OPERATOR_RUNTIME_LIKENESS_H_

#include <string_view>
#include <vector>

namespace yad {

// How StoredObject::Likeness treats one member of an object.
struct LikenessRule {
  enum What {
    kInside,   // the member is an object with rules of its own
    kLeftOut,  // the member is skipped
    kNamed,    // a string that equals the object's name counts as equal for all objects
  };
  std::string_view key;
  What what = kInside;
  std::vector<LikenessRule> inside;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_LIKENESS_H_
