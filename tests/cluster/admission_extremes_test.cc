// Manifests that do not fit into the tables of admission_cases/: large or deep manifests, and manifests that must be
// stored byte for byte.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "tests/cluster/webhook_fixture.h"

namespace yad::testing {
namespace {

class AdmissionExtremesTest : public WebhookTest {
 protected:
  Json Complete(const std::string& name) const {
    Json daemon = Daemon(name);
    daemon["apiVersion"] = kYurtAppDaemonType.ApiVersion();
    daemon["kind"] = kYurtAppDaemonType.kind;
    daemon["spec"]["nodepoolSelector"] = {{"matchLabels", {{"example.com/tier", "shop"}}}};
    return daemon;
  }
  static Json& PodSpec(Json& daemon) {
    return daemon["spec"]["workloadTemplate"]["deploymentTemplate"]["spec"]["template"]["spec"];
  }
  Json WithBytes(std::size_t bytes) const {
    Json daemon = Complete("web");
    PodSpec(daemon)["containers"][0]["env"] = {{{"name", "LARGE"}, {"value", std::string(bytes, 'x')}}};
    return daemon;
  }
  ProcessResult ServerSideApply(const Json& daemon) {
    return TryKubectl({"apply", "--server-side", "-f", "-"}, daemon.dump());
  }
};

TEST_F(AdmissionExtremesTest, ATemplateOfAMegabyteCanBeAppliedAndChangedByServerSideApply) {
  if (!HasControlPlane()) return;
  Json daemon = WithBytes(1'000'000);
  ProcessResult result = ServerSideApply(daemon);
  EXPECT_EQ(result.out + result.err, "yurtappdaemon.apps.openyurt.io/web serverside-applied\n");
  Kubectl({"wait", "--for=condition=Ready", "--timeout=180s", "yad/web"});
  PodSpec(daemon)["containers"][0]["image"] = "example.org/app:2";
  result = ServerSideApply(daemon);
  EXPECT_EQ(result.out + result.err, "yurtappdaemon.apps.openyurt.io/web serverside-applied\n");
  EXPECT_EQ(At(GetDaemon("web"), "/metadata/generation"), 2);
  PodSpec(daemon)["containers"][0]["image"] = "";
  result = ServerSideApply(daemon);
  EXPECT_EQ(result.err,
            "The YurtAppDaemon \"web\" is invalid: spec.workloadTemplate.deploymentTemplate.spec.template.spec."
            "containers[0].image: Required value\n");
}

TEST_F(AdmissionExtremesTest, KubectlAndTheApiserverRejectOversizedManifests) {
  if (!HasControlPlane()) return;
  ProcessResult result = TryKubectl({"apply", "-f", "-"}, WithBytes(300'000).dump());
  EXPECT_THAT(result.err, ::testing::HasSubstr("* metadata.annotations: Too long: "));
  result = ServerSideApply(WithBytes(10'000'000));
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, ::testing::HasSubstr("limit is 3145728"));
  // The next request succeeds.
  result = TryKubectl({"apply", "-f", "-"}, Complete("web").dump());
  EXPECT_EQ(result.out + result.err, "yurtappdaemon.apps.openyurt.io/web created\n");
}

TEST_F(AdmissionExtremesTest, TooDeepManifestsAreRejectedAndBlockNoOtherRequest) {
  if (!HasControlPlane()) return;
  for (const std::size_t depth : {600, 5'000, 9'000}) {
    SCOPED_TRACE(depth);
    Json daemon = Complete("web");
    PodSpec(daemon)["future"] = "<nest>";
    std::string text = daemon.dump();
    const std::string place = "\"<nest>\"";
    text.replace(text.find(place), place.size(), std::string(depth, '[') + std::string(depth, ']'));
    const ProcessResult result = TryKubectl({"create", "-f", "-"}, text);
    EXPECT_EQ(result.err,
              "The YurtAppDaemon \"web\" is invalid: spec: Invalid value: \"...\": must not be nested more than 500 "
              "levels deep\n");
  }
  const ProcessResult result = TryKubectl({"apply", "-f", "-"}, Complete("web").dump());
  EXPECT_EQ(result.out + result.err, "yurtappdaemon.apps.openyurt.io/web created\n");
}

TEST_F(AdmissionExtremesTest, OnlyTheFirstHundredOfAThousandErrorsAreReported) {
  if (!HasControlPlane()) return;
  Json daemon = Complete("web");
  daemon["spec"]["overrides"] = Json::array();
  for (int i = 0; i < 1000; ++i) daemon["spec"]["overrides"].push_back({{"pools", Json::array()}});
  const ProcessResult result = TryKubectl({"apply", "-f", "-"}, daemon.dump());
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '*'), 101);
  EXPECT_THAT(result.err, ::testing::HasSubstr("\n* spec.overrides[99].pools: Required value: must name at least one"));
  EXPECT_THAT(result.err, ::testing::HasSubstr("900 more"));
}

// A TCP port that accepts connections and never responds.
class SilentPort {
 public:
  SilentPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(socket_, 64) != 0 ||
        ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw TestFailure("cannot listen on 127.0.0.1");
    }
    port_ = ntohs(address.sin_port);
  }
  ~SilentPort() { ::close(socket_); }
  int port() const { return port_; }

 private:
  int socket_;
  int port_ = 0;
};

