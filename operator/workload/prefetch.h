// The DaemonSet whose pods pull the images of a pool's update. Pure.
#ifndef OPERATOR_WORKLOAD_PREFETCH_H_
#define OPERATOR_WORKLOAD_PREFETCH_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/api/yurtappdaemon.h"

namespace yad {

// The image of the container that sleeps while nodes pull images.
inline constexpr char kDefaultPrefetchImage[] = "registry.k8s.io/pause:3.10";

struct PulledImage {
  std::string reference;
  std::string pull_policy;  // "": the server's default
};

// Returns the distinct images that a node pulls for a workload: those of its containers, init containers and image
// volumes. Images with the pull policy Never are not pulled.
std::vector<PulledImage> ImagesToPull(const Json& workload);

// Returns `<workload>-prefetch`, with at most 63 characters. In a name that is too long, the end of the workload's name
// is replaced with a hash.
std::string PrefetchName(const std::string& workload_name);

// Returns a pod spec without containers. Pods of this spec run on the nodes of the workload's pods, and mount the
// images as volumes. The spec has the pull secrets, the service account, the node selection and the tolerations of
// `workload`, which is a rendering. Affinity and spread rules about other pods are omitted, because they could keep
// these pods away from the nodes of the workload's pods.
Json PrefetchPods(const Json& workload, const std::vector<PulledImage>& images);
// Returns the value of kPrefetchDigestAnnotation for these pods.
std::string PrefetchDigest(const Json& pods);

// Returns the DaemonSet for a POST. `pods` is the spec from PrefetchPods, to which MakePrefetch adds one container that
// sleeps, from image `pause`. The labels of the pods are not those of the workload, so no Service sends them requests.
Json MakePrefetch(const YurtAppDaemon& daemon, const std::string& pool, const std::string& name, Json pods,
                  const std::string& pause);

// Returns whether each volume in the server's copy of a DaemonSet still has an image. A server without image volumes
// drops the field `image`, or the volumes.
bool KeepsImageVolumes(const Json& daemon_set);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_PREFETCH_H_
