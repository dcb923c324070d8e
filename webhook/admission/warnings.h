// Warnings about probable mistakes in a valid YurtAppDaemon.
#ifndef WEBHOOK_ADMISSION_WARNINGS_H_
#define WEBHOOK_ADMISSION_WARNINGS_H_

#include <string>
#include <vector>

#include "operator/api/yurtappdaemon.h"
#include "operator/client/client.h"
#include "operator/runtime/store.h"
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

// Returns a warning if the manifest of `kubectl apply` has a null in overrides[].patch that the object lacks, because
// client-side apply drops nulls. Returns "" if there is none, or if the manifest of `old_object` (null for a new
// object) has the same overrides.
std::string DroppedNullWarning(const Json& object, const Json& old_object);

// Returns a warning if an update sets annotation allow-removal to a token that does not allow a removal; "" otherwise.
std::string RemovalTokenWarning(const Json& object, const Json& old_object);

// The next functions are about rollouts (rollout_warnings.cc).

// Warns of probable mistakes in updateStrategy.rollingUpdate.groups: a group without pools, a pool that does not exist,
// and a pool that is already in an earlier group. Also warns of prefetch without groups.
void WarnOfGroups(const YurtAppDaemon& daemon, const std::vector<ObjectPtr>& pools, std::vector<std::string>& out);

// Warns of update windows whose time zone can't be read on this system. These windows stay closed.
void WarnOfTimeZones(const YurtAppDaemon& daemon, std::vector<std::string>& out);

// Warns of selected NodePools with a hold or with update windows if the strategy is All or OnDelete, because these
// strategies ignore both. Warns of windows only if the strategy's type is new. `before` is null for a new object.
void WarnOfIgnoredGates(const YurtAppDaemon& daemon, const YurtAppDaemon* before, const std::vector<ObjectPtr>& pools,
                        std::vector<std::string>& out);

// Warns of an edit that rolls out a template again after it has failed and was rolled back. `before` is null for a new
// object. There are two such edits:
// - The edit changes only replicas. It makes a new revision, which has the same template.
// - The edit changes the strategy to All, and does not fix the template. All does not exclude failed revisions.
void WarnOfFailedTemplate(const YurtAppDaemon& daemon, const YurtAppDaemon* before, std::vector<std::string>& out);

// Returns a warning if a request sets the annotation `approve` and an entry does not approve a group; "" otherwise.
// `old_object` is null for a new object.
std::string ApprovalWarning(const Json& object, const Json& old_object);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_WARNINGS_H_