TEST_F(AdmissionExtremesTest, DaemonIsCreatedDespiteASilentWebhookForItsWorkloads) {
  if (!HasControlPlane()) return;
  const SilentPort silent;
  const std::string name = "silent-" + ns();
  kube().Create(kValidatingWebhookConfigurationType,
                {{"metadata", {{"name", name}}},
                 {"webhooks",
                  Json::array({{{"name", "silent.example.com"},
                                {"admissionReviewVersions", {"v1"}},
                                {"sideEffects", "None"},
                                {"timeoutSeconds", 30},
                                {"clientConfig", {{"url", "https://127.0.0.1:" + std::to_string(silent.port()) + "/"}}},
                                {"namespaceSelector", {{"matchLabels", {{"kubernetes.io/metadata.name", ns()}}}}},
                                {"rules", Json::array({{{"apiGroups", {"apps"}},
                                                        {"apiVersions", {"v1"}},
                                                        {"operations", {"CREATE", "UPDATE"}},
                                                        {"resources", {"deployments"}}}})}}})}});
  // The apiserver waits 10 s for the webhook, and then rejects the request (failurePolicy: Fail).
  const ProcessResult result = TryKubectl({"apply", "-f", "-"}, Complete("web").dump());
  kube().Delete(kValidatingWebhookConfigurationType, name);
  EXPECT_EQ(result.out, "yurtappdaemon.apps.openyurt.io/web created\n") << result.err;
}

// Returns the JSON object after `key` in `text`, byte for byte.
std::string ObjectAfter(const std::string& text, const std::string& key) {
  const std::size_t begin = text.find(key);
  if (begin == std::string::npos) return "";
  std::size_t at = begin + key.size();
  int depth = 0;
  bool quoted = false;
  do {
    const char c = text[at];
    if (c == '\\') {
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    }
    ++at;
  } while (depth > 0 && at < text.size());
  return text.substr(begin + key.size(), at - begin - key.size());
}

TEST_F(AdmissionExtremesTest, UnknownFieldsAreStoredByteForByte) {
  if (!HasControlPlane()) return;
  const std::string unknown = R"({
    "integers": [0, -1, 9007199254740993, 9223372036854775807, -9223372036854775808],
    "floats": [0.1, 1.0, 1e3, 2.5e-7, 123456789.123456789, 1e300],
    "texts": ["", " ", "\u00fc \u2028 \u0001 \"\\\/", "😀", "<&>", "007", "1e3", "null", "yes"],
    "nothing": [null, {}, [], [[]], {"a": {}}],
    "keys": {"": 1, "a.b/c~d": 2, "{{nodepool-name}}": "{{nodepool-name}}", "~1": 3, "ключ": 4}})";
  const auto manifest = [&](const std::string& name, bool checked) {
    Json daemon = Complete(name);
    daemon["spec"]["selector"] = {{"matchLabels", {{"app", "x"}}}};
    Json& workload = daemon["spec"]["workloadTemplate"]["deploymentTemplate"];
    workload["metadata"]["labels"]["app"] = "x";
    workload["spec"]["template"]["metadata"]["labels"]["app"] = "x";
    if (!checked) daemon["metadata"]["labels"][kUncheckedLabel] = "true";
    PodSpec(daemon)["future"] = "<unknown>";
    PodSpec(daemon)["containers"][0]["future"] = "<unknown>";
    std::string text = daemon.dump();
    const std::string place = "\"<unknown>\"";
    for (auto at = text.find(place); at != std::string::npos; at = text.find(place, at)) {
      text.replace(at, place.size(), unknown);
    }
    return text;
  };
  Kubectl({"create", "-f", "-"}, manifest("checked", true));
  Kubectl({"create", "-f", "-"}, manifest("unchecked", false));
  const auto pod_spec = [&](const std::string& name) {
    const Result<std::string> text = kube().client().GetRaw(ResourcePath(kYurtAppDaemonType, ns(), name));
    if (!text.has_value()) throw TestFailure(text.error().ToString());
    return ObjectAfter(ObjectAfter(*text, "\"deploymentTemplate\":"), "\"template\":");
  };
  const std::string stored = pod_spec("checked");
  EXPECT_EQ(stored, pod_spec("unchecked"));
  EXPECT_THAT(stored, ::testing::HasSubstr("9007199254740993"));
  // An update of another field also keeps the unknown fields.
  Kubectl({"patch", "yad", "checked", "--type=merge", "-p", R"({"spec":{"paused":true}})"});
  EXPECT_EQ(pod_spec("checked"), stored);
}

}  // namespace
}  // namespace yad::testing
