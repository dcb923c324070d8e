#include "operator/capacity/capacity_plan.h"

#include <utility>

namespace yad {

Json ToJson(const CapacityPlan& plan) {
  Json json{{"leases", Json::array()},
            {"releases", Json::array()},
            {"expectations", plan.expectations},
            {"shortages", Json::array()}};
  for (const CapacityPlan::Lease& lease : plan.leases) {
    Json entry{{"node", nullptr}, {"for", "standby"}};
    if (!lease.pods.empty()) {
      entry["for"] = Json::array();
      for (const Pod* pod : lease.pods) entry["for"].push_back(pod->key.ToString());
    }
    if (lease.node != nullptr) {
      entry["node"] = lease.node->meta.key.name;
    } else {
      entry["requirements"] = lease.requirements;
    }
    json["leases"].push_back(std::move(entry));
  }
  for (const CapacityPlan::Release& release : plan.releases) json["releases"].push_back(release.node->meta.key.name);
  for (const Shortage& shortage : plan.shortages) json["shortages"].push_back(ToJson(shortage));
  return json;
}

}  // namespace yad
