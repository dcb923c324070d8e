#include "operator/client/auth/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace yad {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Clears the environment variables that the configuration reads, and restores them after the test.
class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() : dir_(std::filesystem::path(::testing::TempDir()) / ("config_test_" + std::to_string(getpid()))) {
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directories(dir_);
    for (const char* name : {"KUBECONFIG", "HOME", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"}) {
      const char* value = std::getenv(name);
      before_.emplace_back(name, value == nullptr ? std::optional<std::string>() : value);
      unsetenv(name);
    }
  }
  ~ConfigTest() override {
    for (const auto& [name, value] : before_) {
      if (value) {
        setenv(name.c_str(), value->c_str(), 1);
      } else {
        unsetenv(name.c_str());
      }
    }
    std::filesystem::remove_all(dir_);
  }

  std::string Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = dir_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  std::string WriteConfig(const std::string& name, const std::string& host) const {
    return Write(name, "current-context: x\nclusters: [{name: c, cluster: {server: 'https://" + host +
                           "'}}]\ncontexts: [{name: x, context: {cluster: c}}]\n");
  }
  static std::string Server() {
    const Result<ClusterConfig> config = LoadClusterConfig("");
    return config ? config->server : config.error().ToString();
  }

  const std::filesystem::path dir_;
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

TEST_F(ConfigTest, FlagOverridesTheVariableAndTheFileInHome) {
  const std::string flag = WriteConfig("flag", "flag");
  setenv("HOME", dir_.c_str(), 1);
  WriteConfig(".kube/config", "home");
  EXPECT_EQ(Server(), "https://home");
  setenv("KUBECONFIG", WriteConfig("variable", "variable").c_str(), 1);
  EXPECT_EQ(Server(), "https://variable");
  EXPECT_EQ(LoadClusterConfig(flag)->server, "https://flag");
}

TEST_F(ConfigTest, SeveralFilesAreMergedAndMissingOnesAreSkipped) {
  const std::string clusters = Write("clusters", "clusters: [{name: c, cluster: {server: 'https://merged'}}]\n");
  const std::string contexts = Write("contexts", "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n");
  setenv("KUBECONFIG", ("/no/such:" + clusters + "::" + contexts).c_str(), 1);
  EXPECT_EQ(Server(), "https://merged");
}

TEST_F(ConfigTest, VariableThatNamesOnlyMissingFilesIsAnError) {
  setenv("HOME", dir_.c_str(), 1);
  WriteConfig(".kube/config", "home");
  setenv("KUBECONFIG", "/no/such:/nor/this", 1);
  EXPECT_THAT(Server(), AllOf(HasSubstr("Config: KUBECONFIG is set to \"/no/such:/nor/this\""),
                              HasSubstr("no such file exists"), HasSubstr("--kubeconfig")));
}

TEST_F(ConfigTest, MissingFileOfTheFlagIsAnError) {
  const Result<ClusterConfig> config = LoadClusterConfig("/no/such");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().reason, Reason::kConfig);
  EXPECT_EQ(config.error().message, "kubeconfig /no/such: No such file or directory");
}

TEST_F(ConfigTest, ErrorNamesAllPlacesIfThereIsNoConfig) {
  setenv("HOME", dir_.c_str(), 1);
  EXPECT_THAT(Server(),
              AllOf(HasSubstr("--kubeconfig is not given"), HasSubstr("KUBECONFIG is not set"),
                    HasSubstr("KUBERNETES_SERVICE_HOST is not set"), HasSubstr(".kube/config does not exist")));
}

TEST_F(ConfigTest, ServiceAccountOfAPodIsRead) {
  Write("sa/token", "secret\n");
  Write("sa/ca.crt", "THE CA");
  Write("sa/namespace", "team\n");
  setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
  setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  const Result<ClusterConfig> config = LoadInClusterConfig((dir_ / "sa").string());
  ASSERT_TRUE(config) << config.error().ToString();
  EXPECT_EQ(config->server, "https://10.0.0.1:443");
  EXPECT_EQ(config->token_file, (dir_ / "sa/token").string());
  EXPECT_EQ(config->token, "");
  EXPECT_EQ(config->tls.ca_pem, "THE CA");
  EXPECT_EQ(config->ns, "team");
  setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
  EXPECT_EQ(LoadInClusterConfig((dir_ / "sa").string())->server, "https://[fd00::1]:443");
}

