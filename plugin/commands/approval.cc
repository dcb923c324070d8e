#include "plugin/commands/approval.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/api/update_strategy.h"
#include "operator/api/well_known.h"
#include "operator/base/join.h"
#include "plugin/commands/daemon.h"

namespace yad {
std::vector<std::string> ManualGroups(const Json& daemon) {
  std::vector<std::string> names;
  for (const Json& group : ListAt(daemon, {"spec", "updateStrategy", "rollingUpdate", "groups"})) {
    if (StringAt(group, {"approval"}) == "Manual") names.push_back(StringAt(group, {"name"}));
  }
  return names;
}

Result<bool> Approve(const std::vector<std::string>& groups, const std::string& wanted, Json& daemon,
                     std::vector<std::string>& approved_before) {
  const std::string name = Quoted(StringAt(daemon, {"metadata", "name"}));
  const std::vector<std::string> manual = ManualGroups(daemon);
  for (const std::string& group : groups) {
    if (std::find(manual.begin(), manual.end(), group) != manual.end()) continue;
    return Fail(Reason::kBadRequest,
                name + " has no group \"" + group + "\" with approval Manual; " +
                    (manual.empty() ? "no group in spec.updateStrategy.rollingUpdate.groups has approval Manual"
                                    : "valid: " + Join(manual)));
  }
  const std::string revision = StringAt(daemon, {"status", "updateRevision"});
  if (revision.empty() || IntAt(daemon, {"status", "observedGeneration"}) < IntAt(daemon, {"metadata", "generation"})) {
    return Fail(Reason::kBadRequest, "the operator has not observed the newest spec of " + name +
                                         " yet, so the revision to approve is not known: try again in a few seconds");
  }
  if (!wanted.empty() && wanted != revision) {
    return Fail(Reason::kConflict, "the update revision of " + name + " is " + revision + ", and no longer " + wanted +
                                       ": check it (kubectl yad diff, kubectl yad history), and approve it with "
                                       "--revision=" +
                                       revision);
  }

  std::vector<std::string> kept;
  const std::string before = StringAt(daemon, {"metadata", "annotations", kApproveAnnotation});
  for (std::string& entry : ApprovalEntries(before)) {
    if (entry.starts_with(revision + "/")) kept.push_back(std::move(entry));
  }
  bool added = false;
  for (const std::string& group : groups) {
    const std::string entry = revision + "/" + group;
    if (std::find(kept.begin(), kept.end(), entry) != kept.end()) {
      approved_before.push_back(group);
    } else {
      kept.push_back(entry);
      added = true;
    }
  }
  if (!added) return false;
  Json& annotations = daemon["metadata"]["annotations"];
  if (!annotations.is_object()) annotations = Json::object();
  annotations[kApproveAnnotation] = Join(kept, ",");
  return true;
}

}  // namespace yad
