// Names of objects as users write them, with or without the kind.
#ifndef PLUGIN_COMMANDS_OBJECT_NAME_H_
#define PLUGIN_COMMANDS_OBJECT_NAME_H_

#include <string>

#include "operator/base/error.h"

namespace yad {

// Returns "web" for "web", "yad/web", "yurtappdaemon/web" and similar forms. Fails with kBadRequest for the name of
// another type.
Result<std::string> DaemonNameOf(const std::string& argument);
// Returns the name of a NodePoolAutoscaler from an argument such as "hangzhou" or "npa/hangzhou". Fails like
// DaemonNameOf.
Result<std::string> AutoscalerNameOf(const std::string& argument);

// Returns the name as kubectl prints it with `-o name`: "deployment.apps/NAME", "statefulset.apps/NAME",
// "service/NAME".
std::string TypedName(const std::string& kind, const std::string& name);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_OBJECT_NAME_H_
