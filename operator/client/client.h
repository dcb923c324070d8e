// The kube-apiserver's REST API: typed verbs over untyped objects.
#ifndef OPERATOR_CLIENT_CLIENT_H_
#define OPERATOR_CLIENT_CLIENT_H_

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/client/json_document.h"
#include "operator/client/list_text.h"
#include "operator/client/transport.h"

namespace yad {

struct ListOptions {
  std::string ns;              // "" for all namespaces, and for cluster-scoped types
  std::string label_selector;  // as in a URL before encoding: "app=x,tier in (a,b)"
  std::string field_selector;
  std::string resource_version;        // "" asks for the newest
  std::string resource_version_match;  // "", "NotOlderThan", "Exact"
  int limit = 0;                       // 0: everything in one answer
  std::size_t max_bytes = 0;           // kTooLarge for an answer of more; 0: what HttpRequest says
  std::string continue_token;
  bool metadata_only = false;  // the items have no more than their metadata
};

struct ListPage {
  std::vector<Json> items;  // With apiVersion and kind filled in (a list's items leave them out).
  std::string resource_version;
  std::string continue_token;  // "": this was the last page
};

struct WatchOptions {
  std::string ns;
  std::string label_selector;
  std::string field_selector;
  std::string resource_version;
  std::chrono::seconds timeout{300};  // The server ends the watch after this.
};

enum class WatchEventType { kAdded, kModified, kDeleted, kBookmark };

struct WatchEvent {
  WatchEventType type = WatchEventType::kAdded;
  JsonDocument object;
};

// One open watch. One thread reads it.
class Watch {
 public:
  virtual ~Watch() = default;
  // Waits for the next event. nullopt: the server ended the watch in an orderly way (time-out); open another.
  // An ERROR event is returned as the Error that it describes (kExpired for 410).
  virtual Result<std::optional<WatchEvent>> Next() = 0;
};

enum class PatchType { kMerge, kJson, kStrategicMerge, kApply };
enum class Propagation { kBackground, kForeground, kOrphan };

struct WriteOptions {
  bool dry_run = false;
  std::string subresource;  // "status"
  bool force = false;       // PatchType::kApply only
  // Gets the texts of this answer's Warning headers, which ClientOptions::on_warning then does not hear of.
  std::vector<std::string>* warnings = nullptr;
};

struct DeleteOptions {
  Propagation propagation = Propagation::kBackground;
  std::string uid;  // Preconditions; empty: none.
  std::string resource_version;
};

struct ClientOptions {
  std::string user_agent;  // "yurtappdaemon-operator/v0.1.0 (linux/amd64)"
  std::string field_manager = "yurtappdaemon-operator";
  double qps = 0;  // 0: no client-side limit
  int burst = 0;
  std::chrono::milliseconds timeout{30'000};
  // Called before each request: the value of the Authorization header, "" for none. May do I/O.
  std::function<Result<std::string>(const std::stop_token&)> authorization;
  // Called when the server answers 401, so that a cached credential is fetched anew; the request is then repeated once.
  std::function<void()> on_unauthorized;
  // Called for each answer (for metrics): verb, host-independent resource name, HTTP status (0: no answer), duration.
  std::function<void(const std::string& method, int status, Duration duration)> observe;
  // Called for each Warning header's text.
  std::function<void(const std::string& text)> on_warning;
};

// Thread-safe: any thread may call anything. All calls block; `stop` ends them early with kCancelled.
// Errors carry the Status object that the apiserver sent: reason, message, causes, retryAfter.
// Calls are made once; who wants a retry does it (the work queue, the reflector). retry_after is passed on.
class Client {
 public:
  Client(std::shared_ptr<HttpTransport> transport, ClientOptions options, Clock& clock = Clock::Real());
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // The same client for somebody who may write only while `allowed` says so, which is asked immediately before each
  // write is sent: else it fails with kCancelled.
  std::unique_ptr<Client> WritingOnlyIf(std::function<bool()> allowed) const;

  // The same client with an own count of requests, and no limit: for what must not wait behind everything else.
  std::unique_ptr<Client> WithoutLimit() const;

  // The types that the server knows in one group version; kNotFound where it is not served.
  Result<std::vector<ResourceType>> DiscoverResources(const std::string& group, const std::string& version,
                                                      std::stop_token stop = {});
  // The versions of a group in the server's order of preference; kNotFound where the group is not served.
  Result<std::vector<std::string>> DiscoverVersions(const std::string& group, std::stop_token stop = {});
  // GET on a path outside the resources: "/version", "/readyz".
  Result<std::string> GetRaw(const std::string& path, std::stop_token stop = {});

  Result<Json> Get(const ResourceType& type, const ObjectKey& key, std::stop_token stop = {});
  // The server is asked for no more than this: the rest of an object may be long.
  Result<ObjectMeta> GetMeta(const ResourceType& type, const ObjectKey& key, std::stop_token stop = {});
  // The object in Kubernetes' protobuf encoding, which has the JSON inside an object byte for byte as it is stored.
  Result<std::string> GetAsProtobuf(const ResourceType& type, const ObjectKey& key, std::stop_token stop = {});
  Result<ListPage> List(const ResourceType& type, const ListOptions& options, std::stop_token stop = {});
  // For who reads many: each item when its turn comes.
  Result<ListText> ListAsText(const ResourceType& type, const ListOptions& options, std::stop_token stop = {});
  Result<std::unique_ptr<Watch>> OpenWatch(const ResourceType& type, const WatchOptions& options,
                                           std::stop_token stop = {});

  // Writes return the object as the server has it afterwards. `object` needs metadata.name (and namespace).
  Result<Json> Create(const ResourceType& type, const Json& object, const WriteOptions& options = {},
                      std::stop_token stop = {});
  Result<Json> Update(const ResourceType& type, const Json& object, const WriteOptions& options = {},
                      std::stop_token stop = {});
  // The same, with one more member, which is sent byte for byte as `text` has it.
  Result<Json> UpdateWithText(const ResourceType& type, const Json& object, std::string_view member,
                              std::string_view text, std::stop_token stop = {});
  Result<Json> Patch(const ResourceType& type, const ObjectKey& key, PatchType patch_type, const Json& patch,
                     const WriteOptions& options = {}, std::stop_token stop = {});
  // For who writes many, and reads little of the answers.
  Result<JsonDocument> CreateAsDocument(const ResourceType& type, const Json& object, const WriteOptions& options = {},
                                        std::stop_token stop = {});
  Result<JsonDocument> UpdateAsDocument(const ResourceType& type, const Json& object, const WriteOptions& options = {},
                                        std::stop_token stop = {});
  Status Delete(const ResourceType& type, const ObjectKey& key, const DeleteOptions& options = {},
                std::stop_token stop = {});

 private:
  struct Impl;
  explicit Client(std::shared_ptr<Impl> impl, std::function<bool()> may_write);
  const std::shared_ptr<Impl> impl_;
  const std::function<bool()> may_write_;  // empty: always
};

// "/apis/apps/v1/namespaces/ns/deployments/name", percent-encoded.
std::string ResourcePath(const ResourceType& type, const std::string& ns, const std::string& name = "",
                         const std::string& subresource = "");

}  // namespace yad

#endif  // OPERATOR_CLIENT_CLIENT_H_
