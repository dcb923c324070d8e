// Rendering of a revision's workload for a pool. Pure.
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

// The inputs of a rendering besides the revision. The workload has them as compact JSON in annotation rendered-from,
//   {"overrides":[0,2],"rules":1,"tolerations":[{"effect":…,"key":…}]},
// so that the operator can render the same workload again after the pool has changed.
struct RenderInputs {
  // The version of the rendering rules. 0 are OpenYurt's rules: nodeSelector is replaced, required node affinity is
  // dropped, the workload also has the selector's labels, the pod template also has the revision label, and tolerations
  // are repeated. 1 are this operator's rules, see Render.
  int rules = 1;
  std::vector<Taint> tolerations;
  std::vector<int> overrides;  // indices of the revision's overrides that apply to the pool
  // The next two belong to rules 0. They come from the live pod template and are not in the annotation. They stay until
  // the pod template has to change for another reason.
  std::string pod_revision;    // kRevisionLabel; "": the revision's
  PullPolicies pull_policies;  // OpenYurt forced Always

  // Selects the rules that rendered another workload of the pool.
  void KeepRulesOf(const RenderInputs& made) {
    rules = made.rules;
    pod_revision = made.pod_revision;
    pull_policies = made.pull_policies;
  }
  bool operator==(const RenderInputs&) const = default;
  std::string ToAnnotation() const;
};

// Returns the current inputs for this pool.
RenderInputs InputsFor(const RevisionContent& revision, const NodePool& pool);
// Parses a workload's annotation. An absent one means rules 0. Fails with kDecode if the annotation is malformed.
Result<RenderInputs> ParseRenderInputs(const std::string& annotation);

// Returns `<yad>-<pool>-<hash>` with dashes for dots, at most 63 characters for a Deployment and 52 for a StatefulSet.
// The hash has 5 characters, from FNV-1a over uid and pool name. If the name is too long, its middle is cut and the
// hash has 10 characters.
std::string WorkloadName(const std::string& daemon_name, const std::string& daemon_uid, const std::string& pool,
                         WorkloadKind kind);
// Returns the name that older versions gave: the hash has 5 characters even if the middle of the name is cut.
std::string NameOfOlderVersion(const std::string& daemon_name, const std::string& daemon_uid, const std::string& pool,
                               WorkloadKind kind);
// Returns true if a daemon of this name, with any uid, may have given the pool's workload that name, in any version of
// this operator or in OpenYurt.
bool IsNamedFor(const std::string& workload_name, const std::string& daemon_name, const std::string& pool,
                WorkloadKind kind);

// Returns the value of kRevisionLabel: the revision's name, or only its hash if the name is not a valid label value.
std::string RevisionLabelValue(const std::string& revision_name, const std::string& revision_hash);

// Renders the part of the workload that the operator owns: metadata.labels (except kRevisionLabel),
// metadata.annotations (the template's and ref-nodepool, without rendered-from), and spec. The result has no name and
// no owner. Rules 0 put kRevisionLabel into the pod template.
// - Labels and annotations: the template's plus pool-name and ref-nodepool.
// - Selector: the template's plus pool-name.
// - Pod template: labels plus pool-name, nodeSelector plus kNodePoolLabel, and one toleration {key, operator: Exists,
//   effect} per taint, unless the template has it already.
// Fails with kInvalid if an override does not apply, if the overrides make more text than kMaxRenderedText, or if a
// value in the template has a wrong type.
Result<Json> Render(const RevisionContent& revision, const RenderInputs& inputs, const std::string& pool,
                    const std::string& revision_label);

// Returns the whole object for a POST: Render's result with apiVersion, kind, name, namespace, ownerReference
// (controller, blockOwnerDeletion), kRevisionLabel and kRenderedFromAnnotation.
Json CompleteWorkload(Json rendered, const YurtAppDaemon& daemon, const std::string& name, const RenderInputs& inputs,
                      const std::string& revision_label);

// The difference of two renderings of one pool, in ascending order of severity. kServiceOnly means that the workloads
// differ at most in replicas, see service.h.
enum class Difference { kNone, kReplicasOnly, kServiceOnly, kWithoutPods, kPodTemplate };
Difference Compare(const Json& rendered_a, const Json& rendered_b);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_RENDER_H_
