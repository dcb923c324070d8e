// Faults that an object had before it was changed: whoever changes something else is warned, and not refused. Pure.
#ifndef WEBHOOK_KNOWN_FAULTS_H_
#define WEBHOOK_KNOWN_FAULTS_H_

#include <string>
#include <vector>

#include "operator/api/field_error.h"

namespace yad {

// "spec.a[].b" of "spec.a[12].b": what stands in a list may have moved.
std::string WithoutIndices(const std::string& path);

struct SortedFaults {
  FieldErrors fresh;
  FieldErrors known;
};

// A fault is known if the old object had the same (type and detail) at the same path, whatever the value; or, at
// another place of the same list, with the same value. Each old fault explains one. Where there are more
// than are kept, not all can be known.
SortedFaults SortFaults(const FieldErrors& now, const FieldErrors& before);

}  // namespace yad

#endif  // WEBHOOK_KNOWN_FAULTS_H_
