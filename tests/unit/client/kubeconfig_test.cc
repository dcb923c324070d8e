#include "operator/client/auth/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace yad {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Result<ClusterConfig> Load(const std::string& text, const std::string& context = "") {
  return ConfigFromKubeconfig({{"/x/config", text}}, context);
}

std::string Message(const Result<ClusterConfig>& config) {
  if (config) return "no failure";
  EXPECT_EQ(config.error().reason, Reason::kConfig);
  return config.error().message;
}

// Returns a kubeconfig with one cluster, one user and one context. The arguments are YAML flow maps.
std::string Config(const std::string& cluster, const std::string& user = "{token: t}") {
  return "apiVersion: v1\nkind: Config\ncurrent-context: dev\nclusters: [{name: c, cluster: " + cluster +
         "}]\nusers: [{name: u, user: " + user + "}]\ncontexts: [{name: dev, context: {cluster: c, user: u}}]\n";
}
const char kServer[] = "{server: 'https://h:1'}";

TEST(KubeconfigTest, ContextSelectsItsClusterAndUser) {
  const char text[] = R"(
apiVersion: v1
kind: Config
current-context: dev
preferences: {}
contexts:
- name: prod
  context: {cluster: p, user: pu}
- name: dev
  context: {cluster: d, user: du, namespace: team}
clusters:
- name: p
  cluster: {server: "https://prod:6443"}
- name: d
  cluster:
    server: https://dev:6443/prefix
    tls-server-name: kube.dev
    certificate-authority-data: Q0E=
    proxy-url: http://proxy:3128
users:
- name: pu
  user: {username: me, password: secret}
- name: du
  user: {client-certificate-data: Q0VSVA==, client-key-data: S0VZ}
)";
  const Result<ClusterConfig> dev = Load(text);
  ASSERT_TRUE(dev) << Message(dev);
  EXPECT_EQ(dev->server, "https://dev:6443/prefix");
  EXPECT_EQ(dev->tls_server_name, "kube.dev");
  EXPECT_EQ(dev->tls.ca_pem, "CA");
  EXPECT_EQ(dev->tls.client_cert_pem, "CERT");
  EXPECT_EQ(dev->tls.client_key_pem, "KEY");
  EXPECT_EQ(dev->proxy_url, "http://proxy:3128");
  EXPECT_EQ(dev->ns, "team");
  EXPECT_EQ(dev->source, "context \"dev\" of /x/config");
  const Result<ClusterConfig> prod = Load(text, "prod");
  ASSERT_TRUE(prod) << Message(prod);
  EXPECT_EQ(prod->server, "https://prod:6443");
  EXPECT_EQ(prod->username, "me");
  EXPECT_EQ(prod->password, "secret");
  EXPECT_EQ(prod->ns, "default");
  EXPECT_TRUE(prod->tls.ca_pem.empty());
}

TEST(KubeconfigTest, JsonKubeconfigIsAccepted) {
  const Result<ClusterConfig> config = Load(
      R"({"kind":"Config","current-context":"x","clusters":[{"name":"c","cluster":{"server":"https://h","insecure-skip-tls-verify":true}}],
      "contexts":[{"name":"x","context":{"cluster":"c"}}]})");
  ASSERT_TRUE(config) << Message(config);
  EXPECT_TRUE(config->insecure_skip_tls_verify);
}

TEST(KubeconfigTest, TokenAndTokenFileAreRead) {
  EXPECT_EQ(Load(Config(kServer, "{token: abc}"))->token, "abc");
  EXPECT_EQ(Load(Config(kServer, "{tokenFile: /a/b}"))->token_file, "/a/b");
  EXPECT_EQ(Load(Config(kServer, "{tokenFile: b/../c}"))->token_file, "/x/c");
}

TEST(KubeconfigTest, ServerWithoutSchemeIsHttps) { EXPECT_EQ(Load(Config("{server: 'h:1'}"))->server, "https://h:1"); }

