// Faults that an object had before an update. They are warnings, so that the user can change something else. Pure.
#ifndef WEBHOOK_ADMISSION_KNOWN_FAULTS_H_
#define WEBHOOK_ADMISSION_KNOWN_FAULTS_H_

#include <string>
#include <vector>

#include "operator/api/field_error.h"

namespace yad {

// Returns "spec.a[].b" for "spec.a[12].b", because elements of a list may have moved.
std::string WithoutIndices(const std::string& path);

struct SortedFaults {
  FieldErrors fresh;
  FieldErrors known;
};

// Sorts the faults. A fault is known if the old object had one with the same type and detail at the same path, whatever
// the value, or with the same value at another place of the same list. Each old fault explains one new fault.
// FieldErrors keeps a limited number of faults. If `now` is full and has known faults, one more fault in `fresh`
// reports that there are too many to compare.
SortedFaults SortFaults(const FieldErrors& now, const FieldErrors& before);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_KNOWN_FAULTS_H_
