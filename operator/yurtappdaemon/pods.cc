#include "operator/yurtappdaemon/pods.h"

#include <nlohmann/json.hpp>

#include "operator/api/conditions.h"

namespace yad {

bool IsPodReady(const Json& pod) {
  const Json* ready = FindCondition(pod, "Ready");
  return ready != nullptr && StringAt(*ready, {"status"}) == "True";
}

bool ControlsPod(const ObjectMeta& workload, const ObjectMeta& pod) {
  const OwnerReference* controller = pod.controller();
  if (controller == nullptr) return false;
  if (controller->uid == workload.uid) return true;
  return controller->kind == "ReplicaSet" &&
         controller->name == workload.key.name + "-" + pod.Label(kPodTemplateHashLabel);
}

Result<int> ForEachPod(Client& client, ListOptions options, int pages, std::stop_token stop,
                       const std::function<Status(const Json& pod)>& each) {
  int read = 0;
  do {
    auto page = client.List(kPodType, options, stop);
    if (!page) return Fail(page.error());
    ++read;
    for (const Json& pod : page->items) {
      if (const Status done = each(pod); !done) return Fail(done.error());
    }
    options.continue_token = page->continue_token;
  } while (!options.continue_token.empty() && read < pages);
  return read;
}

}  // namespace yad
