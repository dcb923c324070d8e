// The rules by which two objects count as alike.
#ifndef OPERATOR_RUNTIME_LIKENESS_H_
#define OPERATOR_RUNTIME_LIKENESS_H_

#include <string_view>
#include <vector>

namespace yad {

// How StoredObject::Likeness treats one member of an object.
struct LikenessRule {
  enum What {
    kInside,   // has rules of its own
    kLeftOut,  // is skipped
    kNamed,    // a string equal to the object's name counts as equal for all objects
  };
  std::string_view key;
  What what = kInside;
  std::vector<LikenessRule> inside;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_LIKENESS_H_
