// Pods with the statuses that a kubelet, the scheduler and the node controller write.
#ifndef TESTS_UNIT_YURTAPPDAEMON_PODS_H_
#define TESTS_UNIT_YURTAPPDAEMON_PODS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "operator/api/object.h"
#include "operator/base/clock.h"

namespace yad::testing {

inline Json PodOf(const std::string& name, const std::string& revision = "r1") {
  return {{"metadata", {{"name", name}, {"uid", "uid-" + name}, {"labels", {{"pod-template-hash", revision}}}}},
          {"spec", {{"nodeName", "n1"}, {"containers", {{{"name", "main"}, {"image", "app:1"}}}}}},
          {"status", {{"phase", "Pending"}, {"conditions", Json::array()}}}};
}

inline Json& AddCondition(Json& pod, const std::string& type, bool holds, const std::string& reason = "",
                          const std::string& message = "", const std::string& since = "2026-01-01T00:00:00Z") {
  Json condition = {{"type", type}, {"status", holds ? "True" : "False"}, {"lastTransitionTime", since}};
  if (!reason.empty()) condition["reason"] = reason;
  if (!message.empty()) condition["message"] = message;
  pod["status"]["conditions"].push_back(std::move(condition));
  return pod;
}

// Returns a pod whose container "main" is in this state.
inline Json PodIn(Json state, Json last = nullptr, const std::string& name = "p", const std::string& revision = "r1") {
  Json pod = PodOf(name, revision);
  pod["status"]["phase"] = "Running";
  AddCondition(pod, "PodScheduled", true);
  AddCondition(pod, "Ready", false, "ContainersNotReady", "containers with unready status: [main]",
               "2026-01-02T03:04:00Z");
  Json status = {{"name", "main"}, {"ready", false}, {"state", std::move(state)}};
  if (!last.is_null()) status["lastState"] = std::move(last);
  pod["status"]["containerStatuses"] = Json::array({std::move(status)});
  return pod;
}
inline Json WaitingIn(const std::string& reason, const std::string& message = "", const std::string& name = "p",
                      const std::string& revision = "r1") {
  return PodIn({{"waiting", {{"reason", reason}, {"message", message}}}}, nullptr, name, revision);
}
inline Json Ended(int exit_code, const std::string& reason = "Error", const std::string& message = "") {
  return {{"terminated", {{"exitCode", exit_code}, {"reason", reason}, {"message", message}}}};
}
inline Json CrashingPod(int exit_code, const std::string& name = "p", const std::string& revision = "r1") {
  return PodIn({{"waiting",
                 {{"reason", "CrashLoopBackOff"},
                  {"message", "back-off 5m0s restarting failed container=main pod=web-x_ns(uid)"}}}},
               Ended(exit_code), name, revision);
}
inline Json ReadyPod(const std::string& name = "p", const std::string& revision = "r1") {
  Json pod = PodOf(name, revision);
  pod["status"]["phase"] = "Running";
  AddCondition(pod, "Ready", true);
  pod["status"]["containerStatuses"] = R"([{"name": "main", "ready": true, "state": {"running": {}}}])"_json;
  return pod;
}
inline Json UnschedulablePod(const std::string& message, const std::string& name = "p",
                             const std::string& revision = "r1") {
  Json pod = PodOf(name, revision);
  pod["spec"].erase("nodeName");
  return AddCondition(pod, "PodScheduled", false, "Unschedulable", message);
}
// Returns a pod whose kubelet creates its containers and does not report a problem.
inline Json CreatingPod(const std::string& name = "p", const std::string& revision = "r1") {
  Json pod = WaitingIn("ContainerCreating", "", name, revision);
  pod["status"]["phase"] = "Pending";
  return pod;
}
// Returns a pod as the node controller leaves it when the node stops reporting.
inline Json LostPod(const std::string& name = "p", const std::string& revision = "r1") {
  Json pod = ReadyPod(name, revision);
  pod["status"]["conditions"][0]["status"] = "False";
  return pod;
}

inline Json WarningEvent(const std::string& reason, const std::string& note,
                         const std::string& time = "2026-01-02T03:04:00Z") {
  return {{"reason", reason}, {"note", note}, {"type", "Warning"}, {"deprecatedLastTimestamp", time}};
}

}  // namespace yad::testing

#endif  // TESTS_UNIT_YURTAPPDAEMON_PODS_H_
