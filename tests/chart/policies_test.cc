// The chart's admission policies on a real apiserver: which users may approve, and what a site's account may change.
#include <gtest/gtest.h>

#include "operator/api/well_known.h"
#include "tests/chart/fixture.h"
#include "tests/chart/install_fixture.h"
#include "tests/support/eventually.h"

namespace yad::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kDaemon[] = R"(
apiVersion: apps.openyurt.io/v1alpha1
kind: YurtAppDaemon
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  nodepoolSelector: {}
  updateStrategy:
    type: RollingUpdate
    rollingUpdate:
      groups: [{name: canary, pools: [hangzhou]}, {name: rest, approval: Manual, nodepoolSelector: {}}]
  workloadTemplate:
    deploymentTemplate:
      metadata: {labels: {app: web}}
      spec: {template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "web:1"}]}}}
)";

class PoliciesTest : public InstallTest {
 protected:
  // Runs kubectl as a user of one group. Only the policies review the request, because no operator runs.
  ProcessResult As(const std::string& user, const std::string& group, std::vector<std::string> command,
                   const std::string& input = "") {
    for (const std::string& as :
         {"--as=" + user, "--as-group=" + group, std::string("--as-group=system:authenticated")})
      command.push_back(as);
    return plane().TryKubectl(command, input);
  }
  static void Allowed(const ProcessResult& result) { EXPECT_EQ(result.exit_code, 0) << result.err; }
  static void Rejected(const ProcessResult& result, const std::string& words) {
    EXPECT_NE(result.exit_code, 0) << result.out;
    EXPECT_THAT(result.err, AllOf(HasSubstr("ValidatingAdmissionPolicy"), HasSubstr(words)));
  }
};

class ApprovalsTest : public PoliciesTest {
 protected:
  void SetUp() override {
    PoliciesTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    for (const char* binding : {"--user=ann", "--group=release-managers"}) {
      MakeNamespace("approvals");
      plane().Kubectl({"create", "rolebinding", std::string("edit-") + (binding + 8), "--clusterrole=edit", binding,
                       "--namespace=approvals"});
    }
  }
  ProcessResult Ann(std::vector<std::string> command, const std::string& input = "") {
    command.push_back("--namespace=approvals");
    return As("ann", "developers", command, input);
  }
  ProcessResult Manager(std::vector<std::string> command) {
    command.push_back("--namespace=approvals");
    return As("rob", "release-managers", command);
  }
  static std::vector<std::string> Annotate(const std::string& annotation) {
    return {"annotate", "yad", "web", "--overwrite", annotation};
  }
  static std::vector<std::string> Patch(const std::string& patch) {
    return {"patch", "yad", "web", "--type=json", "--patch=" + patch};
  }
};

TEST_F(ApprovalsTest, OnlyUsersWithTheVerbApproveMayApproveAGroupOrChangeItsApproval) {
  const ChartInstall chart(
      helm(), plane(),
      {"approvals",
       "approvals",
       {"webhook.enabled=false", "policies.approvals.enabled=true", "policies.approvals.approvers[0].kind=Group",
        "policies.approvals.approvers[0].name=release-managers",
        "policies.approvals.approvers[0].apiGroup=rbac.authorization.k8s.io"}});
  const std::string approve = std::string(kApproveAnnotation) + "=web-1/rest";
  const std::string allow = std::string(kAllowRemovalAnnotation) + "=token";
  const std::string automatic =
      R"([{"op": "replace", "path": "/spec/updateStrategy/rollingUpdate/groups/1/approval", "value": "Automatic"}])";
  const std::string all = R"([{"op": "replace", "path": "/spec/updateStrategy", "value": {"type": "All"}}])";
  const std::string drop = R"([{"op": "remove", "path": "/spec/updateStrategy"}])";

  Eventually("users may create YurtAppDaemons", [&] { return Ann({"apply", "-f", "-"}, kDaemon).exit_code == 0; });
  Eventually("the policy applies", [&] {
    const ProcessResult result = Ann(Annotate(approve));
    if (result.exit_code == 0) Ann(Annotate(std::string(kApproveAnnotation) + "-"));
    return result.exit_code != 0;
  });
  Rejected(Ann(Annotate(approve)),
           "annotation apps.openyurt.io/approve may be set only by users with the verb approve");
  Rejected(Ann(Annotate(allow)), "annotation apps.openyurt.io/allow-removal may be set only");
  for (const std::string& edit : {automatic, all, drop})
    Rejected(Ann(Patch(edit)), "while a group has approval Manual");
  Allowed(Ann(Annotate("example.com/other=1")));
  Allowed(Ann(Patch(R"([{"op": "add", "path": "/spec/updateStrategy/rollingUpdate/maxUnavailable", "value": 2}])")));
  Allowed(Ann(Patch(R"([{"op": "add", "path": "/spec/paused", "value": true}])")));

  Allowed(Manager(Annotate(approve)));
  Allowed(Manager(Annotate(allow)));
  Rejected(Ann(Annotate(approve + ",web-1/canary")), "apps.openyurt.io/approve");
  Allowed(Ann(Annotate(std::string(kApproveAnnotation) + "-")));
  Allowed(Manager(Patch(automatic)));
  Allowed(Ann(Patch(drop)));
  plane().Kubectl({"delete", "yad", "web", "--namespace=approvals"});
}

