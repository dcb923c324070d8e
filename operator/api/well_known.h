// The names that this API has given to labels, annotations, kinds and types.
#ifndef OPERATOR_API_WELL_KNOWN_H_
#define OPERATOR_API_WELL_KNOWN_H_

#include "operator/api/object.h"

namespace yad {

// On workloads.
inline constexpr char kPoolNameLabel[] = "apps.openyurt.io/pool-name";  // in the pod template too
inline constexpr char kRevisionLabel[] = "apps.openyurt.io/controller-revision-hash";
inline constexpr char kRefNodePoolAnnotation[] = "apps.openyurt.io/ref-nodepool";
inline constexpr char kRenderedFromAnnotation[] = "apps.openyurt.io/rendered-from";
// The conditions of the workload's last update (operator/yurtappdaemon/update_record.h).
inline constexpr char kUpdateRecordAnnotation[] = "apps.openyurt.io/update-record";
// On a pool's Service: what of it was rendered last, as compact JSON.
inline constexpr char kLastRenderedAnnotation[] = "apps.openyurt.io/last-rendered";
// Its removal was allowed with this token.
inline constexpr char kRemovalAllowedAnnotation[] = "apps.openyurt.io/removal-allowed";
// On YurtAppDaemons. Set by a person: the removals that this token names may happen.
inline constexpr char kAllowRemovalAnnotation[] = "apps.openyurt.io/allow-removal";
// Set by a person: groups of a rollout that may begin, "<updateRevision>/<group>", comma-separated.
inline constexpr char kApproveAnnotation[] = "apps.openyurt.io/approve";
// On ControllerRevisions.
inline constexpr char kFailedAnnotation[] = "apps.openyurt.io/failed";  // when its rollout failed, RFC 3339
inline constexpr char kOurRevisionLabel[] = "apps.openyurt.io/yurtappdaemon-revision";  // "true"
inline constexpr char kHashLabel[] = "controller.kubernetes.io/hash";
// On Nodes.
inline constexpr char kNodePoolLabel[] = "apps.openyurt.io/nodepool";
// What a Node has from its pool, as JSON: OpenYurt's name and format.
inline constexpr char kPreviousAttributesAnnotation[] = "nodepool.openyurt.io/previous-attributes";
// The terms on which a pool has a spare Node, as JSON; `applied` is what the lease gave to the Node.
inline constexpr char kLeaseAnnotation[] = "capacity.openyurt.io/lease";
// Why, and since when, a Node is kept out of every inventory. A person removes it.
inline constexpr char kQuarantineAnnotation[] = "capacity.openyurt.io/quarantined";

inline const ResourceType kYurtAppDaemonType{"apps.openyurt.io", "v1alpha1", "yurtappdaemons", "YurtAppDaemon", true};
inline const ResourceType kDeploymentType{"apps", "v1", "deployments", "Deployment", true};
inline const ResourceType kStatefulSetType{"apps", "v1", "statefulsets", "StatefulSet", true};
inline const ResourceType kControllerRevisionType{"apps", "v1", "controllerrevisions", "ControllerRevision", true};
inline const ResourceType kNodeType{"", "v1", "nodes", "Node", false};
inline const ResourceType kPodType{"", "v1", "pods", "Pod", true};
inline const ResourceType kServiceType{"", "v1", "services", "Service", true};
inline const ResourceType kCrdType{"apiextensions.k8s.io", "v1", "customresourcedefinitions",
                                   "CustomResourceDefinition", false};
// The version is chosen by discovery.
inline const ResourceType kNodePoolType{"apps.openyurt.io", "v1beta1", "nodepools", "NodePool", false};

}  // namespace yad

#endif  // OPERATOR_API_WELL_KNOWN_H_
