#include "tests/cluster/rights.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "operator/api/well_known.h"
#include "tests/support/process.h"

namespace yad::testing {
namespace {

// Returns a string such as "update apps/deployments", or "patch apps.openyurt.io/yurtappdaemons/status" for a
// subresource.
std::string Permission(const std::string& verb, const std::string& group, const std::string& resource) {
  return verb + " " + group + "/" + resource;
}

// Returns the permissions of the roles that are bound to the ServiceAccount.
std::set<std::string> Granted(const ControlPlane& plane, const ChartInstall& install) {
  std::set<std::string> permissions;
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
          for (const std::string verb : rule.at("verbs")) permissions.insert(Permission(verb, group, resource));
        }
      }
    }
  }
  return permissions;
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Writes this shard's used permissions into a file, and adds the other shards' permissions to `used`. Returns false if
// a shard is still running.
bool AddOtherShards(std::set<std::string>& used) {
  const std::string shards = Variable("GTEST_TOTAL_SHARDS");
  if (shards.empty()) return true;
  const std::filesystem::path folder = Variable("YAD_USED_RIGHTS");
  std::filesystem::create_directories(folder);
  std::string mine;
  for (const std::string& permission : used) mine += permission + "\n";
  // Another shard may read the file at any time. Because of the rename, it reads only a complete file.
  const std::filesystem::path file = folder / Variable("GTEST_SHARD_INDEX");
  WriteFile(file.string() + ".part", mine);
  std::filesystem::rename(file.string() + ".part", file);
  for (int shard = 0; shard < std::stoi(shards); ++shard) {
    std::ifstream other(folder / std::to_string(shard));
    if (!other) return false;
    for (std::string permission; std::getline(other, permission);) used.insert(permission);
  }
  return true;
}

}  // namespace

void CheckRights(const ControlPlane& plane, const ChartInstall& install) {
  const std::set<std::string> granted = Granted(plane, install);
  std::set<std::string> used;
  for (const AuditedRequest& request : plane.RequestsOf(install.ns(), install.name())) {
    const std::string resource = request.resource + (request.subresource.empty() ? "" : "/" + request.subresource);
    const std::string permission = Permission(request.verb, request.group, resource);
    used.insert(permission);
    if (request.resource == "secrets") {
      EXPECT_EQ(request.ns, install.ns()) << permission;
      EXPECT_TRUE(request.verb == "create" || request.name == install.certificate_secret())
          << permission << request.name;
    }
    if (request.resource == "configmaps" && !request.forbidden) {
      EXPECT_EQ(request.ns, install.ns()) << permission;
      EXPECT_EQ(request.name, kFreezeName) << permission;
    }
    // A request with a granted permission may also be denied: after a restart, an apiserver has not read the roles yet.
    EXPECT_TRUE(!request.forbidden || granted.contains(permission))
        << "the operator was denied: " << permission << " " << request.ns << "/" << request.name;
  }
  const bool all_tests = GTEST_FLAG_GET(filter) == "*" || !Variable("YAD_USED_RIGHTS").empty();
  if (!all_tests || !AddOtherShards(used)) return;
  for (const std::string& permission : granted) {
    // No request uses this permission. The apiserver checks it when the operator sets an ownerReference (admission
    // plugin OwnerReferencesPermissionEnforcement).
    if (permission == "update apps.openyurt.io/yurtappdaemons/finalizers") continue;
    EXPECT_TRUE(used.contains(permission)) << "no operator used the granted permission: " << permission;
  }
}

}  // namespace yad::testing
