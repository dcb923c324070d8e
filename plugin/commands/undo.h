// Restores a revision in a spec. Pure.
#ifndef PLUGIN_COMMANDS_UNDO_H_
#define PLUGIN_COMMANDS_UNDO_H_

#include <cstdint>
#include <vector>

#include "operator/base/error.h"
#include "operator/workload/revision.h"
#include "plugin/commands/revisions.h"

namespace yad {

// Returns the revision that an undo restores. `number` is the number of the revision, or 0 for the newest revision that
// has not failed, among the previous one and those before it. If all of these have failed, 0 is the previous one:
// - If the newest revision equals the spec, the previous one is the revision before it.
// - Otherwise, the spec is invalid or the operator has not stored its revision yet. The previous one is then the newest
//   revision.
Result<RevisionEntry> UndoTarget(const Json& daemon, const std::vector<RevisionEntry>& revisions, std::int64_t number);

// Replaces the workload template, Service template and overrides of `daemon` with those of the revision. Returns false
// if they are already equal. If the workload template of `daemon` has no selector, the restored one gets none either,
// because spec.selector applies.
Result<bool> RestoreRevision(const RevisionContent& revision, Json& daemon);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_UNDO_H_
