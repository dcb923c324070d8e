// What the defaulting webhook puts into a YurtAppDaemon. Pure.
#ifndef WEBHOOK_DEFAULTING_H_
#define WEBHOOK_DEFAULTING_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/api/object.h"

namespace yad {

struct Defaulting {
  Json patch = Json::array();         // JSONPatch (RFC 6902); empty: nothing is missing
  std::vector<std::string> warnings;  // what the patch takes away from what somebody wrote
};

// spec.revisionHistoryLimit where it is missing, and spec.selector as the template's own selector, in the place of
// another one too (docs/decisions/0006). Applied, it leaves nothing to default. Nothing is put where a parent is
// missing or of a wrong type, and nothing into an object that is being deleted. `old_object`: what is stored, null for
// a new one.
Defaulting DefaultYurtAppDaemon(const Json& object, const Json& old_object = Json());

}  // namespace yad

#endif  // WEBHOOK_DEFAULTING_H_
