#include "plugin/commands/object_name.h"

#include <set>

#include "operator/api/names.h"
#include "operator/api/well_known.h"

namespace yad {
namespace {

// Returns "web" for "web" and for "KIND/web", where KIND is one of `kinds`. Errors suggest the short kind `brief`.
Result<std::string> ParseName(const std::string& argument, const std::string& type, const std::string& brief,
                              const std::set<std::string>& kinds) {
  std::string name = argument;
  if (const std::size_t slash = argument.find('/'); slash != std::string::npos) {
    name = argument.substr(slash + 1);
    if (!kinds.contains(argument.substr(0, slash))) {
      return Fail(Reason::kBadRequest,
                  "\"" + argument + "\" is not a valid " + type + ": give NAME or " + brief + "/NAME");
    }
  }
  if (const std::string fault = CheckDns1123Subdomain(name); !fault.empty())
    return Fail(Reason::kBadRequest, "\"" + name + "\" is not a valid name of a " + type + ": " + fault);
  return name;
}

}  // namespace

Result<std::string> DaemonNameOf(const std::string& argument) {
  return ParseName(argument, "YurtAppDaemon", "yad",
                   {"yad", "udd", "yurtappdaemon", "yurtappdaemons", "yurtappdaemon.apps.openyurt.io",
                    "yurtappdaemons.apps.openyurt.io"});
}

Result<std::string> AutoscalerNameOf(const std::string& argument) {
  return ParseName(argument, "NodePoolAutoscaler", "npa",
                   {"npa", "nodepoolautoscaler", "nodepoolautoscalers", "nodepoolautoscaler.capacity.openyurt.io",
                    "nodepoolautoscalers.capacity.openyurt.io"});
}

std::string TypedName(const std::string& kind, const std::string& name) {
  if (kind == kServiceType.kind) return "service/" + name;
  return (kind == kDeploymentType.kind ? "deployment.apps/" : "statefulset.apps/") + name;
}

}  // namespace yad
