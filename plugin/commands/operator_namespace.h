// Finds the namespace of the operator.
#ifndef PLUGIN_COMMANDS_OPERATOR_NAMESPACE_H_
#define PLUGIN_COMMANDS_OPERATOR_NAMESPACE_H_

#include <string>

#include "operator/base/error.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/object_reader.h"

namespace yad {

// Returns the value of --operator-namespace if it is set. Otherwise, returns the namespace of the operator's
// Deployment, which has the label of the operator's chart. Fails if Deployments can't be listed, or if no namespace or
// several namespaces have Deployments with this label. The error message then suggests the flag.
Result<std::string> OperatorNamespace(Session& session);
Result<std::string> OperatorNamespace(ObjectReader& objects, const std::string& given);

// Prints a warning if the namespace in --operator-namespace has no Deployment with the label of the operator's chart.
// Returns whether it has printed the warning. Prints nothing if the flag is not set, or if the Deployments in the
// namespace can't be listed.
bool WarnOfAbsentOperator(Session& session);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_OPERATOR_NAMESPACE_H_
