// Faults that an object had before an update. They are only warnings, so that the user can change other fields. Pure.
#ifndef WEBHOOK_ADMISSION_KNOWN_FAULTS_H_
#define WEBHOOK_ADMISSION_KNOWN_FAULTS_H_

#include <string>
#include <vector>

#include "operator/api/field_error.h"

namespace yad {

// Returns "spec.a[].b" for "spec.a[12].b", because an update may move the elements of a list.
std::string WithoutIndices(const std::string& path);

struct SortedFaults {
  FieldErrors fresh;
  FieldErrors known;
};

// Sorts the faults. A fault is known if the old object had a fault of the same type and detail, either at the same path
// with any value, or with the same value at another place of the same list. Each old fault makes at most one new fault
// known. FieldErrors keeps a limited number of faults. If `now` has reached that number and has known faults, one more
// fault in `fresh` reports that there are too many to compare.
SortedFaults SortFaults(const FieldErrors& now, const FieldErrors& before);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_KNOWN_FAULTS_H_
