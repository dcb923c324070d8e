// A small apiserver in memory. It supports leases, events, lists of one type, and watches of one object.
#ifndef TESTS_UNIT_RUNTIME_FAKE_API_SERVER_H_
#define TESTS_UNIT_RUNTIME_FAKE_API_SERVER_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/fake_transport.h"

namespace yad::testing {

// Waits until `condition` is true. The test times out otherwise.
template <typename Condition>
void Until(Condition condition) {
  while (!condition()) std::this_thread::yield();
}

// Checks resourceVersions as an apiserver does. Only watches of a single object receive events. Thread-safe.
class FakeApiServer : public HttpTransport {
 public:
  using Json = nlohmann::json;
  // Called before the server handles a request. A response of the hook replaces the server's response.
  using Hook = std::function<std::optional<Result<HttpResponse>>(const HttpRequest&)>;

  FakeApiServer() {
    wire_.OnSend([this](const HttpRequest& request) { return Serve(request); });
    wire_.OnOpen([this](const HttpRequest& request) { return OpenWatch(request); });
  }

  FakeTransport& wire() { return wire_; }
  void OnRequest(Hook hook) {
    std::lock_guard lock(mutex_);
    hook_ = std::make_shared<Hook>(std::move(hook));
  }
  // While `hang` is true, new requests wait for their stop or for Hang(false).
  void Hang(bool hang) {
    std::lock_guard lock(mutex_);
    hang_ = hang;
    changed_.notify_all();
  }

  std::optional<Json> Find(const std::string& path) const {
    std::lock_guard lock(mutex_);
    const auto found = objects_.find(path);
    return found == objects_.end() ? std::nullopt : std::optional<Json>(found->second);
  }
  // Writes the object with a new resourceVersion, as another client does.
  void Put(const std::string& path, Json object) {
    std::lock_guard lock(mutex_);
    Store(path, std::move(object));
  }
  void Change(const std::string& path, const std::function<void(Json&)>& change) {
    std::lock_guard lock(mutex_);
    Json object = objects_.at(path);
    change(object);
    Store(path, std::move(object));
  }
  void Erase(const std::string& path) {
    std::lock_guard lock(mutex_);
    auto gone = objects_.extract(path);
    if (gone.empty()) return;
    gone.mapped()["metadata"]["resourceVersion"] = std::to_string(++version_);
    SendEvent(path, "DELETED", gone.mapped());
  }
  std::vector<Json> All(const std::string& prefix) const {
    std::lock_guard lock(mutex_);
    std::vector<Json> found;
    for (const auto& [path, object] : objects_) {
      if (path.starts_with(prefix)) found.push_back(object);
    }
    return found;
  }
  int Count(const std::string& method) const {
    int count = 0;
    for (const HttpRequest& request : wire_.requests()) count += request.method == method;
    return count;
  }

  Result<HttpResponse> Send(const HttpRequest& request, std::stop_token stop) override {
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return !hang_; })) return Fail(Reason::kCancelled, "cancelled");
    }
    return wire_.Send(request, std::move(stop));
  }
  Result<std::unique_ptr<HttpStream>> Open(const HttpRequest& request, std::stop_token stop) override {
    return wire_.Open(request, std::move(stop));
  }

 private:
  const Json& Store(const std::string& path, Json object) {
    object["metadata"]["resourceVersion"] = std::to_string(++version_);
    SendEvent(path, objects_.contains(path) ? "MODIFIED" : "ADDED", object);
    return objects_[path] = std::move(object);
  }

  void SendEvent(const std::string& path, const std::string& type, const Json& object) {
    const auto [begin, end] = watches_.equal_range(path);
    for (auto watch = begin; watch != end; ++watch) watch->second->PushEvent(type, object);
  }

  Result<std::shared_ptr<FakeStream>> OpenWatch(const HttpRequest& request) {
    static const std::string kByName = "metadata.name=";
    auto stream = std::make_shared<FakeStream>();
    const std::string selector = QueryOf(request, "fieldSelector");
    if (!selector.starts_with(kByName)) return stream;
    const std::string path = PathOf(request) + "/" + selector.substr(kByName.size());
    std::lock_guard lock(mutex_);
    // The watch begins with the change after its resourceVersion.
    const auto found = objects_.find(path);
    if (found == objects_.end()) {
      stream->PushEvent("DELETED", {{"metadata", {{"resourceVersion", std::to_string(version_)}}}});
    } else if (found->second["metadata"]["resourceVersion"] != QueryOf(request, "resourceVersion")) {
      stream->PushEvent("MODIFIED", found->second);
    }
    watches_.emplace(path, stream);
    return stream;
  }

  Result<HttpResponse> Serve(const HttpRequest& request) {
    std::shared_ptr<Hook> hook;  // Shared, not copied: a hook may keep state.
    {
      std::lock_guard lock(mutex_);
      hook = hook_;
    }
    if (*hook) {
      if (std::optional<Result<HttpResponse>> answer = (*hook)(request)) return *answer;
    }
    std::lock_guard lock(mutex_);
    const std::string path = PathOf(request);
    const Json body = Json::parse(request.body, nullptr, false);
    const auto found = objects_.find(path);
    if (request.method == "POST") {
      const std::string made = path + "/" + body["metadata"]["name"].get<std::string>();
      if (objects_.contains(made)) return StatusResponse(409, "AlreadyExists", made + " already exists");
      return JsonResponse(Store(made, body), 201);
    }
    if (request.method == "GET" && path.ends_with("/configmaps")) {
      return JsonResponse({{"apiVersion", "v1"},
                           {"kind", "ConfigMapList"},
                           {"metadata", {{"resourceVersion", std::to_string(version_)}}},
                           {"items", Json::array()}});
    }
    if (found == objects_.end()) return StatusResponse(404, "NotFound", path + " not found");
    if (request.method == "PUT") {
      if (body["metadata"]["resourceVersion"] != found->second["metadata"]["resourceVersion"]) {
        return StatusResponse(409, "Conflict", "the object has been modified");
      }
      return JsonResponse(Store(path, body));
    }
    if (request.method == "PATCH") {
      Json object = found->second;
      object.merge_patch(body);
      return JsonResponse(Store(path, std::move(object)));
    }
    return JsonResponse(found->second);
  }

  FakeTransport wire_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::shared_ptr<Hook> hook_ = std::make_shared<Hook>();
  bool hang_ = false;
  int version_ = 100;
  std::map<std::string, Json> objects_;
  std::multimap<std::string, std::shared_ptr<FakeStream>> watches_;  // by the path of their object
};

}  // namespace yad::testing

#endif  // TESTS_UNIT_RUNTIME_FAKE_API_SERVER_H_
