#include "operator/nodepool/yurt_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"

namespace yad {
namespace {

using testing::FakeTransport;
using ::testing::HasSubstr;

const WallTime kTimeNow = ParseTime("2026-11-22T08:00:00Z");

// A server that responds to access reviews. It may have yurt-manager's webhook configuration and Lease, and the Lease
// of yurt-app-manager.
class YurtManagerTest : public ::testing::Test {
 protected:
  YurtManagerTest() { clock_.SetWall(kTimeNow); }
  static HttpResponse Answer(int status, const Json& body) {
    return {status, {{"content-type", "application/json"}}, body.dump()};
  }
  static HttpResponse NotFound() {
    return Answer(404, {{"kind", "Status"}, {"status", "Failure"}, {"reason", "NotFound"}, {"code", 404}});
  }
  static HttpResponse Found(const Json& object) { return object.is_null() ? NotFound() : Answer(200, object); }

  Result<HttpResponse> Serve(const HttpRequest& request) {
    if (request.method == "POST") {
      const Json asked = Json::parse(request.body)["spec"]["resourceAttributes"];
      const std::string permission = asked["verb"].get<std::string>() + " " + asked["resource"].get<std::string>() +
                                     asked["subresource"].get<std::string>();
      return Answer(201, {{"status", {{"allowed", !denied_.contains(permission)}}}});
    }
    paths_.push_back(request.path);
    if (fails_ != 0) return Answer(fails_, {{"kind", "Status"}, {"status", "Failure"}, {"code", fails_}});
    if (request.path.find("webhook") != std::string::npos) return Found(webhooks_);
    return Found(request.path.ends_with("/kube-system/leases/yurt-app-manager") ? app_manager_lease_ : lease_);
  }
  // Returns the result of a process that has not observed the Leases yet.
  std::string WhyNot() {
    seen_.clear();
    return WhyNotAgain();
  }
  std::string WhyNotAgain() { return WhyNotNodePool(client_, seen_, clock_, {}).value(); }

  static Json Webhooks(const std::string& resource) {
    return {{"webhooks",
             {{{"rules", {{{"apiGroups", {""}}, {"resources", {"nodes"}}}}}},
              {{"rules", {{{"apiGroups", {"apps.openyurt.io"}}, {"resources", {resource}}}}}}}}};
  }
  static Json Lease(const std::string& renewed, const std::string& holder = "yurt-manager-1") {
    return {{"spec", {{"holderIdentity", holder}, {"renewTime", renewed}}}};
  }

  std::set<std::string> denied_;
  Json webhooks_, lease_, app_manager_lease_;
  int fails_ = 0;  // the HTTP status of failed reads; 0: reads succeed
  std::vector<std::string> paths_;
  FakeClock clock_;
  SeenLeases seen_;
  Client client_{std::make_shared<FakeTransport>([this](const HttpRequest& request) { return Serve(request); }), {}};
};

TEST_F(YurtManagerTest, ControllerMayBeOnWithoutYurtManager) { EXPECT_EQ(WhyNot(), ""); }

TEST_F(YurtManagerTest, MissingPermissionsKeepTheControllerOffWithoutOtherReads) {
  for (const char* permission : {"patch nodes", "watch nodes", "watch pods", "patch nodepoolsstatus"}) {
    denied_ = {permission};
    EXPECT_THAT(WhyNot(), HasSubstr("the operator may not ")) << permission;
  }
  EXPECT_TRUE(paths_.empty());
}

TEST_F(YurtManagerTest, WebhooksForNodePoolsKeepTheControllerOff) {
  webhooks_ = Webhooks("nodepools");
  EXPECT_THAT(WhyNot(), HasSubstr("yurt-manager-validating-webhook-configuration"));
}

TEST_F(YurtManagerTest, ControllerMayBeOnIfYurtManagerHasNoWebhooksForNodePools) {
  webhooks_ = Webhooks("yurtappsets");
  lease_ = Lease("2026-11-22T07:59:55.000000Z");
  EXPECT_EQ(WhyNot(), "");
}

TEST_F(YurtManagerTest, HeldLeaseKeepsTheControllerOffIfThereAreNoWebhooks) {
  lease_ = Lease("2026-11-22T07:59:55.000000Z");
  EXPECT_THAT(WhyNot(), HasSubstr("Lease kube-system/yurt-manager"));
  lease_ = Lease("2026-11-22T07:50:00.000000Z");
  EXPECT_EQ(WhyNot(), "") << "the lease has expired";
  lease_ = Lease("2026-11-22T07:59:55.000000Z", "");
  EXPECT_EQ(WhyNot(), "") << "the lease was released";
}

// Before OpenYurt 1.3, yurt-app-manager managed the NodePools.
TEST_F(YurtManagerTest, HeldLeaseOfYurtAppManagerKeepsTheControllerOff) {
  app_manager_lease_ = Lease("2026-11-22T07:59:55.000000Z", "yurt-app-manager-1");
  EXPECT_THAT(WhyNot(), HasSubstr("Lease kube-system/yurt-app-manager is held"));
  webhooks_ = Webhooks("yurtappsets");
  EXPECT_THAT(WhyNot(), HasSubstr("Lease kube-system/yurt-app-manager is held"))
      << "webhooks of yurt-manager do not show whether yurt-app-manager runs";
  app_manager_lease_ = Lease("2026-11-22T07:50:00.000000Z", "yurt-app-manager-1");
  EXPECT_EQ(WhyNot(), "") << "the lease has expired";
}

TEST_F(YurtManagerTest, LeaseThatIsRenewedIsHeldWhateverTheClocksShow) {
  for (const char* hour : {"06", "10"}) {
    SCOPED_TRACE(hour);
    const auto renew = [&](int minute) {
      app_manager_lease_ = Lease("2026-11-22T" + std::string(hour) + ":0" + std::to_string(minute) + ":00.000000Z");
    };
    renew(0);
    WhyNot();
    for (int minute = 1; minute < 9; ++minute) {
      clock_.Advance(std::chrono::minutes(1));
      renew(minute);
      EXPECT_THAT(WhyNotAgain(), HasSubstr("Lease kube-system/yurt-app-manager is held"));
    }
    clock_.Advance(std::chrono::minutes(5) - std::chrono::seconds(1));
    EXPECT_NE(WhyNotAgain(), "");
    clock_.Advance(std::chrono::seconds(1));
    EXPECT_EQ(WhyNotAgain(), "") << "the lease was not renewed for five minutes";
  }
}

TEST_F(YurtManagerTest, ForbiddenReadKeepsTheControllerOff) {
  fails_ = 403;
  EXPECT_THAT(WhyNot(), HasSubstr("the operator may not read"));
}

TEST_F(YurtManagerTest, FailedReadIsAnError) {
  fails_ = 503;
  EXPECT_FALSE(WhyNotNodePool(client_, seen_, clock_, {}));
}

}  // namespace
}  // namespace yad
