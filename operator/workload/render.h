// Renders the workload of a revision for a pool.
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

// The inputs of Render, besides the revision. Annotation rendered-from of the workload stores them as compact JSON, so
// that the operator can render the same workload again after the pool has changed:
//   {"overrides":[0,2],"replicas":5,"rules":2,"tolerations":[{"effect":…,"key":…}]}
// If `without_replicas` is true, the value of "replicas" is null.
struct RenderInputs {
  // The version of the rendering rules: 2 for new workloads (see Render), 1 for those of an earlier version of this
  // operator, 0 for those that OpenYurt created. With rules 0 and 1, the patch of an override replaces a list of the
  // template that has a key twice, such as the name of a variable. Rules 0 have these other differences:
  // - They replace the nodeSelector and remove required node affinity.
  // - They add a toleration even if it already exists.
  // - They copy the labels of the selector to the workload, and set the revision label in the pod template.
  int rules = 2;
  std::vector<Taint> tolerations;
  std::vector<int> overrides;  // indices of the revision's overrides that apply to the pool
  // The replicas of a later revision. A workload may already have them while its pool still waits for the rest of the
  // update, for example for an update window. If nullopt, the workload has the replicas of its own revision.
  std::optional<int> replicas;
  // True if the workload follows the replicas of a later revision, and that revision does not set replicas. The
  // operator then also does not set replicas.
  bool without_replicas = false;
  // The next two fields are values of the live pod template of a workload that OpenYurt created (rules 0). They are not
  // in the annotation. These values stay until the pod template changes for another reason, because other values would
  // restart the pods.
  std::string pod_revision;    // the value of kRevisionLabel; "": not set, so the pods get the label of the revision
  PullPolicies pull_policies;  // see KeepPullPolicies: some versions of OpenYurt wrote Always

  // Copies the rendering rules of another workload of the pool, and the fields that are only for OpenYurt's rules
  // (rules 0). `made` contains the inputs of the other workload.
  void KeepRulesOf(const RenderInputs& made) {
    rules = made.rules;
    pod_revision = made.pod_revision;
    pull_policies = made.pull_policies;
  }
  bool operator==(const RenderInputs&) const = default;
  std::string ToAnnotation() const;
};

// Returns the inputs for the current state of the pool.
RenderInputs InputsFor(const RevisionContent& revision, const NodePool& pool);
// Parses the annotation of a workload. An empty annotation means rules 0. Fails with kDecode if the annotation is
// malformed.
Result<RenderInputs> ParseRenderInputs(const std::string& annotation);

// Returns `<yurtappdaemon>-<pool>-<hash>`, with dashes instead of dots.
// - The hash has 5 characters. It is computed from the uid of the daemon and the name of the pool.
// - The name has at most 63 characters for a Deployment, and 52 for a StatefulSet. If it would be longer, its middle is
//   removed, and the hash has 10 characters.
std::string WorkloadName(const std::string& daemon_name, const std::string& daemon_uid, const std::string& pool,
                         WorkloadKind kind);
// Returns the name that older versions of this operator gave the workload. Their hash always had 5 characters.
std::string NameOfOlderVersion(const std::string& daemon_name, const std::string& daemon_uid, const std::string& pool,
                               WorkloadKind kind);
// Returns true if any version of this operator or of OpenYurt may have given this name to the pool's workload. The uid
// of the daemon is not compared.
bool IsNamedFor(const std::string& workload_name, const std::string& daemon_name, const std::string& pool,
                WorkloadKind kind);

// Returns the value of kRevisionLabel: the revision's name, or its hash if the name is not a valid label value.
std::string RevisionLabelValue(const std::string& revision_name, const std::string& revision_hash);

// Renders the part of the workload that the operator owns: labels, annotations and spec. CompleteWorkload adds the
// rest, including kRevisionLabel and rendered-from.
// - Labels and annotations: those of the template, plus pool-name and ref-nodepool. Labels and annotations that only
//   controllers may set are omitted: kRevisionLabel, rendered-from, update-record, removal-allowed and
//   deployment.kubernetes.io/revision.
// - Selector: the template's selector, plus pool-name.
// - Pod template: additionally has label pool-name, kNodePoolLabel in its nodeSelector, and a toleration {key,
//   operator: Exists, effect} for each taint that it does not tolerate yet. With rules 0, it also has kRevisionLabel.
//
// Fails with kInvalid if
// - an override cannot be applied;
// - the overrides make the workload larger than kMaxRenderedText;
// - a value in the template has a wrong type.
Result<Json> Render(const RevisionContent& revision, const RenderInputs& inputs, const std::string& pool,
                    const std::string& revision_label);

// Returns {labels, annotations} of a template. Each of them is {} if the template does not have it.
Json MetadataOfTemplate(const Json& object_template);

// Makes the pods of a template run in the pool: adds label pool-name, kNodePoolLabel in the nodeSelector, and a
// toleration for each taint. If `once` is true, skips taints that the template already tolerates. Returns false if a
// value of the template has a wrong type.
bool BindPodsToPool(const std::vector<Taint>& taints, bool once, const std::string& pool, Json& pod_template);

// Returns the object for a POST: the result of Render with apiVersion, kind, name, namespace, ownerReference,
// kRevisionLabel and kRenderedFromAnnotation.
Json CompleteWorkload(Json rendered, const YurtAppDaemon& daemon, const std::string& name, const RenderInputs& inputs,
                      const std::string& revision_label);

// The difference between two rendered workloads for one pool, from the least to the most severe.
enum class Difference {
  kNone,
  kReplicasOnly,
  kServiceOnly,  // the Services differ, and the workloads differ at most in replicas
  kWithoutPods,  // the workloads differ, but not in their pod templates
  kPodTemplate
};
Difference Compare(const Json& rendered_a, const Json& rendered_b);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_RENDER_H_