TEST_F(PoliciesTest, SiteAccountMayChangeOnlyHoldAndWindowsOfItsPool) {
  MakeNamespace("site-accounts");
  const ChartInstall chart(
      helm(), plane(),
      {"sites",
       "sites",
       {"webhook.enabled=false", "policies.sites.enabled=true", "policies.sites.namespace=site-accounts"}});
  for (const char* pool : {"evora", "lagos"}) kube().Create(kNodePoolType, {{"metadata", {{"name", pool}}}});
  const auto site = [&](std::vector<std::string> command) {
    return As("system:serviceaccount:site-accounts:evora", "system:serviceaccounts:site-accounts", std::move(command));
  };
  const std::string hold = std::string(kHoldAnnotation) + "=stocktaking";
  Eventually("the policy applies", [&] {
    const ProcessResult result = site({"label", "nodepool", "evora", "a=b", "--overwrite"});
    const bool rejected = result.exit_code != 0 && result.err.find("ValidatingAdmissionPolicy") != std::string::npos;
    return rejected ? "" : result.out + result.err;
  });
  Allowed(site({"annotate", "nodepool", "evora", hold, std::string(kTimeZoneAnnotation) + "=Europe/Lisbon",
                std::string(kUpdateWindowsAnnotation) + "=[]"}));
  Allowed(site({"annotate", "nodepool", "evora", std::string(kHoldAnnotation) + "-"}));
  Rejected(site({"annotate", "nodepool", "lagos", hold}), "only the NodePool that has the ServiceAccount's name");
  Rejected(site({"annotate", "nodepool", "evora", "other=1"}), "a site may change only the annotations");
  for (const char* patch : {R"({"metadata": {"labels": {"c": "d"}}})", R"({"spec": {"type": "Cloud"}})",
                            R"({"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}})",
                            R"({"metadata": {"finalizers": ["example.com/f"]}})"}) {
    Rejected(site({"patch", "nodepool", "evora", "--type=merge", std::string("--patch=") + patch}),
             "a site may change only the annotations");
  }

  // A user with the role may hold every pool, and change nothing else.
  plane().TryKubectl({"create", "clusterrolebinding", "sue", "--clusterrole=" + chart.name() + "-site", "--user=sue"});
  Eventually("the user may hold a pool", [&] {
    return As("sue", "people", {"annotate", "nodepool", "lagos", hold}).exit_code == 0;
  });
  Rejected(As("sue", "people", {"label", "nodepool", "lagos", "c=d"}), "a site may change only the annotations");
  plane().TryKubectl({"delete", "clusterrolebinding", "sue"});
  Allowed(plane().TryKubectl({"label", "nodepool", "lagos", "c=d"}));
  for (const char* pool : {"evora", "lagos"}) kube().Delete(kNodePoolType, pool);
}

}  // namespace
}  // namespace yad::testing
