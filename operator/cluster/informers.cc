#include "operator/cluster/informers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/cluster/nodepool_type.h"

namespace yad {
namespace {

// Moves these members of `value` to a new object. The new object is empty if `value` is not an object.
Json TakeMembers(Json& value, std::initializer_list<const char*> members) {
  Json taken = Json::object();
  for (const char* member : members) {
    if (const auto found = value.find(member); found != value.end()) taken[member] = std::move(*found);
  }
  return taken;
}

// Keeps only these members of object[name]. If the value is not an object, replaces it with an empty object.
void KeepOnly(Json& object, const char* name, std::initializer_list<const char*> members) {
  if (const auto found = object.find(name); found != object.end()) *found = TakeMembers(*found, members);
}

// Keeps only these members of each object in the list object[name], and drops other values from the list. If the value
// is not a list, replaces it with an empty list.
void KeepOfEach(Json& object, const char* name, std::initializer_list<const char*> members) {
  const auto list = object.find(name);
  if (list == object.end()) return;
  Json kept = Json::array();
  if (list->is_array()) {
    for (Json& entry : *list) {
      if (entry.is_object()) kept.push_back(TakeMembers(entry, members));
    }
  }
  *list = std::move(kept);
}

bool IsAgent(const Json& pod, const std::vector<LabelSelector>& agents) {
  if (agents.empty()) return false;
  const StringMap labels = StringMapAt(pod, {"metadata", "labels"});
  return std::any_of(agents.begin(), agents.end(), [&](const LabelSelector& agent) { return agent.Matches(labels); });
}

std::unique_ptr<const Projection> ProjectCsiNode(const Json& object) {
  auto projection = std::make_unique<CsiNodeProjection>();
  for (const Json& driver : ListAt(object, {"spec", "drivers"}))
    projection->drivers.push_back(StringAt(driver, {"name"}));
  std::sort(projection->drivers.begin(), projection->drivers.end());
  return projection;
}

}  // namespace

std::unique_ptr<const Projection> ProjectNode(const Json& object) {
  auto projection = std::make_unique<NodeProjection>();
  projection->node = ParseNode(object);
  projection->node.meta.annotations.erase(kLastAppliedAnnotation);
  return projection;
}

ReflectorOptions WatchNodePools(Client& client, EventSink& events) {
  return {.type = kNodePoolType,
          .project = ProjectPool,
          .projected = kProjectedOfPools,
          .resolve = [choice = std::make_shared<NodePoolTypeChoice>(client, events)](
                         const FailedLists& failed, std::stop_token stop) { return choice->Next(failed, stop); }};
}

ReflectorOptions WatchNodes() { return {.type = kNodeType, .transform = StripNode, .project = ProjectNode}; }

ReflectorOptions WatchPods(std::vector<LabelSelector> agents) {
  ReflectorOptions options{.type = kPodType, .field_selector = "status.phase!=Succeeded,status.phase!=Failed"};
  const auto shared = std::make_shared<const std::vector<LabelSelector>>(std::move(agents));
  options.transform = [shared](Json& pod) { StripPod(pod, *shared); };
  options.project = [shared](const Json& pod) {
    auto projection = std::make_unique<PodProjection>();
    projection->pod = ParsePod(pod);
    projection->agent = IsAgent(pod, *shared);
    return projection;
  };
  return options;
}

ReflectorOptions WatchCsiNodes() {
  return {.type = {"storage.k8s.io", "v1", "csinodes", "CSINode", false},
          .transform =
              [](Json& object) {
                KeepOnly(object, "metadata", {"name", "uid", "resourceVersion", "deletionTimestamp"});
              },
          .project = ProjectCsiNode};
}

void AddNodesByPool(Store& nodes) {
  nodes.AddIndex(kNodesByPool, [](const StoredObject& node) -> std::vector<std::string> {
    const std::string& pool = node.meta().Label(kNodePoolLabel);
    if (pool.empty()) return {};
    return {pool};
  });
}

void AddPodsByNode(Store& pods) {
  pods.AddIndex(kPodsByNode, [](const StoredObject& object) -> std::vector<std::string> {
    const Pod& pod = static_cast<const PodProjection*>(object.projection())->pod;
    if (pod.node.empty()) return {};
    return {pod.node};
  });
}

ObjectPtr KeptNode(Json object) {
  StripNode(object);
  return std::make_shared<StoredObject>(object, ProjectNode);
}

void StripNode(Json& node) {
  KeepOnly(node, "metadata",
           {"name", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "labels", "annotations"});
  KeepOnly(node, "spec", {"taints", "unschedulable"});
  KeepOnly(node, "status", {"conditions", "allocatable", "capacity"});
  if (const auto metadata = node.find("metadata"); metadata != node.end()) {
    if (const auto annotations = metadata->find("annotations");
        annotations != metadata->end() && annotations->is_object()) {
      annotations->erase(kLastAppliedAnnotation);
    }
  }
  if (const auto status = node.find("status"); status != node.end())
    KeepOfEach(*status, "conditions", {"type", "status", "lastTransitionTime"});
}

void StripPod(Json& pod, const std::vector<LabelSelector>& agents) {
  const bool agent = IsAgent(pod, agents);
  const bool mirror = Find(pod, {"metadata", "annotations", kMirrorAnnotation}) != nullptr;
  const bool placed = !StringAt(pod, {"spec", "nodeName"}).empty();
  KeepOnly(pod, "metadata",
           {"name", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "ownerReferences",
            "labels"});
  if (const auto metadata = pod.find("metadata"); metadata != pod.end()) {
    if (!agent) metadata->erase("labels");
    if (mirror) (*metadata)["annotations"] = {{kMirrorAnnotation, ""}};
    KeepOfEach(*metadata, "ownerReferences", {"apiVersion", "kind", "name", "uid", "controller"});
  }
  if (placed) {
    KeepOnly(pod, "spec", {"nodeName", "priority", "containers", "initContainers", "overhead", "resources"});
  } else {
    KeepOnly(pod, "spec",
             {"priority", "containers", "initContainers", "overhead", "resources", "schedulingGates", "nodeSelector",
              "affinity", "tolerations"});
  }
  if (const auto spec = pod.find("spec"); spec != pod.end()) {
    for (const char* list : {"containers", "initContainers"}) {
      KeepOfEach(*spec, list, {"resources", "restartPolicy"});
      if (const auto containers = spec->find(list); containers != spec->end()) {
        for (Json& container : *containers) KeepOnly(container, "resources", {"requests"});
      }
    }
    KeepOnly(*spec, "affinity", {"nodeAffinity"});
  }
  KeepOnly(pod, "status", {"phase", "conditions"});
  if (const auto status = pod.find("status"); status != pod.end())
    KeepOfEach(*status, "conditions", {"type", "status", "reason"});
}

}  // namespace yad
