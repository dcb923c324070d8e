// The data of the page that the event streams do not contain.
#ifndef PLUGIN_DASHBOARD_QUERIES_H_
#define PLUGIN_DASHBOARD_QUERIES_H_

#include <string>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"

namespace yad {

// Returns the workload, the pods, the Events and the explanation of one pool. `pool` is the pool's entry in the event
// stream. A part that can't be read is noted in `errors`.
Json PoolDetails(Client& client, const ObjectKey& daemon, const Json& pool);

// Returns the revisions of a daemon, newest first.
Result<Json> RevisionHistory(Client& client, const ObjectKey& daemon);

// Returns the difference between two revisions, which are given by their names.
Result<Json> RevisionDiff(Client& client, const ObjectKey& daemon, const std::string& from, const std::string& to);

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_QUERIES_H_