TEST(KubeconfigTest, PathsAreRelativeToTheirKubeconfig) {
  const std::filesystem::path dir =
      std::filesystem::path(::testing::TempDir()) / ("kubeconfig_test_" + std::to_string(getpid()));
  std::filesystem::create_directories(dir / "pki");
  std::ofstream(dir / "pki" / "ca.crt") << "THE CA";
  std::ofstream(dir / "me.crt") << "CERT";
  std::ofstream(dir / "me.key") << "KEY";
  const std::string text = Config("{server: 'https://h', certificate-authority: pki/ca.crt}",
                                  "{client-certificate: me.crt, client-key: '" + (dir / "me.key").string() + "'}");
  const Result<ClusterConfig> config = ConfigFromKubeconfig({{(dir / "config").string(), text}}, "");
  ASSERT_TRUE(config) << Message(config);
  EXPECT_EQ(config->tls.ca_pem, "THE CA");
  EXPECT_EQ(config->tls.client_cert_pem, "CERT");
  EXPECT_EQ(config->tls.client_key_pem, "KEY");
  EXPECT_THAT(Message(Load(text)), AllOf(HasSubstr("kubeconfig /x/config: cluster \"c\": certificate-authority"),
                                         HasSubstr("/x/pki/ca.crt: No such file")));
  std::filesystem::remove_all(dir);
}

TEST(KubeconfigTest, DataOverridesTheFile) {
  EXPECT_EQ(
      Load(Config("{server: 'https://h', certificate-authority: /none, certificate-authority-data: Q0E=}"))->tls.ca_pem,
      "CA");
}

TEST(KubeconfigTest, FirstFileWithAnEntryIsUsed) {
  const KubeconfigFile a{"/a/config", "clusters: [{name: c, cluster: {server: 'https://a'}}]\n"};
  const KubeconfigFile b{
      "/b/config",
      "current-context: x\nclusters: [{name: c, cluster: {server: 'https://b', tls-server-name: n}}]\n"
      "users: [{name: u, user: {tokenFile: t}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"};
  const KubeconfigFile c{"/c/config", "current-context: y\ncontexts: [{name: x, context: {cluster: zz}}]\n"};
  const Result<ClusterConfig> config = ConfigFromKubeconfig({a, b, c}, "");
  ASSERT_TRUE(config) << Message(config);
  EXPECT_EQ(config->server, "https://a");
  EXPECT_EQ(config->tls_server_name, "") << "fields of a later entry with the same name are not merged";
  EXPECT_EQ(config->token_file, "/b/t") << "relative to the file that holds the entry";
  EXPECT_EQ(config->source, "context \"x\" of /b/config");
  EXPECT_THAT(Message(ConfigFromKubeconfig({c, b}, "")),
              HasSubstr("kubeconfig /c/config, /b/config: current-context \"y\""));
}

TEST(KubeconfigTest, ExecPluginIsRead) {
  const Result<ClusterConfig> config = Load(Config(kServer, R"({exec: {apiVersion: client.authentication.k8s.io/v1,
    command: get-token, args: [a, "b c", 5], env: [{name: N, value: v}], installHint: "see docs", provideClusterInfo: true,
    interactiveMode: IfAvailable}})"));
  ASSERT_TRUE(config) << Message(config);
  ASSERT_TRUE(config->exec);
  EXPECT_EQ(config->exec->api_version, "client.authentication.k8s.io/v1");
  EXPECT_EQ(config->exec->command, "get-token");
  EXPECT_THAT(config->exec->args, ::testing::ElementsAre("a", "b c", "5"));
  EXPECT_THAT(config->exec->env, ::testing::ElementsAre(::testing::Pair("N", "v")));
  EXPECT_EQ(config->exec->install_hint, "see docs");
  EXPECT_TRUE(config->exec->provide_cluster_info);
  const auto command = [](const std::string& name) {
    return Load(Config(kServer, "{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: '" + name + "'}}"))
        ->exec->command;
  };
  EXPECT_EQ(command("./bin/get"), "/x/bin/get");
  EXPECT_EQ(command("/bin/get"), "/bin/get");
}

