// Warnings about probable mistakes in a valid YurtAppDaemon.
#ifndef WEBHOOK_ADMISSION_WARNINGS_H_
#define WEBHOOK_ADMISSION_WARNINGS_H_

#include <string>
#include <vector>

#include "operator/api/yurtappdaemon.h"
#include "operator/client/client.h"
#include "webhook/admission/admission_stores.h"
#include "webhook/admission/deadline.h"

namespace yad {

// Returns warnings of one line each: `field: the problem, and the fix`. Warnings that need a cache are omitted until
// the cache has synced. Does not send requests. `before` is the object before an update; null for a new object.
// Thread-safe.
std::vector<std::string> WarningsFor(const YurtAppDaemon& daemon, const YurtAppDaemon* before,
                                     const AdmissionStores& stores);

// Returns a warning if a StatefulSet has no headless Service, because its pods then have no DNS names. Returns "" if no
// warning is needed, or if the response does not arrive in time. Sends at most one request. Thread-safe.
std::string ServiceWarning(const YurtAppDaemon& daemon, Client& client, Deadline& deadline);

// Returns a warning if an update sets annotation allow-removal to a token that does not allow a removal; "" otherwise.
std::string RemovalTokenWarning(const Json& object, const Json& old_object);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_WARNINGS_H_
