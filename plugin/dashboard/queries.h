// Reads the data that the page requests when a panel opens. The event streams do not contain it.
#ifndef PLUGIN_DASHBOARD_QUERIES_H_
#define PLUGIN_DASHBOARD_QUERIES_H_

#include <string>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"

namespace yad {

// Returns the workload, the pods, the Events and the explanation of one pool, and the user's permissions on it. `pool`
// is the pool's entry in the event stream. If a part can't be read, the result has a message in `errors`. Fails if the
// apiserver does not respond.
Result<Json> PoolDetails(Client& client, const ObjectKey& daemon, const Json& pool);

// Returns a JSON object with one boolean for each action of the page: true if the user may perform the action,
// according to SelfSubjectAccessReviews.
// - Members `freeze` and `unfreeze` are false if `operator_ns` is "", because the namespace is then unknown.
// - The members for actions on a daemon are false if `daemon` has no name.
Result<Json> ReadPermissions(Client& client, const ObjectKey& daemon, const std::string& operator_ns);

// Returns the revisions of a daemon, newest first.
Result<Json> ListRevisions(Client& client, const ObjectKey& daemon);

// Returns the difference between the revisions with these two names.
Result<Json> RevisionDiff(Client& client, const ObjectKey& daemon, const std::string& from, const std::string& to);

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_QUERIES_H_