TEST(KubeconfigTest, ErrorsNameTheFileTheEntryAndTheFix) {
  const struct {
    std::string text;
    std::vector<std::string> parts;
  } cases[] = {
      {"contexts: [{name: b, context: {}}, {name: a, context: {}}]",
       {"kubeconfig /x/config: no current-context is set", "\"a\", \"b\"", "kubectl config use-context"}},
      {"current-context: dev\ncontexts: [{name: b, context: {}}]",
       {"current-context \"dev\" is not defined", "available contexts: \"b\"", "kubectl config use-context"}},
      {"", {"no current-context is set", "available contexts: none"}},
      {"current-context: a\ncontexts: [{name: a, context: {}}]", {"context \"a\" has no cluster"}},
      {"current-context: a\ncontexts: [{name: a, context: {cluster: q}}]\nclusters: [{name: c}]",
       {"context \"a\" names cluster \"q\", which is not defined", "available clusters: \"c\""}},
      {"current-context: a\ncontexts: [{name: a, context: {cluster: c, user: q}}]\nclusters: [{name: c, cluster: "
       "{server: h}}]",
       {"context \"a\" names user \"q\", which is not defined", "available users: none"}},
      {Config("{}"), {"kubeconfig /x/config: cluster \"c\": server is missing"}},
      {Config("{server: [1]}"), {"cluster \"c\": server must be a string"}},
      {Config("{server: h, insecure-skip-tls-verify: 'yes'}"), {"insecure-skip-tls-verify must be true or false"}},
      {Config("{server: h, insecure-skip-tls-verify: true, certificate-authority-data: Q0E=}"),
       {"contradict each other"}},
      {Config("{server: h, certificate-authority-data: '***'}"), {"certificate-authority-data is not valid base64"}},
      {Config(kServer, "{client-certificate: /no/such}"), {"user \"u\": client-certificate /no/such: No such file"}},
      {Config(kServer, "{auth-provider: {name: gcp}}"), {"user \"u\": auth-provider is not supported", "exec"}},
      {Config(kServer, "{as: admin}"), {"user \"u\": as: impersonation is not supported"}},
      {Config(kServer, "{exec: 5}"), {"user \"u\": exec must be a map"}},
      {Config(kServer, "{exec: {apiVersion: client.authentication.k8s.io/v1}}"),
       {"user \"u\": exec: command is missing"}},
      {Config(kServer, "{exec: {apiVersion: v7, command: c}}"), {"exec: apiVersion must be", "\"v7\""}},
      {Config(kServer, "{exec: {apiVersion: client.authentication.k8s.io/v1, command: c, args: {}}}"),
       {"args must be"}},
      {Config(kServer, "{exec: {apiVersion: client.authentication.k8s.io/v1, command: c, env: [1]}}"), {"env must be"}},
      {Config(kServer, "{exec: {apiVersion: client.authentication.k8s.io/v1, command: c, interactiveMode: Always}}"),
       {"interactiveMode Always"}},
      {"[]", {"this is not a kubeconfig"}},
      {"kind: Pod", {"its kind is \"Pod\", not \"Config\""}},
      {"clusters: 5", {"clusters must be a list"}},
      {"clusters: [5]", {"clusters entry 1 must be a map"}},
      {"clusters: [{cluster: {}}]", {"clusters entry 1 has no name"}},
      {"users: [{name: u, user: []}]", {"users \"u\": user must be a map"}},
      {"current-context: [a]", {"current-context must be a string"}},
      {"a: b\nc: [", {"kubeconfig /x/config: line "}},
      {"\t", {"kubeconfig /x/config: "}},
  };
  for (const auto& c : cases) {
    const std::string message = Message(Load(c.text));
    for (const std::string& part : c.parts) EXPECT_THAT(message, HasSubstr(part)) << c.text;
  }
  EXPECT_THAT(Message(Load(Config(kServer), "prod")),
              AllOf(HasSubstr("context \"prod\" is not defined"), HasSubstr("\"dev\"")));
}

TEST(KubeconfigTest, SecretsAreNotInMessages) {
  const std::string message = Message(Load(Config(kServer, "{token: topsecret, password: topsecret, as: x}")));
  EXPECT_THAT(message, Not(HasSubstr("topsecret")));
}

TEST(KubeconfigTest, HostileYamlIsAnErrorAndNoCrash) {
  const std::string deep(200'000, '[');
  std::string bomb = "a0: &a0 [x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + "," + before + "," + before + "]\n";
  }
  std::string indents;
  for (int i = 0; i < 5'000; ++i) indents += std::string(static_cast<std::size_t>(i % 3000), ' ') + "a:\n";
  const std::vector<std::string> texts = {deep,
                                          "a: " + std::string(200'000, '{'),
                                          bomb,
                                          "&a [*a]",
                                          "a: &a {b: *a}\nclusters: *a",
                                          "clusters: [*none]",
                                          std::string(100'000, '\0'),
                                          std::string("\xff\xfe\x00\x01", 4),
                                          "!!binary x",
                                          "- - - - -",
                                          "? ? ? :",
                                          indents,
                                          "clusters: [{name: c, cluster: &c {server: *c}}]",
                                          "<<: *x",
                                          "%YAML 9.9\n---\n",
                                          "--- a\n--- b\n",
                                          "\"\\x",
                                          "|9\n x"};
  for (const std::string& text : texts) {
    EXPECT_NE(Message(Load(text)), "no failure") << text.substr(0, 60);
  }
}

}  // namespace
}  // namespace yad
