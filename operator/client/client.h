// A client for the kube-apiserver's REST API. Objects are JSON values. There is no C++ type for each kind.
#ifndef OPERATOR_CLIENT_CLIENT_H_
#define OPERATOR_CLIENT_CLIENT_H_

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/client/transport/transport.h"
#include "operator/client/watch_stream.h"
#include "operator/json/json_document.h"
#include "operator/json/list_text.h"

namespace yad {

// The usual number of objects in a page of a list, as in kubectl.
inline constexpr int kPageLimit = 500;

struct ListOptions {
  std::string ns = {};              // "" for all namespaces, and for cluster-scoped types
  std::string label_selector = {};  // as in the URL parameter, but not percent-encoded: "app=x,tier in (a,b)"
  std::string field_selector = {};
  std::string resource_version = {};  // "" reads the newest state
  int limit = 0;                      // maximum number of items in one response; 0: all items
  std::size_t max_bytes = 0;          // a longer response fails with kTooLarge; 0: HttpRequest's default
  std::string continue_token = {};
  bool metadata_only = false;  // requests only the metadata of the items
};

struct ListPage {
  std::vector<Json> items;  // each has apiVersion and kind, although the server omits them in most lists
  std::string resource_version;
  std::string continue_token;  // "" on the last page
};

struct WatchOptions {
  std::string ns = {};
  std::string label_selector = {};
  std::string field_selector = {};
  std::string resource_version = {};
  std::chrono::seconds timeout{300};  // the server ends the watch after this time
};

enum class PatchType { kMerge, kJson, kStrategicMerge, kApply };
enum class Propagation { kBackground, kOrphan };

struct WriteOptions {
  bool dry_run = false;
  std::string subresource = {};  // "status"
  // True: the write does not wait for the rate limit, because it relies on an object that was just read from the
  // server. Later requests wait longer instead, so that the average rate stays the same.
  bool skips_rate_limit = false;
  // If set, the messages of the response's Warning headers are stored here, and ClientOptions::on_warning is not
  // called.
  std::vector<std::string>* warnings = nullptr;
};

struct DeleteOptions {
  Propagation propagation = Propagation::kBackground;
  // Preconditions: the server rejects the deletion if the object has another uid or resourceVersion. An empty value is
  // no precondition.
  std::string uid = {};
  std::string resource_version = {};
  bool skips_rate_limit = false;  // as in WriteOptions
};

// The functions are called on the threads that call the client, possibly on several threads at the same time.
struct ClientOptions {
  std::string user_agent;  // "yurtappdaemon-operator/v0.1.0 (linux/amd64)"
  std::string field_manager = "yurtappdaemon-operator";
  double qps = 0;  // requests per second; 0: no client-side limit
  int burst = 0;
  std::chrono::milliseconds timeout{30'000};  // sets HttpRequest::timeout; a watch has its own timeout (WatchOptions)
  // Returns the value of the Authorization header, or "" for no header. Called before each request. May do I/O. If it
  // fails, the request fails with its Error.
  std::function<Result<std::string>(const std::stop_token&)> authorization;
  // Called after a 401, to drop a cached credential. The client then repeats the request once.
  std::function<void()> on_unauthorized;
  // Called after each request, for metrics. `status` is the HTTP status, or 0 if there was no response. `duration` is
  // the time until the end of the response, or until its head for a watch.
  std::function<void(const std::string& method, int status, Duration duration)> observe;
  // Called with the message of each Warning header.
  std::function<void(const std::string& text)> on_warning;
};

// Sends requests to the apiserver. Thread-safe.
//
// All calls block until the response has arrived; `stop` ends them early with kCancelled. An Error has the reason,
// message, causes and retry_after of the apiserver's Status. The client repeats a request only after a 401. All other
// retries are made by the callers, such as the work queue and the reflector.
//
// A call fails with kInvalid, and sends nothing, if
// - a name or namespace is missing or malformed;
// - the body has more than 3 MiB.
//
// A call fails with kTooLarge if the response is longer than HttpRequest::max_answer.
class Client {
 public:
  Client(std::shared_ptr<HttpTransport> transport, ClientOptions options, Clock& clock = Clock::Real());
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Returns a client that calls `allowed` immediately before each write. If `allowed` returns false, the client does
  // not send the write, and fails with kCancelled. Both clients share the rate limit. After a stop, a write that was
  // already sent waits a few more seconds for its response. The leader releases its lease after this wait. So the write
  // has usually arrived before another process can lead, but a slow write may arrive later.
  std::unique_ptr<Client> WithWriteGuard(std::function<bool()> allowed) const;

