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

// Sorts the faults `now` into known ones, which the old object had too, and fresh ones. An old fault is the same fault
// if its type, detail and path are equal; the value may differ. If only the index in a list differs, the value must be
// equal too. Each old fault is compared with one new fault only.
//
// FieldErrors keeps a limited number of faults, so a full list may lack a fresh one. If `now` is full and contains
// known faults, `fresh` gets one more fault, with the advice to fix the known ones first.
SortedFaults SortFaults(const FieldErrors& now, const FieldErrors& before);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_KNOWN_FAULTS_H_
