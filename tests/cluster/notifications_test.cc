// The operator's process reports rollouts to servers outside the cluster.
#include <atomic>
#include <set>

#include "tests/cluster/rollout_fixture.h"
#include "tests/support/tls_test_server.h"

namespace yad::testing {
namespace {

class NotificationsTest : public RolloutFixture {
 protected:
  OperatorOptions DefaultOptions() override {
    OperatorOptions options = RolloutFixture::DefaultOptions();
    options.flags.push_back("--cloud-events-url=" + receiver_.url() + "/events");
    options.flags.push_back("--otlp-traces-url=" + collector_.url() + "/v1/traces");
    return options;
  }
  // Returns the kinds of the events about rollouts of "web" in order of arrival. Omits repetitions of an event.
  std::vector<std::string> EventTypes() {
    std::vector<std::string> types;
    std::set<std::string> ids;
    for (const Json& event : Events()) {
      const std::string type = StringAt(event, {"type"});
      if (ids.insert(StringAt(event, {"id"})).second) types.push_back(type.substr(type.rfind('.') + 1));
    }
    return types;
  }
  std::vector<Json> Events() {
    std::vector<Json> events;
    for (const TestRequest& request : receiver_.requests()) {
      Json event = Json::parse(request.body);
      if (StringAt(event, {"data", "namespace"}) == ns() && StringAt(event, {"data", "name"}) == "web")
        events.push_back(std::move(event));
    }
    return events;
  }
  // Blocks until the last event is the end of the first rollout.
  void WaitForFirstRollout() {
    Eventually("the first rollout is reported", [&] {
      first_ = EventTypes();
      return !first_.empty() && first_.front() == "began" && first_.back() == "complete";
    });
  }
  // Blocks until the receiver has the events of the first rollout, and after them exactly these.
  void WaitUntilReceived(const std::vector<std::string>& wanted) {
    Eventually("the receiver has the events", [&]() -> std::string {
      std::vector<std::string> types = EventTypes();
      types.erase(types.begin(), types.begin() + static_cast<std::ptrdiff_t>(first_.size()));
      return types == wanted ? "" : ::testing::PrintToString(types);
    });
  }

  // Returns the spans of this revision of "web" in order of arrival.
  std::vector<Json> SpansOf(const std::string& revision) {
    std::vector<Json> spans;
    for (const TestRequest& request : collector_.requests()) {
      const Json body = Json::parse(request.body);
      for (const Json& span : At(body, "/resourceSpans/0/scopeSpans/0/spans")) {
        if (AttributeOf(span, "k8s.namespace.name") == ns() && AttributeOf(span, "yurtappdaemon.name") == "web" &&
            AttributeOf(span, "yurtappdaemon.revision") == revision)
          spans.push_back(span);
      }
    }
    return spans;
  }
  static std::string AttributeOf(const Json& span, const std::string& key) {
    for (const Json& attribute : span.at("attributes")) {
      if (attribute.at("key") == key) return attribute.at("value").at("stringValue");
    }
    return "";
  }