  // Returns a client without the rate limit and the write guard, for requests that must not wait for other requests.
  // Its ClientOptions::timeout is at most `timeout`, so that a connection to a server with several addresses tries them
  // all in this time.
  std::unique_ptr<Client> WithoutLimit(std::chrono::milliseconds timeout) const;

  // Returns the name under which the server records this client's writes in managedFields.
  const std::string& field_manager() const;

  // Returns the types of a group and version, without subresources. Fails with kNotFound if the server does not have
  // the version.
  Result<std::vector<ResourceType>> DiscoverResources(const std::string& group, const std::string& version,
                                                      std::stop_token stop = {});
  // Returns the versions of a group in Kubernetes' order of priority: GA before beta before alpha, and higher numbers
  // first. Fails with kNotFound if the server does not have the group.
  Result<std::vector<std::string>> DiscoverVersions(const std::string& group, std::stop_token stop = {});
  // Returns the body of a GET for a path that is not a resource, such as "/version" or "/readyz".
  Result<std::string> GetRaw(const std::string& path, std::stop_token stop = {});

  Result<Json> Get(const ResourceType& type, const ObjectKey& key, std::stop_token stop = {});
  // Like Get, but the response is not converted to Json, and contains managedFields.
  Result<JsonDocument> GetAsDocument(const ResourceType& type, const ObjectKey& key, std::stop_token stop = {});
  // Requests only the metadata of the object, because the whole object may be long.
  Result<ObjectMeta> GetMeta(const ResourceType& type, const ObjectKey& key, std::stop_token stop = {});
  // Returns the object in Kubernetes' protobuf encoding. Unlike JSON, it contains the data of a ControllerRevision byte
  // for byte as it is stored.
  Result<std::string> GetAsProtobuf(const ResourceType& type, const ObjectKey& key, std::stop_token stop = {});
  Result<ListPage> List(const ResourceType& type, const ListOptions& options, std::stop_token stop = {});
  // Returns a list whose items are parsed one by one, which needs less memory for a long list.
  Result<ListText> ListAsText(const ResourceType& type, const ListOptions& options, std::stop_token stop = {});
  // Opens a watch with bookmarks. If the server responds with an error of more than 1 MiB, fails with kDecode.
  Result<std::unique_ptr<Watch>> OpenWatch(const ResourceType& type, const WatchOptions& options,
                                           std::stop_token stop = {});

  // The functions below return the object as the server has stored it. `object` must have metadata.name (for Create,
  // generateName is enough), and metadata.namespace if the type is namespaced.
  Result<Json> Create(const ResourceType& type, const Json& object, const WriteOptions& options = {},
                      std::stop_token stop = {});
  Result<Json> Update(const ResourceType& type, const Json& object, const WriteOptions& options = {},
                      std::stop_token stop = {});
  // Like Update, but adds a top-level member to the object. The value of the member is the JSON in `text`, which is
  // sent byte for byte.
  Result<Json> UpdateWithText(const ResourceType& type, const Json& object, std::string_view member,
                              std::string_view text, std::stop_token stop = {});
  Result<Json> Patch(const ResourceType& type, const ObjectKey& key, PatchType patch_type, const Json& patch,
                     const WriteOptions& options = {}, std::stop_token stop = {});
  // Like Create and Update, but the response is not converted to Json. This is faster for callers that write many
  // objects and read little of the responses.
  Result<JsonDocument> CreateAsDocument(const ResourceType& type, const Json& object, const WriteOptions& options = {},
                                        std::stop_token stop = {});
  Result<JsonDocument> UpdateAsDocument(const ResourceType& type, const Json& object, const WriteOptions& options = {},
                                        std::stop_token stop = {});
  Status Delete(const ResourceType& type, const ObjectKey& key, const DeleteOptions& options = {},
                std::stop_token stop = {});

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

// Returns a percent-encoded path such as "/apis/apps/v1/namespaces/ns/deployments/name". Empty arguments are omitted.
std::string ResourcePath(const ResourceType& type, const std::string& ns, const std::string& name = "",
                         const std::string& subresource = "");

}  // namespace yad

#endif  // OPERATOR_CLIENT_CLIENT_H_
