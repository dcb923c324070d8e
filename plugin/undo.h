// Putting a revision back into a spec. Pure.
#ifndef PLUGIN_UNDO_H_
#define PLUGIN_UNDO_H_

#include "operator/base/error.h"
#include "operator/workload/revision.h"

namespace yad {

// Replaces workload template, Service template and overrides of `daemon` by the revision's. False: they are the same
// already. What the operator fills in (the template's selector) is left out where the spec does without it.
Result<bool> PutBack(const RevisionContent& revision, Json& daemon);

}  // namespace yad

#endif  // PLUGIN_UNDO_H_
