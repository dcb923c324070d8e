#include "operator/capacity/capacity_status.h"

#include <algorithm>

#include "operator/api/conditions.h"

namespace yad {
namespace {

constexpr std::size_t kMaxPods = 100;  // in one shortage

Condition ShortCondition(const CapacityPlan& plan) {
  std::vector<std::string> pods;
  for (const Shortage& shortage : plan.shortages) pods.insert(pods.end(), shortage.pods.begin(), shortage.pods.end());
  const bool standby = std::any_of(plan.standby.begin(), plan.standby.end(),
                                   [](const CapacityPlan::StandbyCount& entry) { return entry.have < entry.want; });
  // Shortages without pods do not count here. A shortage without pods only delays the leases for new pods until its
  // retry.
  if (plan.shortages.empty() || (pods.empty() && !standby))
    return {"Short", "False", "Enough", "no pod waits for a node, and each standby is complete"};
  std::string message = pods.empty() ? ""
                                     : std::to_string(pods.size()) + (pods.size() == 1 ? " pod waits" : " pods wait") +
                                           " for a node: " + NameSome(pods);
  if (standby) message += std::string(message.empty() ? "" : "; ") + "the standby is not complete";
  return {"Short", "True", plan.shortages.front().reason, message};
}

}  // namespace

Json BuildCapacityStatus(const ObjectMeta& meta, const Json& previous, const CapacityPlan* plan,
                         const Rejection& rejection, WallTime now) {
  Json status = previous.is_object() ? previous : Json::object();
  Conditions conditions(previous, meta.generation, now);
  if (rejection.reason.empty()) {
    conditions.Set({"Ready", "True", "Acting", ""});
  } else {
    conditions.Set({"Ready", "False", rejection.reason, rejection.message});
  }
  status["observedGeneration"] = meta.generation;
  if (plan != nullptr) {
    for (const CapacityCounter& counter : kCapacityCounters) status[counter.field] = plan->*counter.count;
    status["standby"] = Json::array();
    for (const auto& entry : plan->standby)
      status["standby"].push_back({{"name", entry.name}, {"want", entry.want}, {"have", entry.have}});
    status["shortages"] = Json::array();
    for (const Shortage& shortage : plan->shortages) {
      if (status["shortages"].size() == kMaxShortages) break;
      Shortage shown = shortage;
      if (shown.pods.size() > kMaxPods) shown.pods.resize(kMaxPods);
      status["shortages"].push_back(ToJson(shown));
    }
    conditions.Set(ShortCondition(*plan));
  }
  status["conditions"] = conditions.Take();
  return status;
}

}  // namespace yad
