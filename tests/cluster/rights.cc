#include "tests/cluster/rights.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace yad::testing {
namespace {

// "update apps/deployments", "patch apps.openyurt.io/yurtappdaemons/status"
std::string Right(const std::string& verb, const std::string& group, const std::string& resource) {
  return verb + " " + group + "/" + resource;
}

// What the roles allow that are bound to the ServiceAccount.
std::set<std::string> Granted(const ControlPlane& plane, const ChartInstall& install) {
  std::set<std::string> rights;
  const Json bindings =
      Json::parse(plane.Kubectl({"get", "clusterrolebindings,rolebindings", "--all-namespaces", "--output=json"}));
  for (const Json& binding : bindings.at("items")) {
    bool ours = false;
    for (const Json& subject : binding.value("subjects", Json::array())) {
      ours =
          ours || (StringAt(subject, {"name"}) == install.name() && StringAt(subject, {"namespace"}) == install.ns());
    }
    if (!ours) continue;
    std::vector<std::string> get = {"get", StringAt(binding, {"roleRef", "kind"}),
                                    StringAt(binding, {"roleRef", "name"}), "--output=json"};
    if (const std::string ns = StringAt(binding, {"metadata", "namespace"}); !ns.empty())
      get.push_back("--namespace=" + ns);
    const Json role = Json::parse(plane.Kubectl(get));
    for (const Json& rule : role.at("rules")) {
      for (const std::string group : rule.at("apiGroups")) {
        for (const std::string resource : rule.at("resources")) {
          for (const std::string verb : rule.at("verbs")) rights.insert(Right(verb, group, resource));
        }
      }
    }
  }
  return rights;
}

}  // namespace

void CheckRights(const ControlPlane& plane, const ChartInstall& install, bool everything_ran) {
  const std::set<std::string> granted = Granted(plane, install);
  std::set<std::string> used;
  for (const AuditedRequest& request : plane.RequestsOf(install.ns(), install.name())) {
    const std::string resource = request.resource + (request.subresource.empty() ? "" : "/" + request.subresource);
    const std::string right = Right(request.verb, request.group, resource);
    used.insert(right);
    if (request.resource == "secrets") {
      EXPECT_EQ(request.ns, install.ns()) << right;
      EXPECT_TRUE(request.verb == "create" || request.name == install.certificate_secret()) << right << request.name;
    }
    // An apiserver that has just been restarted denies everything until it has read the roles.
    EXPECT_TRUE(!request.forbidden || granted.contains(right))
        << "the operator was denied: " << right << " " << request.ns << "/" << request.name;
  }
  if (!everything_ran) return;
  for (const std::string& right : granted) {
    // The apiserver asks for it in the operator's name where OwnerReferencesPermissionEnforcement runs.
    if (right == "update apps.openyurt.io/yurtappdaemons/finalizers") continue;
    // Kubernetes before 1.32 has no streaming lists.
    if (right.starts_with("list ") && used.contains("watch " + right.substr(5))) continue;
    EXPECT_TRUE(used.contains(right)) << "the operator may " << right << ", and never did";
  }
}

}  // namespace yad::testing
