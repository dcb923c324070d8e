// Restores a revision in a spec. Pure.
#ifndef PLUGIN_COMMANDS_UNDO_H_
#define PLUGIN_COMMANDS_UNDO_H_

#include <cstdint>
#include <vector>

#include "operator/base/error.h"
#include "operator/workload/revision.h"
#include "plugin/commands/revisions.h"

namespace yad {

// Returns the revision that an undo restores. `number` is a revision number, or 0. 0 selects the newest revision that
// has not failed, from the previous revision backwards. If all of them have failed, 0 selects the previous revision.
// The previous revision is:
// - If the newest revision equals the spec: the revision before it.
// - Otherwise: the newest revision. The spec is then invalid, or the operator has not stored its revision yet.
Result<RevisionEntry> UndoTarget(const Json& daemon, const std::vector<RevisionEntry>& revisions, std::int64_t number);

// Replaces the workload template, Service template and overrides of `daemon` with those of the revision. Returns false
// if they are already equal. If the workload template of `daemon` has no selector, the restored template also has no
// selector, because spec.selector applies.
Result<bool> RestoreRevision(const RevisionContent& revision, Json& daemon);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_UNDO_H_
