// Shortens the error of a failed write.
#ifndef OPERATOR_YURTAPPDAEMON_APPLY_SHORT_ERROR_H_
#define OPERATOR_YURTAPPDAEMON_APPLY_SHORT_ERROR_H_

#include "operator/base/error.h"

namespace yad {

// Returns a shortened copy of the error. Truncates the message to 4 KiB. Keeps only the reasons of the causes, without
// duplicates. A reconcile keeps the errors of all pools until its last write, so the errors of thousands of pools must
// be short.
Error ShortError(const Error& error);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_SHORT_ERROR_H_
