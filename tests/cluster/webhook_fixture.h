// The fixture of tests of the admission webhooks, which an operator serves for the test's namespace.
#ifndef TESTS_CLUSTER_WEBHOOK_FIXTURE_H_
#define TESTS_CLUSTER_WEBHOOK_FIXTURE_H_

#include <memory>

#include "tests/cluster/fixture.h"
#include "tests/support/webhook_setup.h"

namespace yad::testing {

inline const ResourceType kServiceType{"", "v1", "services", "Service", true};

class WebhookTest : public ClusterTest {
 protected:
  // Creates three pools and two headless Services:
  // - pools shop-a and shop-b, with the label example.com/tier: shop
  // - pool office, of type Cloud, with the label example.com/tier: office
  // - Services "headless" and "headless-too"
  void SetUp() override {
    ClusterTest::SetUp();
    if (!HasControlPlane()) return;
    AddPoolNamed("shop-a", Json::object(), {{"example.com/tier", "shop"}});
    AddPoolNamed("shop-b", Json::object(), {{"example.com/tier", "shop"}});
    AddPoolNamed("office", {{"type", "Cloud"}}, {{"example.com/tier", "office"}});
    for (const char* name : {"headless", "headless-too"}) {
      kube().Create(kServiceType, {{"metadata", {{"name", name}}},
                                   {"spec", {{"clusterIP", "None"}, {"selector", {{"app", "web"}}}}}});
    }
    webhooks_ = std::make_unique<WebhookSetup>(kube(), plane().dir());
    StartOperator(webhooks_->flags());
    webhooks_->Install();
  }
  void TearDown() override {
    webhooks_.reset();  // first, because the webhooks reject the clean-up when no operator runs
    ClusterTest::TearDown();
  }

  WebhookSetup& webhooks() { return *webhooks_; }

 private:
  std::unique_ptr<WebhookSetup> webhooks_;
};

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_WEBHOOK_FIXTURE_H_
