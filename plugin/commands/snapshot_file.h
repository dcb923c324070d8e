// Reads a cluster's objects from a file that `kubectl get … -o yaml` (or json) has written.
#ifndef PLUGIN_COMMANDS_SNAPSHOT_FILE_H_
#define PLUGIN_COMMANDS_SNAPSHOT_FILE_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "plugin/commands/object_reader.h"
#include "plugin/manifest/manifest.h"

namespace yad {

// An ObjectReader that reads from one file. Ignores objects of types that simulations do not need.
class SnapshotFile : public ObjectReader {
 public:
  static constexpr std::size_t kMaxBytes = 256u << 20;
  static constexpr std::size_t kMaxObjects = 200'000;

  // Reads and checks the file ("-": standard input). An error contains the line and the field.
  static Result<SnapshotFile> Read(const std::string& path, Console& console);
  static Result<SnapshotFile> Make(ManifestFile file);

  // Fails with kConfig if the file has no object of the type.
  Result<Json> Get(const ResourceType& type, const ObjectKey& key) override;
  Result<std::vector<Json>> List(const ResourceType& type, const std::string& ns,
                                 const std::string& label_selector = "") override;

  // Returns the namespace of the YurtAppDaemon with this name. If `ns` is not "", considers only namespace `ns`. Fails
  // if the file has no YurtAppDaemon of this name, or if several namespaces have a YurtAppDaemon of this name.
  Result<std::string> NamespaceOf(const std::string& name, const std::string& ns) const;
  // Checks that the spec of this YurtAppDaemon in the file is valid.
  Status CheckSpec(const ObjectKey& key) const;
  // Checks that the file contains the objects that the daemon's status refers to. The error contains the missing object
  // or type.
  Status CheckParts(const Json& daemon) const;
  // Returns whether the file has an object of the type.
  bool Has(const ResourceType& type) const { return by_key_.contains(type.resource); }

 private:
  using Keys = std::map<ObjectKey, std::size_t>;  // the indices of objects

  Status Add(std::size_t object);
  const Keys& KeysOf(const ResourceType& type) const;  // empty if the file has no object of the type

  ManifestFile file_;
  std::map<std::string, Keys> by_key_;  // by resource
};

}  // namespace yad

#endif  // PLUGIN_COMMANDS_SNAPSHOT_FILE_H_
