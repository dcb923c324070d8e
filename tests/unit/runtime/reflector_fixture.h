// A Reflector of "widgets" on its own thread, over a fake transport.
#ifndef TESTS_UNIT_RUNTIME_REFLECTOR_FIXTURE_H_
#define TESTS_UNIT_RUNTIME_REFLECTOR_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "operator/base/synchronized.h"
#include "operator/runtime/reflector.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"

namespace yad::testing {

// A real Client over a fake transport, a fake clock, and the reflector on its own thread.
class ReflectorTest : public ::testing::Test {
 protected:
  static inline const ResourceType kType{"example.com", "v1", "widgets", "Widget", true};
  static Json Object(const std::string& name, const std::string& version, const std::string& uid = "u") {
    return {{"apiVersion", "example.com/v1"},
            {"kind", "Widget"},
            {"metadata", {{"namespace", "ns"}, {"name", name}, {"uid", uid}, {"resourceVersion", version}}}};
  }
  static Json Bookmark(const std::string& version) {
    return {{"apiVersion", "example.com/v1"}, {"kind", "Widget"}, {"metadata", {{"resourceVersion", version}}}};
  }
  static HttpResponse ListOf(const std::vector<Json>& items, const std::string& version, const std::string& more = "") {
    Json metadata{{"resourceVersion", version}};
    if (!more.empty()) metadata["continue"] = more;
    return JsonResponse(
        {{"apiVersion", "example.com/v1"}, {"kind", "WidgetList"}, {"metadata", metadata}, {"items", items}});
  }
  static HttpResponse Gone() { return StatusResponse(410, "Expired", "the provided continue parameter is too old"); }
  static HttpResponse Missing() {
    return StatusResponse(404, "NotFound", "the server could not find the requested resource");
  }
  static Json GoneEvent() {
    return {{"apiVersion", "v1"}, {"kind", "Status"}, {"status", "Failure"}, {"reason", "Expired"}, {"code", 410}};
  }
  static bool IsWatch(const HttpRequest& request) { return QueryOf(request, "watch") == "true"; }
  static std::shared_ptr<FakeStream> Rejecting(HttpResponse response) {
    return std::make_shared<FakeStream>(std::move(response));
  }

  ReflectorTest() { options_.type = kType; }
  ~ReflectorTest() override { Stop(); }

  void Start() {
    reflector_ = std::make_unique<Reflector>(
        client_, options_, store_,
        [this](const Store::Change& change) {
          const ObjectPtr& any = change.after ? change.after : change.before;
          changes_.With([&](std::vector<std::string>& said) {
            said.push_back(any->meta().key.name + " " + (change.before ? change.before->meta().resource_version : "-") +
                           "->" + (change.after ? change.after->meta().resource_version : "-"));
          });
        },
        clock_);
    thread_ = std::jthread([this](const std::stop_token& stop) {
      outcome_ = reflector_->Run(stop);
      ended_ = true;
    });
  }
  void Stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

  // Responds to list requests with these responses, one after the other. Repeats the last response.
  void AnswerLists(std::vector<Result<HttpResponse>> answers) {
    transport_->OnSend([answers, next = std::make_shared<std::atomic<std::size_t>>(0)](const HttpRequest&) {
      const std::size_t index = next->fetch_add(1);
      return answers[std::min(index, answers.size() - 1)];
    });
  }

  // Blocks until the reflector backs off (waits for the clock).
  void AwaitBackoff() { clock_.AwaitWaiters(1); }
  void PassBackoff() {
    AwaitBackoff();
    clock_.AdvanceToNextDeadline();
  }
  // Returns two stored objects with this payload. The first is from a list, the second from a watch.
  std::vector<ObjectPtr> ListedAndAdded(const Json& payload) {
    Json listed = Object("a", "1"), added = Object("b", "6");
    listed["payload"] = added["payload"] = payload;
    listed["status"] = added["status"] = {{"replicas", 1}};
    std::shared_ptr<FakeStream> watch = StartWatching({listed}, "5");
    watch->PushEvent("ADDED", added);
    watch->WaitUntilDrained();
    return {store_.Get({"ns", "a"}).value(), store_.Get({"ns", "b"}).value()};
  }

  // Starts the reflector with this list and an open watch after it.
  std::shared_ptr<FakeStream> StartWatching(const std::vector<Json>& items, const std::string& version) {
    AnswerLists({ListOf(items, version)});
    Start();
    std::shared_ptr<FakeStream> stream = transport_->TakeStream();
    stream->WaitUntilDrained();
    transport_->ClearRequests();
    changes_.With([](std::vector<std::string>& said) { said.clear(); });
    return stream;
  }

  std::vector<std::string> TakeChanges() {
    return changes_.With([](std::vector<std::string>& said) { return std::exchange(said, {}); });
  }
  std::set<std::string> Names() const {
    std::set<std::string> names;
    Result<std::vector<ObjectPtr>> objects = store_.List();
    if (!objects) return {"(not synced)"};
    for (const ObjectPtr& object : *objects) names.insert(object->meta().key.name);
    return names;
  }
  // Returns the requests as strings: "list", or "watch 10" for a watch from resourceVersion 10.
  std::vector<std::string> Requests() const {
    std::vector<std::string> said;
    for (const HttpRequest& request : transport_->requests()) {
      if (IsWatch(request)) {
        said.push_back("watch " + QueryOf(request, "resourceVersion"));
      } else {
        said.push_back("list" + (QueryOf(request, "limit").empty() ? "" : " limit=" + QueryOf(request, "limit")) +
                       (QueryOf(request, "continue").empty() ? "" : " continue=" + QueryOf(request, "continue")));
      }
    }
    return said;
  }

  FakeClock clock_;
  std::shared_ptr<FakeTransport> transport_ = std::make_shared<FakeTransport>();
  Client client_{transport_, ClientOptions{}, clock_};
  ReflectorOptions options_;
  Store store_;
  Synchronized<std::vector<std::string>> changes_;
  std::unique_ptr<Reflector> reflector_;
  Status outcome_;  // set when ended_ is true
  std::atomic<bool> ended_ = false;
  std::jthread thread_;
};

}  // namespace yad::testing

#endif  // TESTS_UNIT_RUNTIME_REFLECTOR_FIXTURE_H_
