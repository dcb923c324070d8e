#include "tests/support/control_plane.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "operator/client/config.h"
#include "tests/support/eventually.h"

namespace yad::testing {
namespace {

// Writes by anybody but Kubernetes' own components, which write far more than everybody else.
constexpr char kAuditPolicy[] = R"(apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: None
  users: ["system:kube-controller-manager", "system:kube-scheduler", "system:apiserver", "kwok"]
- level: None
  userGroups: ["system:serviceaccounts:kube-system", "system:nodes"]
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection]
)";

std::string AssetsDir(const std::string& source_dir) {
  const ProcessResult result = RunProcess({source_dir + "/hack/assets.sh", "dir"});
  return result.out.substr(0, result.out.find('\n'));
}

std::string TempDir() {
  const char* base = std::getenv("TMPDIR");
  std::string path = std::string(base != nullptr && *base != 0 ? base : "/tmp") + "/yad-cluster-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) throw TestFailure("cannot make a temporary folder " + path);
  return path;
}

}  // namespace

std::string ToString(const std::vector<AuditedWrite>& writes) {
  std::ostringstream text;
  for (const AuditedWrite& write : writes) {
    text << "\n  " << write.verb << " " << write.resource << (write.subresource.empty() ? "" : "/" + write.subresource)
         << " " << write.ns << "/" << write.name << " -> " << write.code;
  }
  return text.str();
}

std::string ControlPlane::Missing(const std::string& source_dir) {
  const std::string assets = AssetsDir(source_dir);
  std::string missing;
  for (const char* program :
       {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "kubectl"}) {
    if (access((assets + "/" + program).c_str(), X_OK) != 0) missing += std::string(" ") + program;
  }
  return missing.empty() ? "" : "missing in " + assets + ":" + missing + "; run 'make assets'";
}

ControlPlane::ControlPlane(const std::string& source_dir, ControlPlaneOptions options)
    : source_dir_(source_dir), dir_(TempDir()), kubeconfig_(dir_ + "/kubeconfig") {
  const std::string script = source_dir + "/hack/cluster.sh";
  kubectl_ = AssetsDir(source_dir) + "/kubectl";

  // The guard waits for the end of its stdin: that comes when this object goes or when this process dies, however it
  // dies.
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw TestFailure("cannot make a pipe");
  const std::string keep = std::getenv("YAD_KEEP_CLUSTER_LOGS") != nullptr ? ":" : "rm -rf \"$2\"";
  const std::string guard_text = "cat >/dev/null; \"$1\" stop \"$2\"; " + keep;
  const char* argv[] = {"sh", "-c", guard_text.c_str(), "guard", script.c_str(), dir_.c_str(), nullptr};
  guard_ = fork();
  if (guard_ == 0) {
    setsid();  // A Ctrl-C meant for the test program must not reach it.
    dup2(ends[0], 0);
    execvp("sh", const_cast<char**>(argv));
    _exit(127);
  }
  close(ends[0]);
  guard_pipe_ = ends[1];

  WriteFile(dir_ + "/audit-policy.yaml", kAuditPolicy);
  std::vector<std::string> command = {script, "start", dir_};
  if (!options.controllers) command.push_back("--no-controllers");
  ProcessOptions process;
  process.env["CLUSTER_APISERVER_FLAGS"] =
      "--audit-policy-file=" + dir_ + "/audit-policy.yaml --audit-log-path=" + dir_ + "/audit.log";
  process.env["CLUSTER_READY_SECONDS"] = "120";
  const ProcessResult result = RunProcess(command, process, std::chrono::minutes(5));
  if (result.exit_code != 0) throw TestFailure("hack/cluster.sh start: " + result.err + result.out);

  Result<ClusterConfig> config = LoadClusterConfig(kubeconfig_);
  if (!config.has_value()) throw TestFailure("kubeconfig: " + config.error().ToString());
  ClientOptions client;
  client.user_agent = "cluster-test/1";
  client.field_manager = "cluster-test";
  Result<std::unique_ptr<Client>> made = MakeClient(*config, client);
  if (!made.has_value()) throw TestFailure("client: " + made.error().ToString());
  client_ = std::move(*made);
  if (options.crds) ApplyCrds();
}

ControlPlane::~ControlPlane() {
  client_.reset();
  close(guard_pipe_);
  waitpid(guard_, nullptr, 0);
}

std::string ControlPlane::server() const {
  Result<ClusterConfig> config = LoadClusterConfig(kubeconfig_);
  return config.has_value() ? config->server : "";
}

void ControlPlane::ApplyCrds() {
  Kubectl({"apply", "--server-side", "-f", source_dir_ + "/crds"});
  Kubectl({"wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"});
}

ProcessResult ControlPlane::TryKubectl(std::vector<std::string> arguments, const std::string& stdin_text) const {
  // A cache of its own: kubectl keeps what it has discovered for hours, and servers reuse ports.
  arguments.insert(arguments.begin(),
                   {kubectl_, "--kubeconfig=" + kubeconfig_, "--cache-dir=" + dir_ + "/kubectl-cache"});
  ProcessOptions options;
  options.env = {{"HOME", dir_}, {"KUBECONFIG", ""}};
  options.stdin_text = stdin_text;
  return RunProcess(arguments, options);
}

std::string ControlPlane::Kubectl(std::vector<std::string> arguments, const std::string& stdin_text) const {
  std::string line = "kubectl";
  for (const std::string& argument : arguments) line += " " + argument;
  ProcessResult result = TryKubectl(std::move(arguments), stdin_text);
  if (result.exit_code != 0) throw TestFailure(line + ": " + result.err + result.out);
  return result.out;
}

std::size_t ControlPlane::AuditPosition() const {
  std::error_code error;
  const auto size = std::filesystem::file_size(dir_ + "/audit.log", error);
  return error ? 0 : size;
}

std::vector<AuditedWrite> ControlPlane::OperatorWrites(const std::string& ns, std::size_t since) const {
  const std::string log = ReadFile(dir_ + "/audit.log");
  if (log.empty()) throw TestFailure("there is no audit log: does hack/cluster.sh honour CLUSTER_APISERVER_FLAGS?");
  std::vector<AuditedWrite> writes;
  std::istringstream lines(log.substr(std::min(since, log.size())));
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\"userAgent\":\"yurtappdaemon-operator") == std::string::npos) continue;
    const Json event = Json::parse(line, nullptr, false);
    if (event.is_discarded()) continue;  // the line that is being written
    AuditedWrite write;
    write.verb = StringAt(event, {"verb"});
    write.resource = StringAt(event, {"objectRef", "resource"});
    write.subresource = StringAt(event, {"objectRef", "subresource"});
    write.ns = StringAt(event, {"objectRef", "namespace"});
    write.name = StringAt(event, {"objectRef", "name"});
    write.code = static_cast<int>(IntAt(event, {"responseStatus", "code"}));
    if (write.ns == ns) writes.push_back(write);
  }
  return writes;
}

}  // namespace yad::testing
