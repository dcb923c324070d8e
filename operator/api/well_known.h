// Names of this API: labels, annotations, kinds and resource types.
#ifndef OPERATOR_API_WELL_KNOWN_H_
#define OPERATOR_API_WELL_KNOWN_H_

#include "operator/api/object.h"

namespace yad {

// Labels and annotations of workloads.
inline constexpr char kPoolNameLabel[] = "apps.openyurt.io/pool-name";  // in the pod template too
inline constexpr char kRevisionLabel[] = "apps.openyurt.io/controller-revision-hash";
// A user\'s description of a change. DaemonSets put it into their ControllerRevisions too, and `history` prints it.
inline constexpr char kChangeCauseAnnotation[] = "kubernetes.io/change-cause";
inline constexpr char kRefNodePoolAnnotation[] = "apps.openyurt.io/ref-nodepool";
inline constexpr char kRenderedFromAnnotation[] = "apps.openyurt.io/rendered-from";
// The time and the circumstances of the workload's last update (operator/yurtappdaemon/rollout/update_record.h).
inline constexpr char kUpdateRecordAnnotation[] = "apps.openyurt.io/update-record";
// Annotation of a pool's Service: the last rendering of the operator's part, as compact JSON.
inline constexpr char kLastRenderedAnnotation[] = "apps.openyurt.io/last-rendered";
// Annotation of a workload: the token that allowed its removal.
inline constexpr char kRemovalAllowedAnnotation[] = "apps.openyurt.io/removal-allowed";
// Label of a check's Job and of its pods: the check's name.
inline constexpr char kCheckLabel[] = "apps.openyurt.io/check";
// Label of a DaemonSet that pulls the images of an update, and of its pods: the DaemonSet's name.
inline constexpr char kPrefetchLabel[] = "apps.openyurt.io/prefetch";
// Annotation of such a DaemonSet: a digest of the images that its pods pull, and of their other requirements
// (PrefetchPods).
inline constexpr char kPrefetchDigestAnnotation[] = "apps.openyurt.io/prefetch-digest";
// Annotations that users set on YurtAppDaemons. Annotation allow-removal allows the removals that its token names.
inline constexpr char kAllowRemovalAnnotation[] = "apps.openyurt.io/allow-removal";
// Annotation approve: the rollout groups that may start, as comma-separated "<updateRevision>/<group>".
inline constexpr char kApproveAnnotation[] = "apps.openyurt.io/approve";
// Annotation that a site sets on its NodePool: the reason why no update of the pool may start. Any value is a hold.
inline constexpr char kHoldAnnotation[] = "apps.openyurt.io/hold";
// Annotations of a NodePool: its time zone, and the windows that replace those of YurtAppDaemons, as a list in JSON.
inline constexpr char kTimeZoneAnnotation[] = "apps.openyurt.io/time-zone";
inline constexpr char kUpdateWindowsAnnotation[] = "apps.openyurt.io/update-windows";
// The ConfigMap in the operator's namespace with which updates of all YurtAppDaemons are frozen.
inline constexpr char kFreezeName[] = "yurtappdaemon-freeze";
// Labels and annotations of ControllerRevisions. Annotation failed: the time at which the rollout of the revision
// failed, in RFC 3339.
inline constexpr char kFailedAnnotation[] = "apps.openyurt.io/failed";
// Annotation percent-groups: the pools of the groups with `percent`, fixed when the rollout of the revision begins
// (operator/yurtappdaemon/rollout/percent_groups.h).
inline constexpr char kPercentGroupsAnnotation[] = "apps.openyurt.io/percent-groups";
inline constexpr char kOurRevisionLabel[] = "apps.openyurt.io/yurtappdaemon-revision";  // "true"
inline constexpr char kHashLabel[] = "controller.kubernetes.io/hash";
// Labels and annotations of Nodes.
inline constexpr char kNodePoolLabel[] = "apps.openyurt.io/nodepool";
// The attributes that a Node got from its pool, as JSON with OpenYurt's name and format.
inline constexpr char kPreviousAttributesAnnotation[] = "nodepool.openyurt.io/previous-attributes";
// The lease of a spare Node to a pool, as JSON. `applied` contains the attributes that the lease set on the Node.
inline constexpr char kLeaseAnnotation[] = "capacity.openyurt.io/lease";
// The reason and the start of a quarantine, in which the Node is in no inventory. A user removes the annotation.
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
inline const ResourceType kCrdType{"apiextensions.k8s.io", "v1", "customresourcedefinitions",
                                   "CustomResourceDefinition", false};
// The version is only a default; discovery determines the served one.
inline const ResourceType kNodePoolType{"apps.openyurt.io", "v1beta1", "nodepools", "NodePool", false};

}  // namespace yad

#endif  // OPERATOR_API_WELL_KNOWN_H_
