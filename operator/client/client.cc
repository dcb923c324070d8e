#include "operator/client/client.h"

#include <algorithm>
#include <utility>

#include "operator/client/rate_limiter.h"
#include "operator/client/status_error.h"
#include "operator/client/url.h"
#include "operator/json/json_document.h"

namespace yad {
namespace {

// The connection of a watch counts as broken if no data arrives for the watch's timeout plus this margin.
constexpr std::chrono::seconds kWatchMargin{30};
// After a stop, a write of the leader (see WithWriteGuard) waits at most this long for its response. This is much
// shorter than a pod's default terminationGracePeriodSeconds of 30 s.
constexpr std::chrono::seconds kWriteGrace{3};
// The apiserver rejects a longer body with 413.
constexpr std::size_t kMaxBody = 3u << 20;

// Accept headers for reading only the metadata of objects. A server that does not support PartialObjectMetadata uses
// the last type, application/json, and sends whole objects.
constexpr char kMetadataOnly[] = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
constexpr char kMetadataOnlyList[] =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

constexpr char kJson[] = "application/json";

const char* ContentType(PatchType type) {
  constexpr const char* kTypes[] = {"application/merge-patch+json", "application/json-patch+json",
                                    "application/strategic-merge-patch+json",
                                    "application/apply-patch+yaml"};  // in the order of the enum
  return kTypes[static_cast<std::size_t>(type)];
}

// Rejects names that would lead to another path:
// - An empty name leads to the collection. A DELETE would then delete all of its objects.
// - ".", ".." or a slash leads out of the collection.
Status CheckKey(const ResourceType& type, const ObjectKey& key) {
  for (const std::string& part : {key.ns, key.name}) {
    if (part == "." || part == ".." || part.find('/') != std::string::npos) {
      return Fail(Reason::kInvalid, "\"" + part + "\" is not a valid name of an object");
    }
  }
  if (key.name.empty()) return Fail(Reason::kInvalid, type.kind + " (" + type.resource + "): the name is empty");
  if (type.namespaced && key.ns.empty()) {
    return Fail(Reason::kInvalid, type.kind + " \"" + key.name + "\" has no namespace");
  }
  return {};
}

ObjectKey KeyOf(const Json& object) {
  return {StringAt(object, {"metadata", "namespace"}), StringAt(object, {"metadata", "name"})};
}

Result<Json> TreeOf(const Result<JsonDocument>& answer) {
  if (!answer) return Fail(answer.error());
  return answer->TreeOfObject();
}

std::string GroupPath(const std::string& group, const std::string& version) {
  if (group.empty()) return "/api/" + PercentEncode(version);
  return "/apis/" + PercentEncode(group) + "/" + PercentEncode(version);
}

// Returns the method and the path, for messages. Omits the query, because a continue token has several hundred bytes.
std::string Describe(const HttpRequest& request) {
  return request.method + " " + request.path.substr(0, request.path.find('?'));
}

// Returns the messages in a Warning header. Each warning is `299 - "message"`. Several warnings are separated by
// commas.
std::vector<std::string> WarningTexts(const std::string& header) {
  std::vector<std::string> out;
  for (std::size_t i = header.find('"'); i != std::string::npos; i = header.find('"', i)) {
    std::string text;
    for (++i; i < header.size() && header[i] != '"'; ++i) {
      if (header[i] == '\\' && i + 1 < header.size()) ++i;
      text += header[i];
    }
    if (i < header.size()) ++i;
    out.push_back(std::move(text));
  }
  return out;
}

}  // namespace

std::string ResourcePath(const ResourceType& type, const std::string& ns, const std::string& name,
                         const std::string& subresource) {
  std::string path = GroupPath(type.group, type.version);
  if (type.namespaced && !ns.empty()) path += "/namespaces/" + PercentEncode(ns);
  path += "/" + PercentEncode(type.resource);
  if (!name.empty()) path += "/" + PercentEncode(name);
  if (!subresource.empty()) path += "/" + PercentEncode(subresource);
  return path;
}

struct Client::Impl {
  // Adds the common headers to the request and calls `attempt`, which sends it. After a 401, requests a new credential
  // and calls `attempt` once more. `head_of` returns the status and the headers of a response.
  template <typename T, typename Attempt, typename HeadOf>
  Result<T> Run(HttpRequest& request, const std::stop_token& stop, Attempt attempt, HeadOf head_of,
                const WriteOptions* write = nullptr) {
    request.headers.emplace("Accept", "application/json");
    if (!options.user_agent.empty()) request.headers["User-Agent"] = options.user_agent;
    for (bool again = false;; again = true) {
      const bool skips_rate_limit = write != nullptr && write->skips_rate_limit;
      if (skips_rate_limit ? stop.stop_requested() : !limiter->Acquire(stop))
        return Fail(Reason::kCancelled, Describe(request) + ": cancelled");
      if (skips_rate_limit) limiter->Take(1);
      if (options.authorization) {
        YAD_TRY(std::string authorization, options.authorization(stop));
        if (authorization.empty()) {
          request.headers.erase("Authorization");
        } else {
          request.headers["Authorization"] = std::move(authorization);
        }
      }
      if (write != nullptr && may_write) {
        if (!may_write()) {
          return Fail(Reason::kCancelled,
                      Describe(request) + ": cancelled, because this process no longer holds the lease");
        }
        // After a stop, a write of the leader may wait this long for its response. So the write has usually arrived
        // before the lease is released.
        request.grace_after_stop = kWriteGrace;
        request.may_send = may_write;
      }
      const SteadyTime start = clock.Now();
      Result<T> answer = attempt();
      const HttpResponse* head = answer ? &head_of(*answer) : nullptr;
      if (options.observe) options.observe(request.method, head == nullptr ? 0 : head->status, clock.Now() - start);
      if (head == nullptr) return answer;
      if (head->status == 401 && options.on_unauthorized && !again) {
        options.on_unauthorized();
        continue;
      }
      if (const auto warning = head->headers.find("warning"); warning != head->headers.end()) {
        for (std::string& text : WarningTexts(warning->second)) {
          if (write != nullptr && write->warnings != nullptr) {
            write->warnings->push_back(std::move(text));
          } else if (options.on_warning) {
            options.on_warning(text);
          }
        }
      }
      return answer;
    }
  }

