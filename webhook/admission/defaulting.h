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

// Returns a patch that sets spec.revisionHistoryLimit if it is missing, and that sets the template's own selector to
// spec.selector, even if the template has another one (docs/decisions/0006). After the patch, no default is missing. If
// spec.selector has faults, the patch does not copy it. The patch sets nothing below a parent that is missing or has a
// wrong type, and nothing in an object that is being deleted. `old_object` is the stored object; null for a new one.
Defaulting DefaultYurtAppDaemon(const Json& object, const Json& old_object = Json());

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_DEFAULTING_H_
