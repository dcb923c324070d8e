// Rendering of a revision's workload for a pool. Pure.
#ifndef OPERATOR_WORKLOAD_RENDER_H_
#define OPERATOR_WORKLOAD_RENDER_H_

#include <optional>
#include <string>
#include <vector>

#include "operator/api/nodepool.h"
#include "operator/api/object.h"
#include "operator/api/yurtappdaemon.h"
#include "operator/base/error.h"
#include "operator/workload/revision.h"

namespace yad {

// The inputs of a rendering besides the revision. The workload has them as compact JSON in annotation rendered-from,
//   {"overrides":[0,2],"replicas":5,"rules":1,"tolerations":[{"effect":…,"key":…}]},
// so that the operator can repeat the rendering after the pool has changed.
struct RenderInputs {
  // The version of the rendering rules. Rules 1 are this operator's; see Render. Rules 0 are OpenYurt's, with these
  // differences: nodeSelector is replaced, required node affinity is removed, the workload also has the labels of the
  // selector, the pod template also has the revision label, and tolerations are repeated.
  int rules = 1;
  std::vector<Taint> tolerations;
  std::vector<int> overrides;  // indices of the revision's overrides that apply to the pool
  // The replicas of a later revision, if the other changes of that revision wait. Unset: the replicas of this revision.
  std::optional<int> replicas;
  // The next two fields are used only by rules 0. Their values come from the live pod template, and are not in the
  // annotation. Both stay the same until the pod template has to change for another reason.
  std::string pod_revision;    // the value of kRevisionLabel; "": the label of the revision
  PullPolicies pull_policies;  // OpenYurt set Always

  // Takes over the rules, and the fields that only rules 0 use, from the inputs of another workload of the pool.
  void KeepRulesOf(const RenderInputs& made) {
    rules = made.rules;
    pod_revision = made.pod_revision;
    pull_policies = made.pull_policies;
  }
  bool operator==(const RenderInputs&) const = default;
  std::string ToAnnotation() const;
};

// Returns the inputs for the pool in its present state.
RenderInputs InputsFor(const RevisionContent& revision, const NodePool& pool);
// Parses a workload's annotation. Without an annotation, the rules are 0. Fails with kDecode if the annotation is
// malformed.
Result<RenderInputs> ParseRenderInputs(const std::string& annotation);

// Returns `<yad>-<pool>-<hash>`, with dashes instead of dots, of at most 63 characters for a Deployment and 52 for a
// StatefulSet. The hash has 5 characters, from FNV-1a over uid and pool name. In a name that is too long, the middle is
// removed, and the hash has 10 characters.
std::string WorkloadName(const std::string& daemon_name, const std::string& daemon_uid, const std::string& pool,
                         WorkloadKind kind);
// Returns the name by the rules of older versions: the hash has 5 characters even if the middle is removed.
std::string NameOfOlderVersion(const std::string& daemon_name, const std::string& daemon_uid, const std::string& pool,
                               WorkloadKind kind);
// Returns true if `workload_name` may be the name that a daemon called `daemon_name`, with any uid, gave to the pool's
// workload, in any version of this operator or of OpenYurt.
bool IsNamedFor(const std::string& workload_name, const std::string& daemon_name, const std::string& pool,
                WorkloadKind kind);

// Returns the value of kRevisionLabel: the revision's name, or its hash if the name is not a valid label value.
std::string RevisionLabelValue(const std::string& revision_name, const std::string& revision_hash);

// Renders the part of the workload that the operator owns: metadata.labels (except kRevisionLabel),
// metadata.annotations (the template's and ref-nodepool, without rendered-from), and spec. The result has no name and
// no owner. Rules 0 put kRevisionLabel into the pod template.
// - Labels and annotations: those of the template, pool-name and ref-nodepool.
// - Selector: that of the template, and pool-name.
// - Pod template: with label pool-name, kNodePoolLabel in the nodeSelector, and one toleration {key, operator: Exists,
//   effect} for each taint, unless the template has the toleration already.
//
// Fails with kInvalid if an override does not apply, if the overrides make more text than kMaxRenderedText, or if a
// value in the template has a wrong type.
Result<Json> Render(const RevisionContent& revision, const RenderInputs& inputs, const std::string& pool,
                    const std::string& revision_label);

// Binds the pods of a template to the pool: label pool-name, kNodePoolLabel in the nodeSelector, and a toleration for
// each taint. With `once`, skips taints that the template tolerates already. Returns false if a value of the template
// has a wrong type.
bool BindPodsToPool(const std::vector<Taint>& taints, bool once, const std::string& pool, Json& pod_template);

// Returns the whole object for a POST: the result of Render with apiVersion, kind, name, namespace, ownerReference
// (controller, blockOwnerDeletion), kRevisionLabel and kRenderedFromAnnotation.
Json CompleteWorkload(Json rendered, const YurtAppDaemon& daemon, const std::string& name, const RenderInputs& inputs,
                      const std::string& revision_label);

// The difference between two renderings for one pool, in ascending order of severity. kServiceOnly (service.h): the
// Services differ, and the workloads differ at most in replicas.
enum class Difference { kNone, kReplicasOnly, kServiceOnly, kWithoutPods, kPodTemplate };
Difference Compare(const Json& rendered_a, const Json& rendered_b);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_RENDER_H_
