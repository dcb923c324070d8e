// What is legal and probably wrong in a YurtAppDaemon.
#ifndef WEBHOOK_WARNINGS_H_
#define WEBHOOK_WARNINGS_H_

#include <string>
#include <vector>

#include "operator/api/yurtappdaemon.h"
#include "operator/client/client.h"
#include "webhook/admission_handler.h"
#include "webhook/deadline.h"

namespace yad {

// Each is one line, `field: what, and what to do about it`. What a cache that is not synced yet would have to tell is
// left out. Sends no request. `before`: the object before an update, else null. Thread-safe.
std::vector<std::string> WarningsFor(const YurtAppDaemon& daemon, const YurtAppDaemon* before,
                                     const AdmissionStores& stores);

// About the headless Service of a StatefulSet; "": nothing to warn of, or nobody knows in time. At most one
// request. Thread-safe.
std::string ServiceWarning(const YurtAppDaemon& daemon, Client& client, Deadline& deadline);

// About annotation allow-removal, where an update sets it to a token that allows nothing; "": nothing to warn of.
std::string RemovalTokenWarning(const Json& object, const Json& old_object);

}  // namespace yad

#endif  // WEBHOOK_WARNINGS_H_
