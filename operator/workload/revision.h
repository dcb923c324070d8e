// The content and the name of a revision. Pure.
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
  Json workload_template;        // {metadata, spec} without nulls; the selector is spec.selector
  Json service_template;         // {metadata, spec} without nulls; null if there is none
  Json overrides;                // an array
  OverrideIndex override_index;  // of `overrides`
  // The canonical text of the content, without nulls, empty objects and values that equal the server's defaults.
  // Contents with equal digests are the same revision, even if a webhook (of this operator or of OpenYurt) has set
  // defaults in one of them.
  std::string digest;
  bool of_openyurt = false;  // read from a ControllerRevision that OpenYurt wrote
};

// The imagePullPolicy of each container in an object {metadata, spec}, by list and name, such as "containers/web"; ""
// if not set.
using PullPolicies = std::map<std::string, std::string>;
PullPolicies PullPoliciesOf(const Json& workload);
// Sets the policy in `policies` for each container that has none. A policy Always in `policies` also replaces any other
// policy, because OpenYurt's webhook forced Always. Returns true if a policy has changed.
bool KeepPullPolicies(const PullPolicies& policies, Json& workload);

RevisionContent ContentOf(const YurtAppDaemon& daemon);
// Reads `data` of a ControllerRevision of this operator or of OpenYurt
// ({"spec":{"workloadTemplate":{"$patch":"replace",…},"serviceTemplate":{…},"overrides":[…]}}). Fails with kDecode if
// `data` has no workload template.
Result<RevisionContent> ContentOf(const Json& controller_revision);

// Returns an estimate of the maximum size of a rendered workload, in bytes of JSON, for limits on memory.
std::size_t RenderedBytes(const RevisionContent& content);

// Returns true if both are the same revision. OpenYurt's webhook set `imagePullPolicy: Always` in each container
// without a policy; some versions set it in every container. In a revision that OpenYurt wrote, such a policy does not
// count as a difference.
bool SameContent(const RevisionContent& wanted, const RevisionContent& revision);
// Returns `wanted` with those pull policies of `revision` that SameContent ignores. A rendering with other policies
// would restart pods.
RevisionContent WithPullPoliciesOf(const RevisionContent& revision, RevisionContent wanted);
// Returns the digest of the content without pull policies. If SameContent is true for two contents, their digests are
// equal.
std::string DigestWithoutPullPolicies(const RevisionContent& content);

// Returns the hash in the revision's name, in Kubernetes' safe alphabet: FNV-1a over the content's canonical text, and
// over the collision count if it is not 0. The text includes values that equal the server's defaults, as in the first
// version of this operator, so that an upgrade renames no revision.
std::string RevisionHash(const RevisionContent& content, std::int64_t collision_count);
// Returns `<yad>-<hash>`. A long daemon name is truncated, so that the result has at most 253 characters.
std::string RevisionName(const std::string& daemon_name, const std::string& hash);

// Returns the ControllerRevision for a POST.
Json MakeControllerRevision(const YurtAppDaemon& daemon, const RevisionContent& content, const std::string& hash,
                            std::int64_t revision);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_REVISION_H_
