// A client of the Kubernetes API for tests. An error ends the test.
#ifndef TESTS_SUPPORT_KUBE_H_
#define TESTS_SUPPORT_KUBE_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/well_known.h"
#include "operator/client/client.h"

namespace yad::testing {

inline const ResourceType kNamespaceType{"", "v1", "namespaces", "Namespace", false};
inline const ResourceType kResourceQuotaType{"", "v1", "resourcequotas", "ResourceQuota", true};
inline const ResourceType kReplicaSetType{"apps", "v1", "replicasets", "ReplicaSet", true};

// Reads and writes the objects of one namespace, and cluster-scoped objects. Thread-safe. Every error throws
// TestFailure.
class Kube {
 public:
  Kube(Client& client, std::string ns) : client_(client), ns_(std::move(ns)) {}

  const std::string& ns() const { return ns_; }
  Client& client() const { return client_; }

  Json Get(const ResourceType& type, const std::string& name) const;
  std::optional<Json> Find(const ResourceType& type, const std::string& name) const;  // nullopt: it does not exist
  std::vector<Json> List(const ResourceType& type, const std::string& label_selector = "") const;
  // Sets apiVersion, kind and namespace.
  Json Create(const ResourceType& type, Json object) const;
  Json Update(const ResourceType& type, Json object) const;
  // Applies `change` to the object and updates it. Retries on a conflict.
  template <typename Change>
  Json Edit(const ResourceType& type, const std::string& name, Change change) const {
    while (true) {
      Json object = Get(type, name);
      change(object);
      Result<Json> result = client_.Update(type, object);
      if (result.has_value()) return *result;
      if (result.error().reason != Reason::kConflict) ThrowError("update", type, name, result.error());
    }
  }
  Json MergePatch(const ResourceType& type, const std::string& name, const Json& patch,
                  const std::string& subresource = "") const;
  Json JsonPatch(const ResourceType& type, const std::string& name, const Json& patch) const;
  void Delete(const ResourceType& type, const std::string& name,
              Propagation propagation = Propagation::kBackground) const;

 private:
  ObjectKey Key(const ResourceType& type, const std::string& name) const;
  Json Complete(const ResourceType& type, Json object) const;
  [[noreturn]] static void ThrowError(const std::string& verb, const ResourceType& type, const std::string& name,
                                      const Error& error);

  Client& client_;
  std::string ns_;
};

// Creates a Node with room for 500 pods. KWOK makes the Node and its pods Ready.
void MakeNode(const Kube& kube, const std::string& name, const Json& labels = Json::object(),
              const Json& taints = Json::array());

// Returns `object[path]` by JSON pointer ("/metadata/name"), or null if it is absent.
Json At(const Json& object, const std::string& pointer);
std::string NameOf(const Json& object);
std::string UidOf(const Json& object);
std::string VersionOf(const Json& object);
// Removes the fields that Kubernetes' workload controllers write. The remaining fields change only if another client
// writes the workload.
Json WithoutStatus(Json object);

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_KUBE_H_
