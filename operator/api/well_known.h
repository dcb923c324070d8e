// Names of labels, annotations, objects and resource types. In the code, a "daemon" is a YurtAppDaemon object.
#ifndef OPERATOR_API_WELL_KNOWN_H_
#define OPERATOR_API_WELL_KNOWN_H_

#include "operator/api/object.h"

namespace yad {

// Labels and annotations of workloads. kPoolNameLabel is also in the pod template.
inline constexpr char kPoolNameLabel[] = "apps.openyurt.io/pool-name";
inline constexpr char kRevisionLabel[] = "apps.openyurt.io/controller-revision-hash";
// Annotation of a YurtAppDaemon, set by users: a description of the latest change. The operator copies it to the
// ControllerRevision, as Kubernetes does for a DaemonSet. `kubectl yad history` prints it.
inline constexpr char kChangeCauseAnnotation[] = "kubernetes.io/change-cause";
inline constexpr char kRefNodePoolAnnotation[] = "apps.openyurt.io/ref-nodepool";
inline constexpr char kRenderedFromAnnotation[] = "apps.openyurt.io/rendered-from";
// Describes the last update of the workload (see operator/yurtappdaemon/rollout/update_record.h).
inline constexpr char kUpdateRecordAnnotation[] = "apps.openyurt.io/update-record";
// Annotation of a pool's Service: the fields that the operator rendered last, as compact JSON.
inline constexpr char kLastRenderedAnnotation[] = "apps.openyurt.io/last-rendered";
// Annotation of a workload whose deletion a user has allowed. Its value is the token from kAllowRemovalAnnotation.
inline constexpr char kRemovalAllowedAnnotation[] = "apps.openyurt.io/removal-allowed";
// Label of the Job of a check, and of its pods: the name of the check.
inline constexpr char kCheckLabel[] = "apps.openyurt.io/check";
// Label of a DaemonSet that prefetches images, and of its pods: the name of the DaemonSet.
inline constexpr char kPrefetchLabel[] = "apps.openyurt.io/prefetch";
// Annotation of a DaemonSet that prefetches images: a digest of the images, and of other parts of the pod template (see
// PrefetchPods).
inline constexpr char kPrefetchDigestAnnotation[] = "apps.openyurt.io/prefetch-digest";
// Annotation of a YurtAppDaemon, set by users: a token that allows the operator to delete a certain set of workloads.
inline constexpr char kAllowRemovalAnnotation[] = "apps.openyurt.io/allow-removal";
// Annotation of a YurtAppDaemon, set by users: the rollout groups that may start, as a comma-separated list of
// "<updateRevision>/<group>".
inline constexpr char kApproveAnnotation[] = "apps.openyurt.io/approve";
// Annotation of a NodePool, set by users at the pool's site. While it exists, updates of the pool are blocked. Its
// value is the reason, which may be empty.
inline constexpr char kHoldAnnotation[] = "apps.openyurt.io/hold";
// Annotations of a NodePool: its time zone, and a JSON list of windows that are used instead of the YurtAppDaemons'
// windows.
inline constexpr char kTimeZoneAnnotation[] = "apps.openyurt.io/time-zone";
inline constexpr char kUpdateWindowsAnnotation[] = "apps.openyurt.io/update-windows";
// The name of the ConfigMap in the operator's namespace with which users freeze the updates of all YurtAppDaemons.
inline constexpr char kFreezeName[] = "yurtappdaemon-freeze";
// Annotation of a ControllerRevision: the time at which the rollout of the revision failed, in RFC 3339.
inline constexpr char kFailedAnnotation[] = "apps.openyurt.io/failed";
// Annotation of a ControllerRevision: the first pool that failed on the revision, with its reason. It is written
// together with kFailedAnnotation, because after the rollback no pool shows the reason.
inline constexpr char kFailureAnnotation[] = "apps.openyurt.io/failure";
// Annotation of a ControllerRevision: the pools of each rollout group that has a `percent`. The pools are chosen when
// the rollout of the revision begins, and do not change later (see operator/yurtappdaemon/rollout/percent_groups.h).
inline constexpr char kPercentGroupsAnnotation[] = "apps.openyurt.io/percent-groups";
// Annotation of a ControllerRevision that OpenYurt wrote: the `revision` that OpenYurt set. The operator adds the
// annotation when it first raises `revision`.
inline constexpr char kOpenYurtNumberAnnotation[] = "apps.openyurt.io/openyurt-number";
inline constexpr char kOurRevisionLabel[] = "apps.openyurt.io/yurtappdaemon-revision";  // "true"
inline constexpr char kHashLabel[] = "controller.kubernetes.io/hash";
// Annotation that `kubectl apply` writes: a copy of the manifest.
inline constexpr char kLastAppliedAnnotation[] = "kubectl.kubernetes.io/last-applied-configuration";
// Annotation of the mirror Pod of a static pod.
inline constexpr char kMirrorAnnotation[] = "kubernetes.io/config.mirror";
// Labels and annotations of Nodes.
inline constexpr char kNodePoolLabel[] = "apps.openyurt.io/nodepool";
// Annotation of a Node: the labels, annotations and taints that were copied to the Node from its pool, as JSON.
// OpenYurt defines the name and the format.
inline constexpr char kPreviousAttributesAnnotation[] = "nodepool.openyurt.io/previous-attributes";
// Annotation of a spare Node: its lease to a pool, as JSON. The field `applied` of the lease contains the labels,
// annotations and taints that the autoscaler added to the Node for the lease.
inline constexpr char kLeaseAnnotation[] = "capacity.openyurt.io/lease";
// Annotation of a Node in quarantine: the reason and the start time. During a quarantine, the autoscaler does not lease
// the Node to a pool. Only a user removes this annotation.
inline constexpr char kQuarantineAnnotation[] = "capacity.openyurt.io/quarantined";

inline const ResourceType kYurtAppDaemonType{"apps.openyurt.io", "v1alpha1", "yurtappdaemons", "YurtAppDaemon", true};
inline const ResourceType kDeploymentType{"apps", "v1", "deployments", "Deployment", true};
inline const ResourceType kStatefulSetType{"apps", "v1", "statefulsets", "StatefulSet", true};
inline const ResourceType kDaemonSetType{"apps", "v1", "daemonsets", "DaemonSet", true};
inline const ResourceType kControllerRevisionType{"apps", "v1", "controllerrevisions", "ControllerRevision", true};
inline const ResourceType kJobType{"batch", "v1", "jobs", "Job", true};
inline const ResourceType kNodeType{"", "v1", "nodes", "Node", false};
inline const ResourceType kPodType{"", "v1", "pods", "Pod", true};
inline const ResourceType kConfigMapType{"", "v1", "configmaps", "ConfigMap", true};
inline const ResourceType kServiceType{"", "v1", "services", "Service", true};
inline const ResourceType kEventType{"events.k8s.io", "v1", "events", "Event", true};
inline const ResourceType kLeaseType{"coordination.k8s.io", "v1", "leases", "Lease", true};
inline const ResourceType kReviewType{"authorization.k8s.io", "v1", "selfsubjectaccessreviews",
                                      "SelfSubjectAccessReview", false};
inline const ResourceType kValidatingConfigurationType{
    "admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", false};
inline const ResourceType kCrdType{"apiextensions.k8s.io", "v1", "customresourcedefinitions",
                                   "CustomResourceDefinition", false};
// The version is only a default. Discovery finds the version that the server supports.
inline const ResourceType kNodePoolType{"apps.openyurt.io", "v1beta1", "nodepools", "NodePool", false};

}  // namespace yad

#endif  // OPERATOR_API_WELL_KNOWN_H_
