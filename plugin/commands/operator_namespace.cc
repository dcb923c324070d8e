#include "plugin/commands/operator_namespace.h"

#include <nlohmann/json.hpp>
#include <set>

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"
#include "plugin/commands/daemon.h"

namespace yad {
namespace {

// The chart sets this label on its Deployment, unless nameOverride is set.
constexpr char kLabel[] = "app.kubernetes.io/name=yurtappdaemon-operator";
constexpr char kAdvice[] = "give the operator's namespace with --operator-namespace NAMESPACE";

}  // namespace

Result<std::string> OperatorNamespace(Session& session) {
  ClusterReader objects(session.client);
  return OperatorNamespace(objects, session.options.operator_ns);
}

bool WarnOfAbsentOperator(Session& session) {
  const std::string& given = session.options.operator_ns;
  if (given.empty()) return false;
  const auto deployments = ListAll(session.client, kDeploymentType, given, kLabel);
  if (!deployments || !deployments->empty()) return false;
  session.console.Warn("namespace " + given + " has no Deployment with the label " + kLabel +
                       ": the operator reads a freeze only from its own namespace");
  return true;
}

Result<std::string> OperatorNamespace(ObjectReader& objects, const std::string& given) {
  if (!given.empty()) return given;
  const auto deployments = objects.List(kDeploymentType, "", kLabel);
  if (!deployments) {
    const Error& error = deployments.error();
    const bool forbidden = error.reason == Reason::kForbidden;
    return Fail(forbidden ? WithMessage(error, error.message + "; " + kAdvice) : error);
  }
  std::set<std::string> namespaces;
  for (const Json& deployment : *deployments) namespaces.insert(ParseMeta(deployment).key.ns);
  if (namespaces.size() == 1) return *namespaces.begin();
  if (namespaces.empty()) {
    return Fail(Reason::kNotFound, "no Deployment has the label " + std::string(kLabel) + ": " + kAdvice);
  }
  return Fail(Reason::kBadRequest, "the label " + std::string(kLabel) + " is on Deployments in several namespaces (" +
                                       NameSome({namespaces.begin(), namespaces.end()}) + "): " + kAdvice);
}

}  // namespace yad