TEST_F(ConfigTest, PluginInAPodUsesTheServiceAccountLastAsKubectlDoes) {
  Write("sa/token", "secret");
  Write("sa/ca.crt", "THE CA");
  setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
  setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  setenv("HOME", dir_.c_str(), 1);
  const auto server = [this](InPod in_pod, const std::string& context = "") {
    const auto config = LoadClusterConfig("", context, in_pod, (dir_ / "sa").string());
    return config ? config->server : config.error().message;
  };
  EXPECT_EQ(server(InPod::kHomeFile), "https://10.0.0.1:443") << "the kubeconfig does not exist";
  EXPECT_EQ(server(InPod::kServiceAccount), "https://10.0.0.1:443");
  for (const InPod in_pod : {InPod::kHomeFile, InPod::kServiceAccount})
    EXPECT_THAT(server(in_pod, "x"), HasSubstr("the service account of a pod has no context \"x\""));
  Write(".kube/config", " \n");
  EXPECT_EQ(server(InPod::kHomeFile), "https://10.0.0.1:443") << "the kubeconfig is empty";
  WriteConfig(".kube/config", "home");
  EXPECT_EQ(server(InPod::kHomeFile), "https://home");
  EXPECT_EQ(server(InPod::kServiceAccount), "https://10.0.0.1:443");
  EXPECT_EQ(server(InPod::kServiceAccount, "x"), "https://home");
  EXPECT_THAT(server(InPod::kHomeFile, "y"), HasSubstr("context \"y\" is not defined"));
  setenv("KUBECONFIG", WriteConfig("variable", "variable").c_str(), 1);
  EXPECT_EQ(server(InPod::kHomeFile), "https://variable");
}

TEST_F(ConfigTest, MissingServiceAccountFilesOfAPodAreNamedInTheError) {
  const auto message = [this] {
    const auto config = LoadInClusterConfig((dir_ / "sa").string());
    return config ? "no failure" : config.error().ToString();
  };
  EXPECT_THAT(message(), HasSubstr("does not run in a pod"));
  setenv("KUBERNETES_SERVICE_HOST", "h", 1);
  setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  EXPECT_THAT(message(), AllOf(HasSubstr("sa/token: No such file"), HasSubstr("automountServiceAccountToken")));
  Write("sa/token", "t");
  EXPECT_THAT(message(), HasSubstr("sa/ca.crt: No such file"));
}

TEST_F(ConfigTest, EmptyCaOfAPodIsAnError) {
  Write("sa/token", "t");
  setenv("KUBERNETES_SERVICE_HOST", "h", 1);
  setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  for (const char* text : {"", " \n"}) {
    Write("sa/ca.crt", text);
    const Result<ClusterConfig> config = LoadInClusterConfig((dir_ / "sa").string());
    ASSERT_FALSE(config) << "the client would trust the system's CAs";
    EXPECT_EQ(config.error().reason, Reason::kConfig);
    EXPECT_THAT(config.error().message, HasSubstr("sa/ca.crt: the file is empty"));
  }
}

TEST_F(ConfigTest, ClientWithUnusableCredentialsIsNotCreated) {
  ClusterConfig config;
  config.server = "https://127.0.0.1:1";
  config.source = "context \"x\" of /x/config";
  config.tls.ca_pem = "garbage";
  const auto client = MakeClient(config, {});
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().reason, Reason::kConfig);
  EXPECT_THAT(client.error().message, AllOf(HasSubstr(config.source), HasSubstr("certificate-authority")));
}

}  // namespace
}  // namespace yad
