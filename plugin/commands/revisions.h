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

// Returns the revisions of the YurtAppDaemon with this uid among these ControllerRevisions, in ascending order of their
// numbers. Omits objects whose data is not a revision of this operator.
std::vector<RevisionEntry> RevisionsAmong(std::vector<Json> objects, const std::string& uid);
// Reads the ControllerRevisions of the namespace, and returns those of the YurtAppDaemon as RevisionsAmong does.
Result<std::vector<RevisionEntry>> ReadRevisions(Client& client, const std::string& ns, const std::string& uid);
Result<std::vector<RevisionEntry>> ReadRevisions(ObjectReader& reader, const std::string& ns, const std::string& uid);

// Returns the revision with this number. If there is none, the error names the existing numbers.
Result<RevisionEntry> FindRevision(const std::vector<RevisionEntry>& revisions, std::int64_t number);

// Returns the part of the spec that this revision contains.
Json SpecOf(const Revision& revision);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_REVISIONS_H_
