// What a revision holds, and how it is named. Pure.
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

// The part of a spec that is history: workload template, Service template and overrides.
struct RevisionContent {
  WorkloadKind kind = WorkloadKind::kDeployment;
  Json workload_template;        // {metadata, spec}, selector defaulted, nulls dropped
  Json service_template;         // {metadata, spec}, nulls dropped; null: there is none
  Json overrides;                // array
  OverrideIndex override_index;  // of `overrides`
  // Canonical text of the content without nulls, empty objects and values that equal the server's defaults. Equal
  // digests are the same revision, with or without a webhook, ours or OpenYurt's.
  std::string digest;
  bool of_openyurt = false;  // read from a ControllerRevision that OpenYurt wrote
};

// imagePullPolicy of each container, by list and name, of an object {metadata, spec}; "" where it names none.
using PullPolicies = std::map<std::string, std::string>;
PullPolicies PullPoliciesOf(const Json& workload);
// Puts back the policies that OpenYurt's webhook filled in (where the container names none) or forced (Always).
// Whether that changed anything.
bool KeepPullPolicies(const PullPolicies& policies, Json& workload);

RevisionContent ContentOf(const YurtAppDaemon& daemon);
// Reads `data` of a ControllerRevision, ours or OpenYurt's
// ({"spec":{"workloadTemplate":{"$patch":"replace",…},"serviceTemplate":{…},"overrides":[…]}}). kDecode where it is
// none.
Result<RevisionContent> ContentOf(const Json& controller_revision);

// About how many bytes of JSON a workload of it has at most, for bounds on memory.
std::size_t RenderedBytes(const RevisionContent& content);

// Whether both are the same revision. OpenYurt's webhook put `imagePullPolicy: Always` into each container that named
// none, in some versions into every container: against a revision that OpenYurt wrote such a policy is no difference.
bool SameContent(const RevisionContent& wanted, const RevisionContent& revision);
// `wanted` with the pull policies that SameContent ignores as `revision` has them: a rendering with others would
// restart pods.
RevisionContent WithPullPoliciesOf(const RevisionContent& revision, RevisionContent wanted);
// The digest of the content without pull policies: equal for all contents that SameContent may find the same.
std::string DigestWithoutPullPolicies(const RevisionContent& content);

// The hash that names the revision: FNV-1a over the content's canonical text and, where it is not 0, the collision
// count; Kubernetes' safe alphabet. The text has the values that equal the server's defaults, as in the first version
// of this operator: an upgrade gives no revision another name.
std::string RevisionHash(const RevisionContent& content, std::int64_t collision_count);
// `<yad>-<hash>`; a long daemon name is cut so that 253 characters hold it.
std::string RevisionName(const std::string& daemon_name, const std::string& hash);

// The ControllerRevision to POST.
Json MakeControllerRevision(const YurtAppDaemon& daemon, const RevisionContent& content, const std::string& hash,
                            std::int64_t revision);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_REVISION_H_
