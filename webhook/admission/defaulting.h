// The defaults that the webhook sets in a YurtAppDaemon. Pure.
#ifndef WEBHOOK_ADMISSION_DEFAULTING_H_
#define WEBHOOK_ADMISSION_DEFAULTING_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/api/object.h"

namespace yad {

struct Defaulting {
  Json patch = Json::array();         // JSONPatch (RFC 6902); empty if no default is missing
  std::vector<std::string> warnings;  // about values of the user that the patch replaces
};

// Returns a patch with the defaults. `old_object` is the stored object; null for a new object.
// - Sets spec.revisionHistoryLimit if it is missing.
// - Copies spec.selector to the selector in the workload template, even if the template has a different selector
//   (docs/decisions/0006). Does not copy an invalid spec.selector.
// - Does not set a field whose parent is missing or has a wrong type.
// - Sets nothing in an object that is being deleted.
Defaulting DefaultYurtAppDaemon(const Json& object, const Json& old_object = Json());

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_DEFAULTING_H_
