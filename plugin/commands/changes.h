// Changes of a YurtAppDaemon: approves groups of a rollout that wait for a user's approval, and restores a revision.
// Pure.
#ifndef PLUGIN_COMMANDS_CHANGES_H_
#define PLUGIN_COMMANDS_CHANGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/workload/revision.h"
#include "plugin/commands/revisions.h"

namespace yad {

// Adds an entry "<status.updateRevision>/<group>" for each group to annotation apps.openyurt.io/approve, and removes
// the entries of other revisions.
// - `approved_before` is set to the groups that already had an entry. If all groups had an entry, returns false and
//   changes nothing.
// - Fails if a group does not have approval Manual, or if the operator has not observed the newest spec yet.
// - Fails if `wanted` is not "" and not status.updateRevision, because the user has seen another revision.
Result<bool> Approve(const std::vector<std::string>& groups, const std::string& wanted, Json& daemon,
                     std::vector<std::string>& approved_before);

// Returns the names of the groups with approval Manual, in the order of the spec.
std::vector<std::string> ManualGroups(const Json& daemon);

// Returns the revision that an undo restores. If `number` is not 0, this is the revision with this number. If it is 0:
// - If condition Progressing is False, the previous revision may have failed too. The result is the revision on which
//   most pools are Ready, except the revision of the spec. If no pool is Ready, the result is status.currentRevision.
// - Otherwise, or if the history lacks this revision, the result is the newest revision that is not marked as failed,
//   beginning with the previous revision. If all of them are marked, the result is the previous revision.
//
// If the newest revision equals the spec, the previous revision is the revision before it. Otherwise, it is the newest
// revision: the spec is invalid, or the operator has not stored the revision of the spec yet.
Result<RevisionEntry> UndoTarget(const Json& daemon, const std::vector<RevisionEntry>& revisions, std::int64_t number);

// Replaces the workload template, Service template and overrides of `daemon` with those of the revision. Returns false
// if they are already equal. If the workload template of `daemon` has no selector, the restored template also has no
// selector, because spec.selector applies.
Result<bool> RestoreRevision(const RevisionContent& revision, Json& daemon);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_CHANGES_H_