  // Fails with kInvalid if the body is too long, and with the server's error if the status is not 2xx.
  Result<HttpResponse> Send(HttpRequest request, const std::stop_token& stop, const WriteOptions* write = nullptr) {
    if (request.body.size() > kMaxBody) {
      return Fail(Reason::kInvalid, Describe(request) + ": the object has " + std::to_string(request.body.size()) +
                                        " bytes of JSON, and the apiserver accepts at most " +
                                        std::to_string(kMaxBody) + ": shorten the template or the overrides");
    }
    request.timeout = options.timeout;
    Result<HttpResponse> response = Run<HttpResponse>(
        request, stop, [&] { return transport->Send(request, stop); },
        [](const HttpResponse& answer) -> const HttpResponse& { return answer; }, write);
    if (response && response->status / 100 != 2) {
      return Fail(ErrorFromResponse(*response, Describe(request)));
    }
    return response;
  }

  Result<JsonDocument> SendForDocument(HttpRequest request, const std::stop_token& stop,
                                       const WriteOptions* write = nullptr) {
    const std::string what = Describe(request);
    YAD_TRY(const HttpResponse response, Send(std::move(request), stop, write));
    Result<JsonDocument> body = JsonDocument::Parse(response.body);
    if (!body) return Fail(Reason::kDecode, "the response to " + what + " is " + body.error().message);
    if (!body->is_object()) {
      return Fail(Reason::kDecode, "the response to " + what + " is not an object: " + Excerpt(response.body));
    }
    return body;
  }

  Result<Json> SendForObject(HttpRequest request, const std::stop_token& stop) {
    return TreeOf(SendForDocument(std::move(request), stop));
  }

  // Sends a request that writes the object or the patch in `body`.
  Result<JsonDocument> SendWrite(const char* method, std::string path, const char* content_type, std::string body,
                                 const WriteOptions& write, const std::stop_token& stop) {
    Query query;
    query.AddIfSet("fieldManager", options.field_manager);
    if (write.dry_run) query.Add("dryRun", "All");
    HttpRequest request{.method = method,
                        .path = std::move(path) + query.text(),
                        .headers = {{"Content-Type", content_type}},
                        .body = std::move(body)};
    return SendForDocument(std::move(request), stop, &write);
  }

