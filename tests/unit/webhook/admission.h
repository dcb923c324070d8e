// Caches, a scripted apiserver and requests for tests of the admission webhooks.
#ifndef TESTS_UNIT_WEBHOOK_ADMISSION_H_
#define TESTS_UNIT_WEBHOOK_ADMISSION_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "operator/runtime/controller.h"
#include "operator/yurtappdaemon/observe/daemon_projection.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/unit/yurtappdaemon/builders.h"
#include "webhook/admission/admission_handler.h"
#include "webhook/admission/admission_review.h"

namespace yad::testing {

struct Asked {
  std::string method;
  std::string path;
  std::string dry_run;
  Json body;
  std::string label_selector;

  std::string pool() const { return StringAt(body, {"metadata", "labels", kPoolNameLabel}); }
};

// An apiserver that accepts every request and has no Service, unless the test sets other responses.
class AdmissionWorld {
 public:
  using Answer = std::function<Result<HttpResponse>(const Asked& asked)>;

  AdmissionWorld() {
    for (Store* store : {&deployments_, &stateful_sets_, &revisions_}) Controller::AddControllerUidIndex(*store);
    transport_->OnSend([this](const HttpRequest& request) { return Serve(request); });
  }

  AdmissionStores stores() const { return {daemons_, pools_, deployments_, stateful_sets_, revisions_}; }

  // Each of these caches is unsynced until the test sets its objects.
  void SetDaemons(const std::vector<Json>& objects) { Fill(daemons_, objects, ProjectDaemon); }
  void SetPools(const std::vector<Json>& objects) { Fill(pools_, objects, ProjectPool); }
  void SetDeployments(const std::vector<Json>& objects) { Fill(deployments_, objects, ProjectDeployment); }
  void SetStatefulSets(const std::vector<Json>& objects) { Fill(stateful_sets_, objects, ProjectStatefulSet); }
  void SetRevisions(const std::vector<Json>& objects) { Fill(revisions_, objects, ProjectRevision); }
  void SetPoolNames(const std::vector<std::string>& names) {
    std::vector<Json> objects;
    for (const std::string& name : names) objects.push_back(PoolJson(name));
    SetPools(objects);
  }

  // `answer` runs on any thread.
  void OnAsk(Answer answer) {
    std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
  }
  // Returns and clears the recorded requests to the apiserver, in any order.
  std::vector<Asked> TakeAsked() {
    std::lock_guard lock(mutex_);
    return std::exchange(asked_, {});
  }

  FakeClock clock;

 private:
  Result<HttpResponse> Serve(const HttpRequest& request) {
    Asked asked{request.method, PathOf(request), QueryOf(request, "dryRun"),
                request.body.empty() ? Json() : Json::parse(request.body), QueryOf(request, "labelSelector")};
    Answer answer;
    {
      std::lock_guard lock(mutex_);
      asked_.push_back(asked);
      answer = answer_;
    }
    if (answer) return answer(asked);
    if (request.method == "GET") return StatusResponse(404, "NotFound", "not found");
    return JsonResponse(asked.body, request.method == "POST" ? 201 : 200);
  }
  void Fill(Store& store, const std::vector<Json>& objects, const Projector& project) {
    const std::string version = std::to_string(++version_);
    std::vector<ObjectPtr> stored;
    for (Json object : objects) {
      object["metadata"]["resourceVersion"] = version;
      stored.push_back(std::make_shared<StoredObject>(std::move(object), project));
    }
    store.Replace(std::move(stored), version);
  }

  Store daemons_, pools_, deployments_, stateful_sets_, revisions_;
  int version_ = 1000;
  std::mutex mutex_;
  Answer answer_;
  std::vector<Asked> asked_;
  const std::shared_ptr<FakeTransport> transport_ = std::make_shared<FakeTransport>();

 public:
  Client client{transport_, {}};
};

// Returns a response of status 422 with causes {field, reason, message}.
inline HttpResponse InvalidResponse(const std::vector<Cause>& causes) {
  Json status = {{"kind", "Status"},
                 {"apiVersion", "v1"},
                 {"status", "Failure"},
                 {"code", 422},
                 {"reason", "Invalid"},
                 {"message", "Deployment.apps \"web-a-bcdfg\" is invalid: everything"},
                 {"details", {{"causes", Json::array()}}}};
  for (const Cause& cause : causes) {
    status["details"]["causes"].push_back(
        {{"field", cause.field}, {"reason", cause.reason}, {"message", cause.message}});
  }
  return JsonResponse(status, 422);
}

inline AdmissionRequest CreateRequest(Json object) {
  AdmissionRequest request;
  request.uid = "review-1";
  request.operation = "CREATE";
  request.group = "apps.openyurt.io";
  request.version = "v1alpha1";
  request.resource = "yurtappdaemons";
  request.kind = "YurtAppDaemon";
  request.key = {StringAt(object, {"metadata", "namespace"}), StringAt(object, {"metadata", "name"})};
  request.object = std::move(object);
  return request;
}
inline AdmissionRequest UpdateRequest(Json object, Json old_object) {
  AdmissionRequest request = CreateRequest(std::move(object));
  request.operation = "UPDATE";
  request.old_object = std::move(old_object);
  return request;
}
// Returns the review that the apiserver sends for the request.
inline Json ReviewJson(const AdmissionRequest& request) {
  return {{"apiVersion", "admission.k8s.io/v1"},
          {"kind", "AdmissionReview"},
          {"request",
           {{"uid", request.uid},
            {"operation", request.operation},
            {"kind", {{"group", request.group}, {"version", request.version}, {"kind", request.kind}}},
            {"resource", {{"group", request.group}, {"version", request.version}, {"resource", request.resource}}},
            {"subResource", request.subresource},
            {"namespace", request.key.ns},
            {"name", request.key.name},
            {"dryRun", request.dry_run},
            {"object", request.object},
            {"oldObject", request.old_object}}}};
}

}  // namespace yad::testing

#endif  // TESTS_UNIT_WEBHOOK_ADMISSION_H_
