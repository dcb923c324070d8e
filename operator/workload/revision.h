// Reads and writes the content of a revision, and makes its name.
#ifndef OPERATOR_WORKLOAD_REVISION_H_
#define OPERATOR_WORKLOAD_REVISION_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "operator/api/object.h"
#include "operator/api/yurtappdaemon.h"
#include "operator/base/error.h"
#include "operator/workload/overrides.h"

namespace yad {

// The versioned part of a spec: workload template, Service template and overrides.
struct RevisionContent {
  WorkloadKind kind = WorkloadKind::kDeployment;
  Json workload_template;        // {metadata, spec} without nulls
  Json service_template;         // {metadata, spec} without nulls; null if the spec has no Service template
  Json overrides;                // an array
  OverrideIndex override_index;  // of `overrides`
  // The canonical encoding of the content, without nulls, empty objects and values that equal the server's defaults.
  // Contents with equal digests are the same revision, even if a webhook has set defaults in one of them.
  std::string digest;
  bool of_openyurt = false;  // read from a ControllerRevision that OpenYurt wrote
};

// The imagePullPolicy of each container of a workload, by list and name ("containers/web"); "" if it is not set.
using PullPolicies = std::map<std::string, std::string>;
PullPolicies PullPoliciesOf(const Json& workload);
// Sets the pull policy of a container to the policy in `policies` if
// - the container has no pull policy, or
// - `policies` has Always, because some versions of OpenYurt wrote Always into every container.
//
// Returns true if a policy has changed.
bool KeepPullPolicies(const PullPolicies& policies, Json& workload);

RevisionContent ContentOf(const YurtAppDaemon& daemon);
// Parses `data` of a ControllerRevision of this operator or of OpenYurt
// ({"spec":{"workloadTemplate":{"$patch":"replace",…},"serviceTemplate":{…},"overrides":[…]}}). Fails with kDecode if
// there is no workload template.
Result<RevisionContent> ContentOf(const Json& controller_revision);

// Returns the images of a revision, separated by commas and without duplicates: first the images of its containers,
// then the images of its overrides.
std::string ImagesOf(const RevisionContent& content);

// Estimates the maximum size of a rendered workload, in bytes of JSON. Callers use it to limit memory.
std::size_t RenderedBytes(const RevisionContent& content);

// Returns true if both contents are the same revision. Ignores `imagePullPolicy: Always` in a revision that OpenYurt
// wrote, because OpenYurt's webhook added it to containers.
bool SameContent(const RevisionContent& wanted, const RevisionContent& revision);
// Returns `wanted` with the pull policies that OpenYurt wrote into `revision`. SameContent ignores this difference, but
// other pull policies would restart the pods.
RevisionContent WithPullPoliciesOf(const RevisionContent& revision, RevisionContent wanted);
// Returns the digest of the content without pull policies. Contents for which SameContent is true have equal digests.
std::string DigestWithoutPullPolicies(const RevisionContent& content);

// Returns the hash for the name of the revision, in the alphabet of safe_encode.h. It must be the same in all versions
// of the operator, because an upgrade must not rename revisions. It is FNV-1a of:
// - the canonical encoding, including values that equal the server's defaults (unlike RevisionContent::digest);
// - the collision count, if it is not 0.
std::string RevisionHash(const RevisionContent& content, std::int64_t collision_count);
// Returns the name of the revision, `<yurtappdaemon>-<hash>`. Truncates a long daemon name, so that the result has at
// most 253 characters.
std::string RevisionName(const std::string& daemon_name, const std::string& hash);

// Returns the ControllerRevision for a POST.
Json MakeControllerRevision(const YurtAppDaemon& daemon, const RevisionContent& content, const std::string& hash,
                            std::int64_t revision);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_REVISION_H_