  Clock& clock;
  std::shared_ptr<RateLimiter> limiter;
  std::shared_ptr<HttpTransport> transport;
  ClientOptions options;
  std::function<bool()> may_write = {};  // empty: writes are always allowed
};

Client::Client(std::shared_ptr<HttpTransport> transport, ClientOptions options, Clock& clock)
    : impl_(new Impl{clock, std::make_shared<RateLimiter>(options.qps, options.burst, clock), std::move(transport),
                     std::move(options)}) {}
Client::~Client() = default;

std::unique_ptr<Client> Client::WithWriteGuard(std::function<bool()> allowed) const {
  auto client = std::make_unique<Client>(impl_->transport, impl_->options, impl_->clock);
  client->impl_->limiter = impl_->limiter;
  client->impl_->may_write = std::move(allowed);
  return client;
}

std::unique_ptr<Client> Client::WithoutLimit(std::chrono::milliseconds timeout) const {
  ClientOptions options = impl_->options;
  options.qps = 0;
  options.timeout = std::min(options.timeout, timeout);
  return std::make_unique<Client>(impl_->transport, std::move(options), impl_->clock);
}

const std::string& Client::field_manager() const { return impl_->options.field_manager; }

Result<std::vector<ResourceType>> Client::DiscoverResources(const std::string& group, const std::string& version,
                                                            std::stop_token stop) {
  HttpRequest request{.method = "GET", .path = GroupPath(group, version)};
  YAD_TRY(const Json list, impl_->SendForObject(std::move(request), stop));
  std::vector<ResourceType> out;
  for (const Json& resource : ListAt(list, {"resources"})) {
    const std::string name = StringAt(resource, {"name"});
    if (name.empty() || name.find('/') != std::string::npos) continue;  // skips subresources
    out.push_back({group, version, name, StringAt(resource, {"kind"}), BoolAt(resource, {"namespaced"})});
  }
  return out;
}

Result<std::vector<std::string>> Client::DiscoverVersions(const std::string& group, std::stop_token stop) {
  HttpRequest request{.method = "GET", .path = "/apis/" + PercentEncode(group)};
  YAD_TRY(const Json answer, impl_->SendForObject(std::move(request), stop));
  std::vector<std::string> out;
  for (const Json& version : ListAt(answer, {"versions"})) out.push_back(StringAt(version, {"version"}));
  return out;
}

Result<std::string> Client::GetRaw(const std::string& path, std::stop_token stop) {
  HttpRequest request{.method = "GET", .path = path, .headers = {{"Accept", "*/*"}}};
  YAD_TRY(HttpResponse response, impl_->Send(std::move(request), stop));
  return std::move(response.body);
}

Result<Json> Client::Get(const ResourceType& type, const ObjectKey& key, std::stop_token stop) {
  return TreeOf(GetAsDocument(type, key, std::move(stop)));
}

Result<JsonDocument> Client::GetAsDocument(const ResourceType& type, const ObjectKey& key, std::stop_token stop) {
  YAD_TRY_VOID(CheckKey(type, key));
  HttpRequest request{.method = "GET", .path = ResourcePath(type, key.ns, key.name)};
  return impl_->SendForDocument(std::move(request), stop);
}

Result<ObjectMeta> Client::GetMeta(const ResourceType& type, const ObjectKey& key, std::stop_token stop) {
  YAD_TRY_VOID(CheckKey(type, key));
  HttpRequest request{
      .method = "GET", .path = ResourcePath(type, key.ns, key.name), .headers = {{"Accept", kMetadataOnly}}};
  YAD_TRY(const Json object, impl_->SendForObject(std::move(request), stop));
  return ParseMeta(object);
}

Result<ListText> Client::ListAsText(const ResourceType& type, const ListOptions& options, std::stop_token stop) {
  Query query;
  query.AddIfSet("labelSelector", options.label_selector);
  query.AddIfSet("fieldSelector", options.field_selector);
  query.AddIfSet("resourceVersion", options.resource_version);
  if (options.limit > 0) query.Add("limit", std::to_string(options.limit));
  query.AddIfSet("continue", options.continue_token);
  HttpRequest request{.method = "GET", .path = ResourcePath(type, options.ns) + query.text()};
  if (options.metadata_only) request.headers.emplace("Accept", kMetadataOnlyList);
  if (options.max_bytes > 0) request.max_answer = options.max_bytes;
  YAD_TRY(HttpResponse response, impl_->Send(std::move(request), stop));
  return ListText::Split(std::move(response.body), type);
}

Result<ListPage> Client::List(const ResourceType& type, const ListOptions& options, std::stop_token stop) {
  YAD_TRY(const ListText list, ListAsText(type, options, std::move(stop)));
  ListPage page{{}, list.resource_version(), list.continue_token()};
  page.items.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    YAD_TRY(const JsonDocument item, list.Item(i));
    page.items.push_back(item.TreeOfObject());
  }
  return page;
}

Result<std::unique_ptr<Watch>> Client::OpenWatch(const ResourceType& type, const WatchOptions& options,
                                                 std::stop_token stop) {
  Query query;
  query.Add("watch", "true");
  query.Add("allowWatchBookmarks", "true");
  query.AddIfSet("labelSelector", options.label_selector);
  query.AddIfSet("fieldSelector", options.field_selector);
  query.AddIfSet("resourceVersion", options.resource_version);
  query.Add("timeoutSeconds", std::to_string(options.timeout.count()));
  HttpRequest request{.method = "GET", .path = ResourcePath(type, options.ns) + query.text()};
  request.timeout = options.timeout + kWatchMargin;
  auto stream = impl_->Run<std::unique_ptr<HttpStream>>(
      request, stop, [&] { return impl_->transport->Open(request, stop); },
      [](const std::unique_ptr<HttpStream>& answer) -> const HttpResponse& { return answer->head(); });
  if (!stream) return Fail(stream.error());
  if ((*stream)->head().status / 100 != 2) return Fail(ErrorFromResponse((*stream)->head(), Describe(request)));
  return std::make_unique<Watch>(std::move(*stream));
}

