// The program: flags, exit codes, signals, leader election, and servers that are unreachable or not trusted.
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "tests/cluster/fixture.h"

namespace yad::testing {
namespace {

ProcessResult RunOperator(std::vector<std::string> flags, std::map<std::string, std::string> env = {}) {
  flags.insert(flags.begin(), YAD_OPERATOR_BINARY);
  ProcessOptions options;
  options.env = std::move(env);
  return RunProcess(flags, options, std::chrono::seconds(30));
}

TEST(ProcessTest, VersionFlagPrintsTheVersionOnStdoutAndExitsWithZero) {
  const ProcessResult result = RunOperator({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, ::testing::ContainsRegex("v[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST(ProcessTest, HelpFlagPrintsTheFlagsAndExitsWithZero) {
  const ProcessResult result = RunOperator({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* flag :
       {"--kubeconfig", "--leader-elect", "--metrics-bind-address", "--health-probe-bind-address", "--namespace",
        "--kube-api-qps", "--max-removals", "--prometheus-url", "--cloud-events-url", "--otlp-traces-url"}) {
    EXPECT_THAT(result.out, ::testing::HasSubstr(flag));
  }
}

TEST(ProcessTest, InvalidFlagsExitWithTwoAndTheErrorNamesTheFlag) {
  const std::vector<std::vector<std::string>> lines = {
      {"--no-such-flag"},
      {"--kube-api-qps=many"},
      {"--kube-api-qps=nan"},
      {"--kube-api-qps=1e-9"},
      {"--leader-elect=perhaps"},
      {"stray-argument"},
      {"--leader-elect-retry-period=0s"},
      {"--leader-elect-renew-deadline=15s"},  // as long as the lease's duration
      {"--leader-elect-lease-duration=10"},
      {"--leader-elect-lease-duration=1m30s"},
      {"--leader-elect-lease-duration=600000h"},  // more seconds than fit into a Lease
      {"--leader-elect-lease-duration=9000000000000000000s"},
      {"--capacity-resync=9000000000000000000s"},
      {"--max-removals=many"},
      {"--max-removals=101%"},
      {"--max-removals=-1"},
      {"--prometheus-url=prometheus:9090"},
      {"--prometheus-url=ftp://prometheus"},
      {"--prometheus-url=https://user:password@prometheus"},
      {"--prometheus-url=https://prometheus/?a=b"},
      {"--prometheus-url=http://prometheus", "--controllers=nodepool"},
      {"--prometheus-ca-file=/ca.crt"},
      {"--prometheus-ca-file=/ca.crt", "--prometheus-url=http://prometheus"},
      {"--prometheus-token-file=/token", "--prometheus-url=http://prometheus"},
      {"--cloud-events-url=events"},
      {"--cloud-events-url=http://events", "--controllers=nodepool"},
      {"--otlp-traces-url=collector:4318"},
      {"--otlp-traces-ca-file=/ca.crt", "--otlp-traces-url=http://collector:4318/v1/traces"},
      {"--cloud-events-token-file=/token", "--cloud-events-url=http://events"}};
  for (const auto& line : lines) {
    const ProcessResult result = RunOperator(line);
    EXPECT_EQ(result.exit_code, 2) << line[0];
    const std::string name = line[0].substr(0, line[0].find('='));
    EXPECT_THAT(result.err, ::testing::HasSubstr(name));
    EXPECT_THAT(result.err, ::testing::Not(::testing::HasSubstr("password")));
  }
}

// SIGTERM terminates the program at any point of its start. Here, the program waits for a credential plugin that never
// exits.
TEST(ProcessTest, SigtermDuringTheStartExitsWithZero) {
  const std::string path = ::testing::TempDir() + "yad-endless-plugin";
  unlink((path + ".pid").c_str());
  WriteFile(path, "#!/bin/sh\necho $$ >" + path + ".pid\nexec sleep 600\n");
  ASSERT_EQ(chmod(path.c_str(), 0700), 0);
  WriteFile(path + ".kubeconfig", R"(
clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: a, user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: )" +
                                      path + R"(}}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
current-context: a
)");
  Process process({YAD_OPERATOR_BINARY, "--kubeconfig=" + path + ".kubeconfig"});
  pid_t plugin = 0;
  Eventually("the plugin runs", [&] { return (plugin = std::atoi(ReadFile(path + ".pid").c_str())) > 0; });
  EXPECT_EQ(process.Errors().find("Starting"), std::string::npos);
  process.Signal(SIGTERM);
  EXPECT_EQ(process.Wait(std::chrono::seconds(30)), 0);
  kill(plugin, SIGKILL);
}

TEST(ProcessTest, AMissingOrInvalidKubeconfigIsReportedImmediately) {
  const ProcessResult missing = RunOperator({"--kubeconfig=/no/such/file"});
  EXPECT_NE(missing.exit_code, 0);
  EXPECT_LT(missing.exit_code, 128) << "a crash";
  EXPECT_THAT(missing.err, ::testing::HasSubstr("/no/such/file"));

  std::string path = ::testing::TempDir() + "yad-broken-kubeconfig";
  WriteFile(path, "clusters: [}{");
  const ProcessResult broken = RunOperator({"--kubeconfig=" + path});
  EXPECT_NE(broken.exit_code, 0);
  EXPECT_LT(broken.exit_code, 128) << "a crash";
  EXPECT_THAT(broken.err, ::testing::HasSubstr(path));

  WriteFile(path, R"({"apiVersion": "v1", "kind": "Config", "current-context": "nowhere"})");
  const ProcessResult no_context = RunOperator({"--kubeconfig=" + path});
  EXPECT_NE(no_context.exit_code, 0);
  EXPECT_THAT(no_context.err, ::testing::HasSubstr("nowhere"));

  const ProcessResult none =
      RunOperator({}, {{"KUBECONFIG", ""}, {"HOME", "/no/such/home"}, {"KUBERNETES_SERVICE_HOST", ""}});
  EXPECT_NE(none.exit_code, 0);
  EXPECT_THAT(none.err, ::testing::HasSubstr("kubeconfig"));
}

class ProcessOnClusterTest : public ClusterTest {
 protected:
  // Writes a copy of the administrator's kubeconfig in which `to` replaces `from`.
  std::string Kubeconfig(const std::string& name, const std::string& from, const std::string& to) {
    std::string text = ReadFile(plane().kubeconfig());
    const auto at = text.find(from);
    if (at == std::string::npos) throw TestFailure("no " + from + " in the kubeconfig");
    text.replace(at, from.size(), to);
    const std::string path = plane().dir() + "/" + ns() + "-" + name;
    WriteFile(path, text);
    return path;
  }
  // Expects that the log contains `error`, and that the process either waits without being ready, or exits with an
  // error.
  static void ExpectUnavailable(OperatorProcess& process, const std::string& error) {
    process.AwaitLog(error);
    if (const std::optional<int> code = process.ExitCode()) {
      EXPECT_NE(*code, 0);
      EXPECT_LT(*code, 128) << "a crash";
    } else {
      EXPECT_FALSE(process.Ready());
      EXPECT_EQ(process.Stop(), 0);
    }
  }
};

TEST_F(ProcessOnClusterTest, SigtermAndSigintExitWithZero) {
  AddPools(3);
  CreateDaemon(Daemon("web"));
  StartOperator();
  WaitUntilReady("web");
  StopOperator();
  OperatorProcess interrupted(DefaultOptions());
  interrupted.WaitUntilReady();
  kill(interrupted.pid(), SIGINT);
  EXPECT_EQ(interrupted.Wait(std::chrono::seconds(30)), 0);
  // A signal also terminates the program during its start.
  OperatorOptions options = DefaultOptions();
  options.log_file = plane().dir() + "/" + ns() + "-early.log";
  OperatorProcess early(options);
  Eventually("the process has logged a line", [&] { return !early.Log().empty(); });
  EXPECT_EQ(early.Stop(), 0);
}

TEST_F(ProcessOnClusterTest, MissingCaOrTokenFileOfAServiceFailsTheStart) {
  for (const std::string service : {"--prometheus", "--cloud-events", "--otlp-traces"}) {
    for (const std::string file : {"-ca-file=", "-token-file="}) {
      const ProcessResult result =
          RunOperator({"--kubeconfig=" + plane().kubeconfig(), service + "-url=https://127.0.0.1:1",
                       service + file + "/no/such/file"});
      EXPECT_EQ(result.exit_code, 1) << service << file;
      EXPECT_THAT(result.err, ::testing::AllOf(::testing::HasSubstr("/no/such/file"), ::testing::HasSubstr(service)));
    }
  }
}

TEST_F(ProcessOnClusterTest, AnUnreachableServerIsRetriedAndReported) {
  const int port = FreePort();
  OperatorOptions options = DefaultOptions();
  options.kubeconfig = Kubeconfig("unreachable", plane().server(), "https://127.0.0.1:" + std::to_string(port));
  OperatorProcess process(options);
  ExpectUnavailable(process, "127.0.0.1:" + std::to_string(port));
}

TEST_F(ProcessOnClusterTest, AServerWithACertificateOfAnotherAuthorityIsNotTrusted) {
  // A CA that has not signed a certificate of this cluster.
  const std::string key = plane().dir() + "/" + ns() + "-ca.key";
  const std::string crt = plane().dir() + "/" + ns() + "-ca.crt";
  const ProcessResult made = RunProcess({"openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj",
                                         "/CN=another", "-days", "2", "-keyout", key, "-out", crt});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::string text = ReadFile(plane().kubeconfig());
  const std::string word = "certificate-authority-data: ";
  const auto begin = text.find(word);
  ASSERT_NE(begin, std::string::npos);
  const auto end = text.find_first_of("}\n, ", begin + word.size());
  OperatorOptions options = DefaultOptions();
  options.kubeconfig = Kubeconfig("untrusted", text.substr(begin, end - begin), "certificate-authority: " + crt);
  const WallTime before = Now();
  CreateDaemon(Daemon("web"));
  OperatorProcess process(options);
  ExpectUnavailable(process, "certificate");
  EXPECT_TRUE(WritesSince(before).empty());
}

TEST_F(ProcessOnClusterTest, InvalidCredentialsAreReportedAndTheProcessIsNotReady) {
  const std::string text = ReadFile(plane().kubeconfig());
  const auto user = text.find("  user: {client-certificate-data:");
  ASSERT_NE(user, std::string::npos);
  const std::string line = text.substr(user, text.find('\n', user) - user);
  OperatorOptions options = DefaultOptions();
  options.kubeconfig = Kubeconfig("nobody", line, "  user: {token: not-a-token}");
  OperatorProcess process(options);
  process.AwaitLog("Unauthorized");
  EXPECT_FALSE(process.Ready());
}

TEST_F(ProcessOnClusterTest, OneOfTwoProcessesLeadsAndReleasesItsLeaseWhenItIsStopped) {
  OperatorOptions options = DefaultOptions();
  options.leader_elect = true;
  const Kube own(plane().client(), kOperatorNamespace);
  const auto holder = [&]() -> std::string {
    const auto lease = own.Find(kLeaseType, "yurtappdaemon-operator");
    return lease ? StringAt(*lease, {"spec", "holderIdentity"}) : "";
  };
  options.log_file = plane().dir() + "/" + ns() + "-first.log";
  auto first = std::make_unique<OperatorProcess>(options);
  Eventually("the first process leads", [&] { return !holder().empty(); });
  const std::string first_identity = holder();
  options.log_file = plane().dir() + "/" + ns() + "-second.log";
  OperatorProcess second(options);
  second.WaitUntilReady();  // a ready replica without the lease does not write

  const std::string a = AddPool("a");
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  WaitForPools("web", {a});
  EXPECT_EQ(holder(), first_identity);
  EXPECT_EQ(second.Metric("rest_client_requests_total", {"method=\"POST\""}), 0);
  EXPECT_EQ(second.Metric("leader_election_master_status"), 0);
  EXPECT_EQ(first->Metric("leader_election_master_status"), 1);

  EXPECT_EQ(first->Stop(), 0);
  // When it exited, the first process released the lease before it expired.
  EXPECT_NE(holder(), first_identity);
  const std::string b = AddPool("b");
  WaitForPools("web", {a, b});
  EXPECT_NE(holder(), "");
  EXPECT_NE(holder(), first_identity);
  EXPECT_EQ(second.Stop(), 0);
}

TEST_F(ProcessOnClusterTest, MetricsOfTheProcessAreServed) {
  StartOperator();
  AddPools(2);
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  const std::string metrics = op().Metrics();
  for (const char* name :
       {"controller_runtime_reconcile_total", "controller_runtime_reconcile_errors_total",
        "controller_runtime_reconcile_time_seconds_bucket", "workqueue_depth", "workqueue_adds_total",
        "rest_client_requests_total", "process_resident_memory_bytes", "yurtappdaemon_build_info{version=\"v"}) {
    EXPECT_THAT(metrics, ::testing::HasSubstr(name));
  }
  EXPECT_GE(op().Metric("rest_client_requests_total", {"method=\"POST\"", "code=\"201\""}), 3);
}

}  // namespace
}  // namespace yad::testing
