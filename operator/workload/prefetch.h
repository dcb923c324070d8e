// Builds the DaemonSet whose pods pull the images of an update before the workload of the pool is updated.
#ifndef OPERATOR_WORKLOAD_PREFETCH_H_
#define OPERATOR_WORKLOAD_PREFETCH_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/api/yurtappdaemon.h"

namespace yad {

// The image of the prefetch pods' only container, which does nothing.
inline constexpr char kDefaultPrefetchImage[] = "registry.k8s.io/pause:3.10";

struct PulledImage {
  std::string reference;
  std::string pull_policy;  // "": the server's default
};

// Returns the images that a node pulls for a workload, without duplicates. These are the images of containers, init
// containers and image volumes. Images with pull policy Never are omitted.
std::vector<PulledImage> ImagesToPull(const Json& workload);

// Returns `<workload>-prefetch`, with at most 63 characters. If the name is too long, a hash replaces the end of
// `<workload>`.
std::string PrefetchName(const std::string& workload_name);

// Returns the pod spec of the prefetch pods, without containers. The pods mount the images as volumes, and run on the
// same nodes as the pods of `workload`, a rendered workload:
// - The spec has the pull secrets, service account, node selector, node affinity and tolerations of the workload.
// - It has no pod affinity and no spread constraints, which could keep the pods away from those nodes.
Json PrefetchPods(const Json& workload, const std::vector<PulledImage>& images);
// Returns a digest of `pods`, the result of PrefetchPods. The DaemonSet has it in annotation kPrefetchDigestAnnotation.
std::string PrefetchDigest(const Json& pods);

// Returns the DaemonSet for a POST. `pods` is the result of PrefetchPods; MakePrefetch adds a container that runs image
// `pause`. The pods do not have the labels of the workload's pods, so Services do not send requests to them.
Json MakePrefetch(const YurtAppDaemon& daemon, const std::string& pool, const std::string& name, Json pods,
                  const std::string& pause);

// Returns whether the server has stored all image volumes. A server without this feature drops the field `image`, or
// the volumes.
bool KeepsImageVolumes(const Json& daemon_set);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_PREFETCH_H_
