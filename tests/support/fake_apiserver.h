// A kube-apiserver in memory, behind the HTTP transport. Tests use a real Client with it.
#ifndef TESTS_SUPPORT_FAKE_APISERVER_H_
#define TESTS_SUPPORT_FAKE_APISERVER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/object.h"
#include "tests/support/fake_transport.h"

namespace yad::testing {

// A write request and its response.
struct WriteRecord {
  std::string method;       // "POST", "PUT", "PATCH", "DELETE"
  std::string resource;     // "deployments"
  std::string subresource;  // "status", or "dry-run" for a POST with dryRun
  ObjectKey key;            // for a POST: from the body
  int status = 0;
  bool changed = false;  // false: the write was rejected, or changed nothing

  std::string ToString() const;  // "PUT deployments ns/name 200"
};

// Stores objects of any type. Like a real server:
// - It sets uid, resourceVersion, generation and creationTimestamp. Each object is one second younger than the
//   previous.
// - A change of metadata or status keeps the generation.
// - Status is written only through its subresource.
// - A write that changes nothing keeps the resourceVersion. A PUT without managedFields keeps them.
// - A write with a stale resourceVersion or another uid is a Conflict.
// - An object has at most one controller. The selector of a workload is immutable.
// - It supports finalizers, label selectors, pages, and watches from any version.
//
// Unlike a real server, its only field selectors are metadata.name and spec.nodeName. Thread-safe.
class FakeCluster {
 public:
  FakeCluster();

  const std::shared_ptr<FakeTransport>& transport() const { return transport_; }

  // ---- changes by the test: SetFaults and SetMutation do not affect them, and writes() omits them ----
  Json Create(const ResourceType& type, Json object);
  // Returns false if the object does not exist.
  bool Edit(const ResourceType& type, const ObjectKey& key, const std::function<void(Json&)>& edit);
  // Sets the exact bytes of the field `data` of a ControllerRevision. As on a real server, they are immutable: a PATCH,
  // or a PUT with other bytes, is rejected.
  void StoreDataAs(const ObjectKey& key, std::string text);
  void SetCreated(const ResourceType& type, const ObjectKey& key, const std::string& time);
  // Removes the object. If it has finalizers, sets only its deletionTimestamp: to `time`, or to a time before all tests
  // if `time` is "".
  bool Delete(const ResourceType& type, const ObjectKey& key, const std::string& time = "");
  std::optional<Json> Get(const ResourceType& type, const ObjectKey& key) const;
  std::vector<Json> List(const ResourceType& type, const std::string& label_selector = "") const;  // by key
  // Calls `visit` with each object, without copying it. `visit` must not call the cluster.
  void ForEach(const ResourceType& type, const std::function<void(const ObjectKey&, const Json&)>& visit) const;
  std::string resource_version() const;

  // ---- effects of the cluster on its clients ----

  // The client receives `answer` instead of the server's response. An Error is a broken connection. If `after` is true,
  // the server first executes the request.
  struct Fault {
    Result<HttpResponse> answer = HttpResponse{};
    bool after = false;
  };
  // Called before each request, including GET.
  using Faults = std::function<std::optional<Fault>(const WriteRecord& request, const Json& body)>;
  void SetFaults(Faults faults);
  // Called after each response. It may change the cluster.
  using Afterwards = std::function<void(const WriteRecord& request)>;
  void SetAfterwards(Afterwards afterwards);
  // A mutating webhook. It may change the object of each POST, PUT and PATCH, except writes of status.
  using Mutation = std::function<void(const ResourceType& type, const Json& old_object, Json& object)>;
  void SetMutation(Mutation mutation);

  std::vector<WriteRecord> writes() const;  // since the last ClearWrites
  void ClearWrites();

 private:
  using Table = std::map<ObjectKey, Json>;
  struct Target {
    ResourceType type;  // its kind is empty
    ObjectKey key;
    std::string subresource;
  };

  struct OpenWatch {
    Target target;
    std::string name;  // selects metadata.name; "": all names
    std::string label_selector;
    std::shared_ptr<FakeStream> stream;
  };

  struct Change {
    std::int64_t version;
    ResourceType type;
    Json before;  // null: created
    Json after;   // null: deleted
  };

  static void SendTo(const OpenWatch& watch, const Change& change);
  static Target TargetOf(const HttpRequest& request);
  Result<HttpResponse> Serve(const HttpRequest& request);
  std::shared_ptr<FakeStream> ServeWatch(const HttpRequest& request);
  // Sends the event to the open watches. Also keeps it for later watches that begin at an older version.
  void SendEvents(const ResourceType& type, const Json& before, const Json& after);
  HttpResponse Answer(const HttpRequest& request, const Target& target, const Json& body, WriteRecord& record);
  HttpResponse ServeList(const HttpRequest& request, const Target& target) const;
  HttpResponse ServePost(const Target& target, Json object, bool dry_run, WriteRecord& record);
  HttpResponse ServePut(const Target& target, Json object, WriteRecord& record);
  HttpResponse ServePatch(const Target& target, const Json& patch, WriteRecord& record);
  HttpResponse ServeDelete(const Target& target, const Json& options, WriteRecord& record);

  Table& TableOf(const ResourceType& type) { return tables_[{type.group, type.resource}]; }
  const Table* FindTable(const ResourceType& type) const;
  std::string NextVersion() { return std::to_string(++version_); }
  Json& Insert(const ResourceType& type, Json object);
  // Stores `object` in the place of `old`. Returns true if anything changed.
  bool Replace(const ResourceType& type, Json& old, Json object);
  void Remove(const ResourceType& type, const ObjectKey& key);

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Table> tables_;
  std::int64_t version_ = 100;
  std::int64_t uids_ = 0;
  Faults faults_;
  Afterwards afterwards_;
  Mutation mutation_;
  std::map<ObjectKey, std::string> data_texts_;  // of ControllerRevisions
  std::vector<WriteRecord> writes_;
  std::vector<OpenWatch> watches_;
  std::vector<Change> changes_;
  const std::shared_ptr<FakeTransport> transport_;
};

// Returns whether the labels match a selector in the format of ListOptions, such as "a,!b,c=d".
bool MatchesSelectorText(const std::string& selector, const StringMap& labels);

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_FAKE_APISERVER_H_
