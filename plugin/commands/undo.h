// Restores a revision in a spec. Pure.
#ifndef PLUGIN_COMMANDS_UNDO_H_
#define PLUGIN_COMMANDS_UNDO_H_

#include <cstdint>
#include <vector>

#include "operator/base/error.h"
#include "operator/workload/revision.h"
#include "plugin/commands/revisions.h"

namespace yad {

// Returns the revision with this number. As in kubectl rollout undo, 0 means the revision before the present one. If
// the newest revision does not equal the spec (the spec is invalid or new), 0 means the newest revision.
Result<RevisionEntry> UndoTarget(const Json& daemon, const std::vector<RevisionEntry>& revisions, std::int64_t number);

// Replaces the workload template, Service template and overrides of `daemon` with those of the revision. Returns false
// if they are already equal. If the present workload template has no selector, the new one gets none either, because
// spec.selector replaces it.
Result<bool> PutBack(const RevisionContent& revision, Json& daemon);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_UNDO_H_
