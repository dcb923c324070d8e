// Errors that an object already had before an update. They are only warnings, so that the user can change other fields.
// Pure.
#ifndef WEBHOOK_ADMISSION_KNOWN_ERRORS_H_
#define WEBHOOK_ADMISSION_KNOWN_ERRORS_H_

#include <string>
#include <vector>

#include "operator/api/field_error.h"

namespace yad {

// Returns "spec.a[].b" for "spec.a[12].b", because an update may move the elements of a list.
std::string WithoutIndices(const std::string& path);

struct SortedErrors {
  FieldErrors fresh;
  FieldErrors known;
};

// Sorts the errors `now` into known errors, which the old object also has, and fresh errors. An error is known if an
// old error has the same type and detail, and
// - the same path, even if the value differs, or
// - the same path except for an index of a list, and the same value.
//
// Each old error makes at most one new error known. If `now` is full (FieldErrors::full), it may lack some errors. If
// it also contains known errors, one more error is added to `fresh`, with the advice to fix the known errors first.
SortedErrors SortErrors(const FieldErrors& now, const FieldErrors& before);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_KNOWN_ERRORS_H_
