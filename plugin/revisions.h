// A YurtAppDaemon's ControllerRevisions.
#ifndef PLUGIN_REVISIONS_H_
#define PLUGIN_REVISIONS_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"
#include "operator/yurtappdaemon/snapshot.h"

namespace yad {

struct RevisionEntry {
  RevisionPtr revision;
  Json object;  // the ControllerRevision
};

// By rising number. Those whose data is no revision of ours are left out.
Result<std::vector<RevisionEntry>> ReadRevisions(Client& client, const std::string& ns, const std::string& uid);

// The one with this number. An Error that names those that there are.
Result<RevisionEntry> FindRevision(const std::vector<RevisionEntry>& revisions, std::int64_t number);

}  // namespace yad

#endif  // PLUGIN_REVISIONS_H_
