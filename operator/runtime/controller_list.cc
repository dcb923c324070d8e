#include "operator/runtime/controller_list.h"

#include <algorithm>

#include "operator/base/join.h"

namespace yad {

Result<ControllerList> ControllerList::Parse(const std::vector<std::string>& entries,
                                             const std::vector<std::string>& known) {
  ControllerList list;
  list.all_ = false;
  for (const std::string& entry : entries) {
    if (entry == "*") {
      list.all_ = true;
      continue;
    }
    const bool excluded = entry.starts_with("-");
    const std::string name = excluded ? entry.substr(1) : entry;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return Fail(Reason::kConfig, "unknown controller \"" + entry + "\"; valid: " + Join(known) + ", -NAME and *");
    }
    (excluded ? list.excluded_ : list.named_).insert(name);
    if (list.named_.contains(name) && list.excluded_.contains(name))
      return Fail(Reason::kConfig,
                  "controller \"" + name + "\" is both named and excluded: remove one of the two entries");
  }
  return list;
}

Chosen ControllerList::Choose(const std::string& name) const {
  if (named_.contains(name)) return Chosen::kYes;
  if (excluded_.contains(name) || !all_) return Chosen::kNo;
  return Chosen::kByDefault;
}

}  // namespace yad