  std::vector<std::string> first_;
  std::atomic<int> failures_ = 0;     // the response to this many requests is 503
  std::atomic<bool> silent_ = false;  // there is no response to requests
  TestServer receiver_{PlainServer(), [this](TestConnection& connection, const TestRequest&) {
                         if (silent_) return connection.WaitUntilClosed();
                         if (failures_-- > 0) return connection.Answer(503, "later");
                         connection.Answer(204, "");
                       }};
  TestServer collector_{PlainServer(), [this](TestConnection& connection, const TestRequest&) {
                          if (silent_) return connection.WaitUntilClosed();
                          connection.Answer(200, R"({"partialSuccess":{}})");
                        }};
};
INSTANTIATE_ONE_KIND(NotificationsTest, WorkloadKind::kStatefulSet);

TEST_P(NotificationsTest, CompleteRolloutIsReportedInCloudEvents) {
  Deploy({"a", "b"}, {{"groups",
                       {{{"name", "first"}, {"pools", {Pool("a")}}},
                        {{"name", "rest"}, {"approval", "Manual"}, {"pools", {Pool("b")}}}}}});
  WaitForFirstRollout();
  failures_ = 2;
  SetImage("web", "example.org/app:2");
  WaitUntilReceived({"began", "waiting-for-approval"});
  const std::string update = StringAt(GetDaemon("web"), {"status", "updateRevision"});
  kube().MergePatch(kYurtAppDaemonType, "web",
                    {{"metadata", {{"annotations", {{kApproveAnnotation, update + "/rest"}}}}}});
  WaitUntilReceived({"began", "waiting-for-approval", "complete"});
  const Json event = Events().back();
  EXPECT_EQ(event.at("specversion"), "1.0");
  EXPECT_EQ(event.at("subject"), update);
  EXPECT_EQ(event.at("data").at("updatedPools"), 2);
  EXPECT_EQ(event.at("data").at("images"), "example.org/app:2");
  const TestRequest request = receiver_.requests().back();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/events");
  EXPECT_EQ(request.headers.at("content-type"), "application/cloudevents+json");
  EXPECT_GE(op().Metric("notifications_failed_total"), 2);
}

TEST_P(NotificationsTest, StoppedRolloutIsReportedAgainByANewProcess) {
  Deploy({"a", "b"}, {{"progressDeadlineSeconds", 3}});
  WaitForFirstRollout();
  SetBadTemplate();
  WaitForProgress("FailureBudgetExceeded");
  WaitUntilReceived({"began", "stopped"});
  const std::size_t before = Events().size();
  EXPECT_EQ(StringAt(Events().back(), {"data", "reason"}), "FailureBudgetExceeded");
  KillOperator();
  StartOperator();
  Eventually("the new process has reported the rollout again", [&] { return Events().size() >= before + 2; });
  WaitUntilReceived({"began", "stopped"});
}

TEST_P(NotificationsTest, RollbackIsReportedInCloudEvents) {
  Deploy({"a", "b"}, {{"progressDeadlineSeconds", 3}, {"onFailure", "Rollback"}});
  WaitForFirstRollout();
  SetBadTemplate();
  WaitUntilReceived({"began", "stopped", "rolled-back"});
  EXPECT_EQ(StringAt(Events().back(), {"subject"}), StringAt(GetDaemon("web"), {"status", "updateRevision"}));
}

TEST_P(NotificationsTest, ReceiversThatDoNotRespondDoNotDelayARollout) {
  silent_ = true;
  Deploy({"a", "b"}, Json::object());
  SetImage("web", "example.org/app:2");
  const Json daemon = WaitForStatus("web", "is rolled out", [](const Json& status) {
    return At(status, "/updatedPools") == 2 && At(status, "/currentRevision") == At(status, "/updateRevision");
  });
  // Both rollouts are complete, and the receiver has not accepted any event.
  EXPECT_EQ(op().Metric("notifications_sent_total"), 0);
  EXPECT_LE(EventTypes().size(), 1U);
  silent_ = false;
  receiver_.DropConnections();
  collector_.DropConnections();
  Eventually("the receiver has all events", [&] {
    const std::vector<std::string> types = EventTypes();
    return types.size() >= 4 && types.front() == "began" && types.back() == "complete"
               ? ""
               : ::testing::PrintToString(types);
  });
  Eventually("the collector has the trace", [&] {
    const std::vector<Json> spans = SpansOf(StringAt(daemon, {"status", "updateRevision"}));
    return !spans.empty() && spans.back().at("name") == "rollout";
  });
}

TEST_P(NotificationsTest, EachRolloutIsExportedAsOneTrace) {
  Deploy({"a", "b"}, {{"minReadySeconds", 2}});
  SetImage("web", "example.org/app:2");
  WaitForStatus("web", "is rolled out", [](const Json& status) {
    return At(status, "/updatedPools") == 2 && At(status, "/currentRevision") == At(status, "/updateRevision");
  });
  const std::string revision = StringAt(GetDaemon("web"), {"status", "updateRevision"});
  std::vector<Json> spans;
  Eventually("the root span has arrived", [&] {
    spans = SpansOf(revision);
    return !spans.empty() && spans.back().at("name") == "rollout";
  });
  const Json& root = spans.back();
  EXPECT_FALSE(root.contains("parentSpanId"));
  EXPECT_EQ(AttributeOf(root, "yurtappdaemon.outcome"), "RolloutComplete");
  std::multiset<std::string> names;
  for (const Json& span : spans) {
    EXPECT_EQ(span.at("traceId"), root.at("traceId"));
    names.insert(span.at("name"));
  }
  EXPECT_EQ(names.count("rollout"), 1U);
  EXPECT_EQ(names.count("group"), 1U);
  EXPECT_EQ(names.count("pool"), 2U);
  EXPECT_EQ(names.count("soak"), 2U);
  EXPECT_EQ(collector_.requests().front().target, "/v1/traces");
  EXPECT_EQ(collector_.requests().front().headers.at("content-type"), "application/json");
}

}  // namespace
}  // namespace yad::testing
