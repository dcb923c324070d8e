// Restores a revision in a spec. Pure.
#ifndef PLUGIN_COMMANDS_UNDO_H_
#define PLUGIN_COMMANDS_UNDO_H_

#include <cstdint>
#include <vector>

#include "operator/base/error.h"
#include "operator/workload/revision.h"
#include "plugin/commands/revisions.h"

namespace yad {

// Returns the revision to restore: the one with that number; for 0, the one before that of the spec, as in kubectl
// rollout undo. If the spec has no revision, because it is invalid or the operator has not observed it yet, that is the
// last one.
Result<RevisionEntry> UndoTarget(const Json& daemon, const std::vector<RevisionEntry>& revisions, std::int64_t number);

// Replaces the workload template, Service template and overrides of `daemon` by those of the revision. Returns false if
// they are equal already. The template's selector, which the operator fills in, is left out if the spec does not have
// one.
Result<bool> PutBack(const RevisionContent& revision, Json& daemon);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_UNDO_H_
