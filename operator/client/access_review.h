// Reads the permissions of the user of a client from the apiserver.
#ifndef OPERATOR_CLIENT_ACCESS_REVIEW_H_
#define OPERATOR_CLIENT_ACCESS_REVIEW_H_

#include <stop_token>
#include <string>

#include "operator/client/client.h"

namespace yad {

// Returns whether RBAC grants `verb` on the object to the user of the client. In `key`, "" is all namespaces, or all
// names. `subresource` is "" for the object itself.
Result<bool> IsAllowed(Client& client, const std::string& verb, const ResourceType& type, const ObjectKey& key,
                       const std::string& subresource = "", std::stop_token stop = {});

}  // namespace yad

#endif  // OPERATOR_CLIENT_ACCESS_REVIEW_H_
