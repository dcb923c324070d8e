// The ControllerRevisions of a YurtAppDaemon.
#ifndef PLUGIN_COMMANDS_REVISIONS_H_
#define PLUGIN_COMMANDS_REVISIONS_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "plugin/commands/object_reader.h"

namespace yad {

struct RevisionEntry {
  RevisionPtr revision;
  Json object;  // the ControllerRevision
};

// Returns the revisions in `objects` that belong to the YurtAppDaemon with this uid, in ascending order of their
// numbers. Omits ControllerRevisions that are not in the format of this operator.
std::vector<RevisionEntry> RevisionsAmong(std::vector<Json> objects, const std::string& uid);
// Reads the ControllerRevisions of the YurtAppDaemon's namespace, and selects its own with RevisionsAmong.
Result<std::vector<RevisionEntry>> ReadRevisions(ObjectReader& reader, const ObjectMeta& daemon);
Result<std::vector<RevisionEntry>> ReadRevisions(Client& client, const Json& daemon);

// Returns the revision with this number. If it does not exist, the error lists the existing numbers.
Result<RevisionEntry> FindRevision(const std::vector<RevisionEntry>& revisions, std::int64_t number);

// Returns the newest revision in `known` that has the content of the daemon's spec. If none has this content, returns
// the revision that the operator would create, with its name.
RevisionPtr RevisionOf(const YurtAppDaemon& daemon, const std::vector<RevisionPtr>& known);

// Returns the part of the spec that is stored in this revision.
Json SpecOf(const Revision& revision);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_REVISIONS_H_
