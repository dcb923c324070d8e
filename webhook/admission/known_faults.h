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

// Sorts the faults `now` into known ones, which the old object had too, and fresh ones. A fault is known if an old
// fault has the same type and detail, and
// - the same path, even if the value differs, or
// - the same path except for an index of a list, and the same value.
//
// Each old fault makes at most one new fault known. If `now` is full (FieldErrors::full), it may lack some faults. If
// it also contains known faults, `fresh` gets one more fault, with the advice to fix the known ones first.
SortedFaults SortFaults(const FieldErrors& now, const FieldErrors& before);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_KNOWN_FAULTS_H_
