// kubectl yad dashboard as a process, beside an operator.
#ifndef TESTS_CLUSTER_DASHBOARD_FIXTURE_H_
#define TESTS_CLUSTER_DASHBOARD_FIXTURE_H_

#include <gtest/gtest.h>
#include <signal.h>

#include "tests/cluster/plugin_fixture.h"
#include "tests/support/event_stream.h"
#include "tests/support/https_client.h"

namespace yad::testing {

class DashboardTest : public PluginTest {
 protected:
  void TearDown() override {
    if (dashboard_ != nullptr) {
      dashboard_->Signal(SIGINT);
      EXPECT_EQ(dashboard_->Wait(std::chrono::seconds(30)), 0);
    }
    PluginTest::TearDown();
  }
  // Starts the dashboard with this kubeconfig. "": the administrator's.
  void StartDashboard(const std::string& kubeconfig = "") {
    std::vector<std::string> command = Command({"dashboard", "--no-open"});
    if (!kubeconfig.empty()) command[1] = "--kubeconfig=" + kubeconfig;
    dashboard_ = std::make_unique<Process>(command);
    std::string text;
    Eventually("the dashboard prints its address", [&] { return (text = dashboard_->Output()).ends_with("/\n"); });
    const std::string prefix = "Dashboard: http://127.0.0.1:";
    ASSERT_TRUE(text.starts_with(prefix)) << text;
    const std::size_t slash = text.find('/', prefix.size());
    port_ = std::stoi(text.substr(prefix.size(), slash - prefix.size()));
    root_ = text.substr(slash, text.size() - slash - 1);
  }
  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
  HttpsAnswer Ask(const std::string& request, const std::string& headers, const std::string& body = "") {
    HttpsClient client(port_);
    std::string text = request + " HTTP/1.1\r\n" + headers;
    if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    client.Send(text + "\r\n" + body);
    return client.Read();
  }
  HttpsAnswer Get(const std::string& path) { return Ask("GET " + root_ + path, "Host: " + host() + "\r\n"); }
  Json GetJson(const std::string& path) {
    const HttpsAnswer answer = Get(path);
    EXPECT_EQ(answer.status, 200) << path << ": " << answer.body;
    return Json::parse(answer.body);
  }
  Json Post(const std::string& path, const Json& body, int status = 200) {
    const HttpsAnswer answer =
        Ask("POST " + root_ + path,
            "Host: " + host() + "\r\nOrigin: http://" + host() + "\r\nContent-Type: application/json\r\n", body.dump());
    EXPECT_EQ(answer.status, status) << path << ": " << answer.body;
    return Json::parse(answer.body);
  }
  std::string Key() const { return ns() + "/web"; }
  EventStream Events() { return {port_, root_ + "api/events?daemon=" + Key(), host()}; }

  std::unique_ptr<Process> dashboard_;
  int port_ = 0;
  std::string root_;  // "/TOKEN/"
};

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_DASHBOARD_FIXTURE_H_
