// A hostile tenant and a hostile pod attack the operator while it serves another namespace. The operator has the
// image's memory settings.
#include <algorithm>
#include <random>
#include <thread>

#include "tests/cluster/webhook_fixture.h"
#include "tests/support/https_client.h"
#include "tests/support/mutating_webhook.h"

namespace yad::testing {
namespace {

constexpr char kValidate[] = "POST /validate-apps-openyurt-io-v1alpha1-yurtappdaemon HTTP/1.1";
constexpr char kJson[] = "Content-Type: application/json\r\n";
constexpr char kSlowLabel[] = "test/slow";
constexpr long kMostMemory = 256 * 1024;  // KiB; the chart's limit is 512 MiB

// Returns the memory settings from the image's environment.
std::string TunablesOfTheImage() {
  const std::string text = ReadFile(std::string(YAD_SOURCE_DIR) + "/Dockerfile");
  const std::string key = "\nENV GLIBC_TUNABLES=";
  const std::size_t at = text.find(key);
  if (at == std::string::npos) throw TestFailure("the Dockerfile sets no GLIBC_TUNABLES");
  return text.substr(at + key.size(), text.find('\n', at + 1) - at - key.size());
}

// Repeats each act on a thread until destruction.
class Attack {
 public:
  void Repeat(std::function<void()> act) {
    threads_.emplace_back([act = std::move(act)](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        try {
          act();
        } catch (const TestFailure&) {  // the operator may reject the act
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
  }

 private:
  std::vector<std::jthread> threads_;
};

class HostileTest : public WebhookTest {
 protected:
  void TearDown() override {
    if (HasControlPlane()) TryKubectl({"delete", "namespace", Other().ns(), "--ignore-not-found", "--wait=false"});
    WebhookTest::TearDown();
  }
  OperatorOptions DefaultOptions() override {
    OperatorOptions options = ClusterTest::DefaultOptions();
    options.ns = "";
    options.env["GLIBC_TUNABLES"] = TunablesOfTheImage();
    return options;
  }
  // Returns another tenant's namespace.
  Kube Other() { return Kube(plane().client(), ns() + "-other"); }

  // Returns a daemon whose override copies `text` `copies` times into each workload.
  Json Copying(const std::string& name, const std::string& text, int copies) {
    Json patches = Json::array({{{"op", "add"}, {"path", "/spec/template/spec/x"}, {"value", text}}});
    for (int i = 0; i < copies; ++i) {
      patches.push_back(
          {{"op", "copy"}, {"from", "/spec/template/spec/x"}, {"path", "/spec/template/spec/x" + std::to_string(i)}});
    }
    Json daemon = Daemon(name);
    daemon["spec"]["overrides"] = {{{"pools", {"*"}}, {"jsonPatches", std::move(patches)}}};
    return daemon;
  }
  std::string Review(Json daemon, const std::string& uid) {
    daemon["apiVersion"] = kYurtAppDaemonType.ApiVersion();
    daemon["kind"] = kYurtAppDaemonType.kind;
    daemon["metadata"]["namespace"] = ns();
    const Json request = {{"uid", uid},
                          {"operation", "CREATE"},
                          {"kind", {{"group", "apps.openyurt.io"}, {"version", "v1alpha1"}, {"kind", "YurtAppDaemon"}}},
                          {"name", daemon["metadata"]["name"]},
                          {"namespace", ns()},
                          {"object", daemon}};
    return Json{{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", request}}.dump();
  }
  HttpsClient Connect() { return HttpsClient(webhooks().port(), webhooks().ca_pem()); }

  // Creates Deployments with the operator's label and without a controller. They contain a long string of "<", each of
  // which takes six bytes in the apiserver's JSON.
  void MakeForeignWorkloads(int count) {
    MakeForeignWorkloads("foreign-", count, [] { return std::string(500'000, '<'); });
  }
  // Creates `count` of these Deployments with a long incompressible string, which begins elsewhere in each of them.
  void MakeIncompressibleWorkloads(int count) {
    std::mt19937_64 random(20261124);
    std::string text(1'300'000, ' ');
    for (char& c : text) c = static_cast<char>('0' + random() % 75);
    MakeForeignWorkloads("noise-", count, [&] {
      std::rotate(text.begin(), text.begin() + 4'999, text.end());
      return text;
    });
  }
  void MakeForeignWorkloads(const std::string& prefix, int count, const std::function<std::string()>& text) {
    Json foreign = {{"metadata", {{"labels", {{kPoolNameLabel, "elsewhere"}}}}},
                    {"spec", At(Daemon("foreign"), "/spec/workloadTemplate/deploymentTemplate/spec")}};
    foreign["spec"]["selector"] = {{"matchLabels", {{"app", "foreign"}}}};
    foreign["spec"]["paused"] = true;  // without ReplicaSets, which would double the cluster's work
    for (int i = 0; i < count; ++i) {
      foreign["spec"]["template"]["spec"]["containers"][0]["env"] =
          Json::array({{{"name", "TEXT"}, {"value", text()}}});
      foreign["metadata"]["name"] = prefix + std::to_string(i);
      kube().Create(kDeploymentType, foreign);
    }
  }

  // Sends requests to the webhook's port, as a hostile pod would. The webhook needs much time for `review`.
  void AttackTheWebhook(Attack& attack, const std::string& review) {
    attack.Repeat([this] {
      std::vector<HttpsClient> held;
      for (int i = 0; i < 60; ++i) {
        held.push_back(Connect());
        held.back().Send("garbage\r\n\r\n");
      }
    });
    attack.Repeat([this] {
      const std::string body = Review(Daemon("uid"), std::string(7'900'000, 'u'));
      std::vector<HttpsClient> held;  // clients that never read their responses
      for (int i = 0; i < 6; ++i) {
        held.push_back(Connect());
        held.back().Send(std::string(kValidate) + "\r\nHost: localhost\r\n" + kJson +
                         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
      }
    });
    for (int i = 0; i < 8; ++i) {
      attack.Repeat([this, review] { Connect().Ask(kValidate, review, kJson); });
    }
  }

  void ExpectTheOtherIsServed() {
    const Kube other = Other();
    other.Create(kYurtAppDaemonType, Daemon("web"));
    for (const std::string image : {"example.org/app:1", "example.org/app:2", "example.org/app:3"}) {
      other.Edit(kYurtAppDaemonType, "web", [&](Json& daemon) {
        daemon["spec"]["workloadTemplate"]["deploymentTemplate"]["spec"]["template"]["spec"]["containers"][0]["image"] =
            image;
      });
      Eventually("the pools of the other namespace have " + image, [&]() -> std::string {
        const Json daemon = other.Get(kYurtAppDaemonType, "web");
        const bool done = At(daemon, "/status/updatedPools") == At(daemon, "/status/desiredPools") &&
                          At(daemon, "/status/images") == image && ConditionStatus(daemon, "Ready") == "True";
        return done ? "" : At(daemon, "/status").dump();
      });
    }
  }
};

TEST_F(HostileTest, ObjectsAndRequestsOfAnAttackerUseBoundedMemoryAndBlockNoOtherNamespace) {
  if (!HasControlPlane()) return;
  Other().Create(kNamespaceType, {{"metadata", {{"name", Other().ns()}}}});
  AddPools(17);
  MakeForeignWorkloads(65);
  MakeIncompressibleWorkloads(200);
  const std::string controls(200'000, '\x01');
  for (const char* name : {"bomb-a", "bomb-b"}) {  // the webhook does not review them
    Json bomb = Copying(name, controls, 19);
    bomb["metadata"]["labels"][kUncheckedLabel] = "yes";
    CreateDaemon(bomb);
  }
  StopOperator();
  StartOperator(webhooks().flags());

  const MutatingWebhook hangs(kube(), kDeploymentType, [](Json& object) {
    if (Label(object, kSlowLabel) == "yes") std::this_thread::sleep_for(std::chrono::seconds(2));
  });
  Json slow = Copying("slow", std::string(100'000, 's'), 12);
  slow["spec"]["workloadTemplate"]["deploymentTemplate"]["metadata"]["labels"][kSlowLabel] = "yes";
  {
    Attack attack;
    AttackTheWebhook(attack, Review(slow, "slow"));
    const Json labels = {{"metadata", {{"labels", {{"new", "yes"}}}}}};
    for (int i = 0; i < 10; ++i) {
      const std::string name = "foreign-" + std::to_string(i);
      // The attack also slows the apiserver down, so a request may time out.
      Eventually(name + " has another label", [&]() -> std::string {
        const auto patched = kube().client().Patch(kDeploymentType, {ns(), name}, PatchType::kMerge, labels);
        return patched ? "" : patched.error().ToString();
      });
    }
    ExpectTheOtherIsServed();
  }

  for (const char* name : {"bomb-a", "bomb-b"}) {
    const Json bomb = WaitForStatus(name, "has failed", [](const Json& s) { return At(s, "/failedPools") == 20; });
    EXPECT_EQ(At(bomb, "/status/pools/0/reason"), "InvalidOverride");
  }
  Json daemon = Copying("bomb-c", controls, 19);
  daemon.update({{"apiVersion", kYurtAppDaemonType.ApiVersion()}, {"kind", kYurtAppDaemonType.kind}});
  daemon["metadata"]["namespace"] = ns();
  const Result<Json> rejected = kube().client().Create(kYurtAppDaemonType, daemon);
  ASSERT_FALSE(rejected.has_value());
  EXPECT_THAT(rejected.error().message, ::testing::HasSubstr("spec.overrides[0].jsonPatches["));
  EXPECT_TRUE(op().Ready());
  const long most = MemoryOf(op().pid(), "VmHWM");
  std::cerr << "memory: " << most / 1024 << " MiB at most\n";
  EXPECT_LT(most, kMostMemory);
}

}  // namespace
}  // namespace yad::testing
