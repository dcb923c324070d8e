// The flag --controllers, which selects the controllers to start. The syntax is the same as in kube-controller-manager.
#ifndef OPERATOR_RUNTIME_CONTROLLER_LIST_H_
#define OPERATOR_RUNTIME_CONTROLLER_LIST_H_

#include <set>
#include <string>
#include <vector>

#include "operator/base/error.h"

namespace yad {

enum class Chosen {
  kNo,         // the list contains "-name", or neither "name" nor "*"
  kByDefault,  // the list contains "*", but not "name": the controller decides whether it runs
  kYes,        // the list contains "name"
};

// The parsed value of --controllers.
class ControllerList {
 public:
  // Parses the entries: "name", "-name" or "*". Fails with kConfig if a name is not in `known`, or occurs both with and
  // without "-".
  static Result<ControllerList> Parse(const std::vector<std::string>& entries, const std::vector<std::string>& known);

  ControllerList() = default;  // "*"
  Chosen Choose(const std::string& name) const;

 private:
  bool all_ = true;
  std::set<std::string> named_;
  std::set<std::string> excluded_;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_CONTROLLER_LIST_H_
