#include "operator/yurtappdaemon/observe/pods.h"

#include <nlohmann/json.hpp>

#include "operator/api/conditions.h"
#include "operator/api/label_selector.h"
#include "operator/api/well_known.h"

namespace yad {
namespace {

constexpr int kEvents = 100;
// 100 Events have about 100 KB. Many lists may be in memory at the same time.
constexpr std::size_t kEventsBytes = 1u << 20;

}  // namespace

bool IsPodReady(const Json& pod) { return IsTrue(FindCondition(pod, "Ready")); }

Result<std::string> SelectorOf(const Json& workload) {
  const Json* selector = Find(workload, {"spec", "selector"});
  YAD_TRY(const auto parsed, LabelSelector::Parse(selector == nullptr ? Json() : *selector, "spec.selector"));
  return parsed.ToString();
}

bool ControlsPod(const ObjectMeta& workload, const ObjectMeta& pod) {
  const OwnerReference* controller = pod.controller();
  if (controller == nullptr) return false;
  if (controller->uid == workload.uid) return true;
  return controller->kind == "ReplicaSet" &&
         controller->name == workload.key.name + "-" + pod.Label(kPodTemplateHashLabel);
}

Result<std::vector<Json>> ReadEventsAbout(Client& client, const std::string& ns, const std::string& uid,
                                          std::stop_token stop) {
  const ListOptions options{
      .ns = ns, .field_selector = "regarding.uid=" + uid, .limit = kEvents, .max_bytes = kEventsBytes};
  YAD_TRY(auto page, client.List(kEventType, options, stop));
  return std::move(page.items);
}

}  // namespace yad