Result<Json> Client::Create(const ResourceType& type, const Json& object, const WriteOptions& options,
                            std::stop_token stop) {
  return TreeOf(CreateAsDocument(type, object, options, std::move(stop)));
}

Result<Json> Client::Update(const ResourceType& type, const Json& object, const WriteOptions& options,
                            std::stop_token stop) {
  return TreeOf(UpdateAsDocument(type, object, options, std::move(stop)));
}

Result<std::string> Client::GetAsProtobuf(const ResourceType& type, const ObjectKey& key, std::stop_token stop) {
  YAD_TRY_VOID(CheckKey(type, key));
  HttpRequest request{.method = "GET",
                      .path = ResourcePath(type, key.ns, key.name),
                      .headers = {{"Accept", "application/vnd.kubernetes.protobuf"}}};
  YAD_TRY(HttpResponse response, impl_->Send(std::move(request), stop));
  return std::move(response.body);
}

Result<Json> Client::UpdateWithText(const ResourceType& type, const Json& object, std::string_view member,
                                    std::string_view text, std::stop_token stop) {
  const ObjectKey key = KeyOf(object);
  YAD_TRY_VOID(CheckKey(type, key));
  std::string body = DumpJsonAsGo(object);
  body.pop_back();
  body += ",\"" + std::string(member) + "\":" + std::string(text) + "}";
  return TreeOf(impl_->SendWrite("PUT", ResourcePath(type, key.ns, key.name), kJson, std::move(body), {}, stop));
}

Result<JsonDocument> Client::CreateAsDocument(const ResourceType& type, const Json& object, const WriteOptions& options,
                                              std::stop_token stop) {
  ObjectKey key = KeyOf(object);
  const std::string ns = key.ns;
  // With generateName, the server chooses the name. This is not allowed for a subresource ("binding", "eviction"),
  // which belongs to an existing object.
  if (key.name.empty()) key.name = options.subresource.empty() ? StringAt(object, {"metadata", "generateName"}) : "";
  // A review, such as SelfSubjectAccessReview, has no name, because the server does not store it.
  const bool nameless = key.name.empty() && type.kind.ends_with("Review") && !type.namespaced;
  YAD_TRY_VOID(nameless ? Status() : CheckKey(type, key));
  std::string path =
      options.subresource.empty() ? ResourcePath(type, ns) : ResourcePath(type, ns, key.name, options.subresource);
  return impl_->SendWrite("POST", std::move(path), kJson, DumpJsonAsGo(object), options, stop);
}

Result<JsonDocument> Client::UpdateAsDocument(const ResourceType& type, const Json& object, const WriteOptions& options,
                                              std::stop_token stop) {
  const ObjectKey key = KeyOf(object);
  YAD_TRY_VOID(CheckKey(type, key));
  return impl_->SendWrite("PUT", ResourcePath(type, key.ns, key.name, options.subresource), kJson, DumpJsonAsGo(object),
                          options, stop);
}

Result<Json> Client::Patch(const ResourceType& type, const ObjectKey& key, PatchType patch_type, const Json& patch,
                           const WriteOptions& options, std::stop_token stop) {
  YAD_TRY_VOID(CheckKey(type, key));
  return TreeOf(impl_->SendWrite("PATCH", ResourcePath(type, key.ns, key.name, options.subresource),
                                 ContentType(patch_type), DumpJson(patch), options, stop));
}

Status Client::Delete(const ResourceType& type, const ObjectKey& key, const DeleteOptions& options,
                      std::stop_token stop) {
  YAD_TRY_VOID(CheckKey(type, key));
  Json body = {{"apiVersion", "v1"},
               {"kind", "DeleteOptions"},
               {"propagationPolicy", options.propagation == Propagation::kOrphan ? "Orphan" : "Background"}};
  if (!options.uid.empty()) body["preconditions"]["uid"] = options.uid;
  if (!options.resource_version.empty()) body["preconditions"]["resourceVersion"] = options.resource_version;
  HttpRequest request{.method = "DELETE",
                      .path = ResourcePath(type, key.ns, key.name),
                      .headers = {{"Content-Type", kJson}},
                      .body = DumpJson(body)};
  const WriteOptions write{.skips_rate_limit = options.skips_rate_limit};
  YAD_TRY_VOID(impl_->Send(std::move(request), stop, &write));
  return {};
}

}  // namespace yad
