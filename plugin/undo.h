// Putting a revision back into a spec. Pure.
#ifndef PLUGIN_UNDO_H_
#define PLUGIN_UNDO_H_

#include <cstdint>
#include <vector>

#include "operator/base/error.h"
#include "operator/workload/revision.h"
#include "plugin/revisions.h"

namespace yad {

// The revision to go back to: the one with that number; 0: the one before what the spec says, as kubectl rollout undo
// has it. That is the last one where the spec was never made a revision, because it is invalid or nobody has looked
// yet.
Result<RevisionEntry> UndoTarget(const Json& daemon, const std::vector<RevisionEntry>& revisions, std::int64_t number);

// Replaces workload template, Service template and overrides of `daemon` by the revision's. False: they are the same
// already. What the operator fills in (the template's selector) is left out where the spec does without it.
Result<bool> PutBack(const RevisionContent& revision, Json& daemon);

}  // namespace yad

#endif  // PLUGIN_UNDO_H_
