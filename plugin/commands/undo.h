// Restores a revision in a spec. Pure.
#ifndef PLUGIN_COMMANDS_UNDO_H_
#define PLUGIN_COMMANDS_UNDO_H_

#include <cstdint>
#include <vector>

#include "operator/base/error.h"
#include "operator/workload/revision.h"
#include "plugin/commands/revisions.h"

namespace yad {

// Returns the revision with this number. For 0, returns the revision before that of the spec, as kubectl rollout undo
// does. If the spec has no revision, because it is invalid or the operator has not observed it yet, returns the newest
// revision.
Result<RevisionEntry> UndoTarget(const Json& daemon, const std::vector<RevisionEntry>& revisions, std::int64_t number);

// Replaces the workload template, Service template and overrides of `daemon` with those of the revision. Returns false
// if they are already equal. If the spec does not contain the template's selector, which the operator can set, the
// result does not contain it either.
Result<bool> PutBack(const RevisionContent& revision, Json& daemon);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_UNDO_H_
