#include "operator/workload/prefetch.h"

#include <algorithm>
#include <utility>

#include "operator/api/names.h"
#include "operator/api/well_known.h"
#include "operator/workload/owner.h"
#include "operator/workload/safe_encode.h"

namespace yad {
namespace {

constexpr char kSuffix[] = "-prefetch";
constexpr std::size_t kPrefetchHashSize = 10;
constexpr std::int64_t kPauseUser = 65535;  // the user of the pause image

void AddImage(std::string reference, std::string pull_policy, std::vector<PulledImage>& images) {
  const bool known =
      std::any_of(images.begin(), images.end(), [&](const PulledImage& image) { return image.reference == reference; });
  if (known || reference.empty() || pull_policy == "Never") return;
  images.push_back({std::move(reference), std::move(pull_policy)});
}

// Returns the container of the pods. Every policy of the Pod Security Standards allows its security context.
Json PauseContainer(const std::string& pause, const Json& pods) {
  Json container = {
      {"name", "pause"},
      {"image", pause},
      {"imagePullPolicy", "IfNotPresent"},
      {"resources",
       {{"requests", {{"cpu", "1m"}, {"memory", "8Mi"}}}, {"limits", {{"cpu", "10m"}, {"memory", "16Mi"}}}}},
      {"securityContext",
       {{"allowPrivilegeEscalation", false},
        {"readOnlyRootFilesystem", true},
        {"runAsNonRoot", true},
        {"runAsUser", kPauseUser},
        {"capabilities", {{"drop", Json::array({"ALL"})}}},
        {"seccompProfile", {{"type", "RuntimeDefault"}}}}}};
  Json mounts = Json::array();
  for (const Json& volume : pods.at("volumes")) {
    const std::string name = StringAt(volume, {"name"});
    mounts.push_back({{"name", name}, {"mountPath", "/images/" + name}, {"readOnly", true}});
  }
  container["volumeMounts"] = std::move(mounts);
  return container;
}

}  // namespace

std::vector<PulledImage> ImagesToPull(const Json& workload) {
  std::vector<PulledImage> images;
  for (const char* list : {"containers", "initContainers"}) {
    for (const Json& container : ListAt(workload, {"spec", "template", "spec", list}))
      AddImage(StringAt(container, {"image"}), StringAt(container, {"imagePullPolicy"}), images);
  }
  for (const Json& volume : ListAt(workload, {"spec", "template", "spec", "volumes"}))
    AddImage(StringAt(volume, {"image", "reference"}), StringAt(volume, {"image", "pullPolicy"}), images);
  return images;
}

std::string PrefetchName(const std::string& workload_name) {
  if (workload_name.size() + sizeof(kSuffix) - 1 <= kMaxLabelValue) return workload_name + kSuffix;
  return Truncated(workload_name, kMaxLabelValue - sizeof(kSuffix) - kPrefetchHashSize) + "-" +
         SafeEncode(Fnv1a64(workload_name), kPrefetchHashSize) + kSuffix;
}

Json PrefetchPods(const Json& workload, const std::vector<PulledImage>& images) {
  Json pods = {{"automountServiceAccountToken", false}, {"enableServiceLinks", false}};
  if (const Json* pod = Find(workload, {"spec", "template", "spec"})) {
    for (const char* field : {"imagePullSecrets", "serviceAccountName", "nodeSelector", "tolerations"}) {
      if (const Json* value = Find(*pod, {field})) pods[field] = *value;
    }
    if (const Json* of_nodes = Find(*pod, {"affinity", "nodeAffinity"}))
      pods["affinity"] = {{"nodeAffinity", *of_nodes}};
  }
  Json volumes = Json::array();
  for (const PulledImage& image : images) {
    Json source = {{"reference", image.reference}};
    if (!image.pull_policy.empty()) source["pullPolicy"] = image.pull_policy;
    volumes.push_back({{"name", "image-" + std::to_string(volumes.size())}, {"image", std::move(source)}});
  }
  pods["volumes"] = std::move(volumes);
  return pods;
}

std::string PrefetchDigest(const Json& pods) { return SafeEncode(Fnv1a64(DumpJson(pods)), kPrefetchHashSize); }

Json MakePrefetch(const YurtAppDaemon& daemon, const std::string& pool, const std::string& name, Json pods,
                  const std::string& pause) {
  const Json labels = {{kPrefetchLabel, name}};
  Json daemon_set = OwnedObject(kDaemonSetType, name, daemon);
  daemon_set["metadata"]["labels"] = {{kPrefetchLabel, name}, {kPoolNameLabel, pool}};
  daemon_set["metadata"]["annotations"][kPrefetchDigestAnnotation] = PrefetchDigest(pods);
  pods["containers"] = Json::array({PauseContainer(pause, pods)});
  daemon_set["spec"] = {{"selector", {{"matchLabels", labels}}},
                        {"template", {{"metadata", {{"labels", labels}}}, {"spec", std::move(pods)}}}};
  return daemon_set;
}

bool KeepsImageVolumes(const Json& daemon_set) {
  const Json& volumes = ListAt(daemon_set, {"spec", "template", "spec", "volumes"});
  return !volumes.empty() && std::all_of(volumes.begin(), volumes.end(), [](const Json& volume) {
    return !StringAt(volume, {"image", "reference"}).empty();
  });
}

}  // namespace yad
