// From a revision and a pool to the pool's workload. Pure.
#ifndef OPERATOR_WORKLOAD_RENDER_H_
#define OPERATOR_WORKLOAD_RENDER_H_

#include <string>
#include <vector>

#include "operator/api/nodepool.h"
#include "operator/api/object.h"
#include "operator/api/yurtappdaemon.h"
#include "operator/base/error.h"
#include "operator/workload/revision.h"

namespace yad {

// What, beside the revision, decided how a workload was rendered. Kept on the workload in annotation rendered-from as
// compact JSON,
// {"rules":1,"tolerations":[{"key":…,"effect":…}],"overrides":[0,2]}, so that it can be rendered again when the pool
// has changed.
struct RenderInputs {
  // The version of the rendering rules. 0: OpenYurt's (nodeSelector replaced, required node affinity dropped, the
  // selector's labels on the workload too, revision label in the pod template too, tolerations repeated); 1: ours,
  // below.
  int rules = 1;
  std::vector<Taint> tolerations;
  std::vector<int> overrides;  // indices of the entries of the revision that apply to the pool
  // Of rules 0, from the live pod template and in no annotation. They stay until the pod template has to change for
  // another reason.
  std::string pod_revision;    // kRevisionLabel; "": the revision's
  PullPolicies pull_policies;  // OpenYurt forced Always

  // Renders by the rules that made another workload of the pool.
  void KeepRulesOf(const RenderInputs& made) {
    rules = made.rules;
    pod_revision = made.pod_revision;
    pull_policies = made.pull_policies;
  }
  bool operator==(const RenderInputs&) const = default;
  std::string ToAnnotation() const;
};

// The inputs as they are for this pool now.
RenderInputs InputsFor(const RevisionContent& revision, const NodePool& pool);
// From a workload's annotation; rules 0 where it is absent. kDecode where it is malformed.
Result<RenderInputs> ParseRenderInputs(const std::string& annotation);

// `<yad>-<pool>-<hash>`; dots become dashes; at most 63 characters for a Deployment and 52 for a StatefulSet. The hash
// is 5 characters from FNV-1a over uid and pool name. In a longer name the middle is cut, and the hash has 10
// characters.
std::string WorkloadName(const std::string& daemon_name, const std::string& daemon_uid, const std::string& pool,
                         WorkloadKind kind);
// The name that older versions gave: the hash has 5 characters in a name whose middle is cut, too.
std::string NameOfOlderVersion(const std::string& daemon_name, const std::string& daemon_uid, const std::string& pool,
                               WorkloadKind kind);
// Whether a daemon of this name and any uid may have given the workload of the pool that name, in any version of this
// operator or as OpenYurt generates it.
bool IsNamedFor(const std::string& workload_name, const std::string& daemon_name, const std::string& pool,
                WorkloadKind kind);

// The value of kRevisionLabel: the revision's name, or its hash alone where the name is no label value.
std::string RevisionLabelValue(const std::string& revision_name, const std::string& revision_hash);

// What we own of the workload: metadata.labels (but kRevisionLabel) and .annotations (template's, ref-nodepool; not
// rendered-from), and spec. No name, no owner. Under rules 0 kRevisionLabel stands in the pod template. Labels,
// annotations: the template's plus pool-name / ref-nodepool. Selector: the template's plus pool-name. Pod template:
// labels plus pool-name, nodeSelector plus kNodePoolLabel, one toleration per taint {key, operator: Exists, effect}
// that the template does not have already. kInvalid where an override does not apply, or makes more than
// kMaxRenderedText.
Result<Json> Render(const RevisionContent& revision, const RenderInputs& inputs, const std::string& pool,
                    const std::string& revision_label);

// The whole object to POST: Render's result with apiVersion, kind, name, namespace, ownerReference (controller,
// blockOwnerDeletion), kRevisionLabel and kRenderedFromAnnotation.
Json CompleteWorkload(Json rendered, const YurtAppDaemon& daemon, const std::string& name, const RenderInputs& inputs,
                      const std::string& revision_label);

// How two renderings of one pool differ, the worst last; kServiceOnly: nothing of the workload (but replicas), see
// service.h.
enum class Difference { kNone, kReplicasOnly, kServiceOnly, kWithoutPods, kPodTemplate };
Difference Compare(const Json& rendered_a, const Json& rendered_b);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_RENDER_H_
