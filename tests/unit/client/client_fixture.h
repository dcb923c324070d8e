// A Client over a fake transport.
#ifndef TESTS_UNIT_CLIENT_CLIENT_FIXTURE_H_
#define TESTS_UNIT_CLIENT_CLIENT_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "operator/client/client.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"

namespace yad::testing {

class ClientTest : public ::testing::Test {
 protected:
  static inline const ResourceType kDeployments{"apps", "v1", "deployments", "Deployment", true};
  static inline const ResourceType kPods{"", "v1", "pods", "Pod", true};
  static inline const ResourceType kPools{"apps.openyurt.io", "v1beta1", "nodepools", "NodePool", false};
  static Json Object(const std::string& ns, const std::string& name) {
    Json object = {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"metadata", {{"name", name}}}};
    if (!ns.empty()) object["metadata"]["namespace"] = ns;
    return object;
  }

  ClientTest() {
    transport_->OnSend([](const HttpRequest&) { return JsonResponse({{"kind", "Answer"}}); });
    options_.user_agent = "test/1";
  }
  Client& client() {
    if (client_ == nullptr) client_ = std::make_unique<Client>(transport_, options_, clock_);
    return *client_;
  }
  HttpRequest Last() const { return transport_->requests().back(); }
  void Answer(HttpResponse response) {
    transport_->OnSend([response](const HttpRequest&) { return response; });
  }

  FakeClock clock_;
  std::shared_ptr<FakeTransport> transport_ = std::make_shared<FakeTransport>();
  ClientOptions options_;
  std::unique_ptr<Client> client_;
};

}  // namespace yad::testing

#endif  // TESTS_UNIT_CLIENT_CLIENT_FIXTURE_H_
