#include "tests/support/control_plane.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "operator/client/auth/config.h"
#include "tests/support/eventually.h"

namespace yad::testing {
namespace {

// The audit log contains all requests of service accounts, and all writes of other users. It omits Kubernetes' own
// components, because they write far more than all other clients.
constexpr char kAuditPolicy[] = R"(apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: None
  users: ["system:kube-controller-manager", "system:kube-scheduler", "system:apiserver", "kwok"]
- level: None
  userGroups: ["system:serviceaccounts:kube-system", "system:nodes"]
- level: Metadata
  userGroups: ["system:serviceaccounts"]
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection]
)";

// Returns the requestReceivedTimestamp of an audit line, or "" if the line is incomplete. Does not parse JSON, which
// would be slow.
std::string_view ReceivedIn(std::string_view line) {
  constexpr std::string_view kKey = "\"requestReceivedTimestamp\":\"";
  const std::size_t at = line.find(kKey);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + kKey.size());
  return line.substr(0, line.find('"'));
}

// The feature ImageVolume exists since Kubernetes 1.31. It is off by default before 1.35.
bool HasImageVolumes() {
  const char* version = std::getenv("K8S_VERSION");
  return version == nullptr || std::string(version).find("1.30") == std::string::npos;
}

std::string TempDir() {
  const char* base = std::getenv("TMPDIR");
  std::string path = std::string(base != nullptr && *base != 0 ? base : "/tmp") + "/yad-cluster-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) throw TestFailure("cannot make a temporary folder " + path);
  return path;
}

}  // namespace

std::string AssetsDir(const std::string& source_dir) {
  const ProcessResult result = RunProcess({source_dir + "/hack/assets.sh", "dir"});
  return result.out.substr(0, result.out.find('\n'));
}

std::string ToString(const std::vector<AuditedRequest>& requests) {
  std::ostringstream text;
  for (const AuditedRequest& request : requests) {
    text << "\n  " << request.verb << " " << request.resource
         << (request.subresource.empty() ? "" : "/" + request.subresource) << " " << request.ns << "/" << request.name
         << " -> " << request.code << " (" << request.user << ", " << request.received << ")";
  }
  return text.str();
}

std::vector<AuditedRequest> ReadAuditLog(const std::string& log, WallTime since, const std::string& line_has) {
  std::vector<AuditedRequest> requests;
  const std::string begin = FormatMicroTime(since);
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(line_has) == std::string::npos || ReceivedIn(line) < begin) continue;
    const Json event = Json::parse(line, nullptr, false);
    if (event.is_discarded()) continue;  // the last line may be incomplete
    AuditedRequest request;
    request.verb = StringAt(event, {"verb"});
    request.group = StringAt(event, {"objectRef", "apiGroup"});
    request.resource = StringAt(event, {"objectRef", "resource"});
    request.subresource = StringAt(event, {"objectRef", "subresource"});
    request.ns = StringAt(event, {"objectRef", "namespace"});
    request.name = StringAt(event, {"objectRef", "name"});
    request.code = static_cast<int>(IntAt(event, {"responseStatus", "code"}));
    request.forbidden = StringAt(event, {"annotations", "authorization.k8s.io/decision"}) == "forbid";
    request.user = StringAt(event, {"user", "username"});
    request.received = StringAt(event, {"requestReceivedTimestamp"});
    requests.push_back(std::move(request));
  }
  return requests;
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

  // The guard is a shell process that stops the cluster when its stdin is closed: when this object is destroyed, or
  // this process exits.
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw TestFailure("cannot make a pipe");
  const std::string keep = std::getenv("YAD_KEEP_CLUSTER_LOGS") != nullptr ? ":" : "rm -rf \"$2\"";
  const std::string guard_text = "cat >/dev/null; \"$1\" stop \"$2\"; " + keep;
  const char* argv[] = {"sh", "-c", guard_text.c_str(), "guard", script.c_str(), dir_.c_str(), nullptr};
  guard_ = fork();
  if (guard_ == 0) {
    setsid();  // A Ctrl-C for the test program must not reach the guard.
    dup2(ends[0], 0);
    execvp("sh", const_cast<char**>(argv));
    _exit(127);
  }
  close(ends[0]);
  guard_pipe_ = ends[1];

  // hack/cluster.sh rejects a folder that is not empty, unless it contains this file.
  WriteFile(dir_ + "/.made-by-cluster.sh", "");
  WriteFile(dir_ + "/audit-policy.yaml", kAuditPolicy);
  std::vector<std::string> command = {script, "start", dir_};
  if (!options.controllers) command.push_back("--no-controllers");
  ProcessOptions process;
  // With this plugin, a client may set blockOwnerDeletion only if it may update the owner's finalizers. OpenShift
  // enables the plugin.
  process.env["CLUSTER_APISERVER_FLAGS"] =
      "--enable-admission-plugins=OwnerReferencesPermissionEnforcement" +
      std::string(HasImageVolumes() ? " --feature-gates=ImageVolume=true" : "") +
      (options.audit ? " --audit-policy-file=" + dir_ + "/audit-policy.yaml --audit-log-path=" + dir_ + "/audit.log"
                     : std::string());
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
  const Result<std::string> version = client_->GetRaw("/version");
  if (!version) throw TestFailure(version.error().ToString());
  minor_ = std::stoi(StringAt(Json::parse(*version), {"minor"}));
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

void ControlPlane::RunScript(const std::string& command) const {
  ProcessOptions process;
  process.env["CLUSTER_READY_SECONDS"] = "120";
  const ProcessResult result =
      RunProcess({source_dir_ + "/hack/cluster.sh", command, dir_}, process, std::chrono::minutes(4));
  if (result.exit_code != 0) throw TestFailure("hack/cluster.sh " + command + ": " + result.err + result.out);
}

void ControlPlane::ApplyCrds() {
  Kubectl({"apply", "--server-side", "--force-conflicts", "-f", source_dir_ + "/crds"});
  AwaitCrds();
}

void ControlPlane::AwaitCrds() const {
  // kubectl wait fails for a CRD that has no conditions yet.
  Eventually("all CRDs are established", [&] {
    const ProcessResult result = TryKubectl({"wait", "--for=condition=Established", "--timeout=10s", "crd", "--all"});
    return result.exit_code == 0 ? std::string() : result.err + result.out;
  });
}

ProcessResult ControlPlane::TryKubectl(std::vector<std::string> arguments, const std::string& stdin_text) const {
  // kubectl caches discovery by the server's address for hours. Ports are reused, so each control plane has its own
  // cache.
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

std::vector<AuditedRequest> ControlPlane::Audited(WallTime since, const std::string& line_has) const {
  const std::string path = dir_ + "/audit.log";
  struct stat log_file {};
  if (stat(path.c_str(), &log_file) != 0 || log_file.st_size == 0) {
    throw TestFailure("there is no audit log: does hack/cluster.sh honour CLUSTER_APISERVER_FLAGS?");
  }
  off_t begin = 0;
  {
    const std::lock_guard lock(audit_marks_mutex_);
    const auto later = audit_marks_.upper_bound(since);
    // The apiserver begins another file when the log becomes large.
    if (later != audit_marks_.begin() && std::prev(later)->second.inode == log_file.st_ino) {
      begin = std::prev(later)->second.size;
    }
  }
  std::ifstream file(path, std::ios::binary);
  file.seekg(begin);
  std::ostringstream log;
  log << file.rdbuf();
  return ReadAuditLog(log.str(), since, line_has);
}

void ControlPlane::MarkAuditLog() const {
  struct stat log_file {};
  if (stat((dir_ + "/audit.log").c_str(), &log_file) != 0) return;
  const std::lock_guard lock(audit_marks_mutex_);
  audit_marks_[std::chrono::system_clock::now()] = {log_file.st_ino, log_file.st_size};
}

std::vector<AuditedRequest> ControlPlane::OperatorWrites(const std::string& ns, WallTime since) const {
  std::vector<AuditedRequest> writes = Audited(since, "\"userAgent\":\"yurtappdaemon-operator");
  std::erase_if(writes, [&](const AuditedRequest& request) {
    return request.ns != ns || request.verb == "get" || request.verb == "list" || request.verb == "watch";
  });
  return writes;
}

std::vector<AuditedRequest> ControlPlane::RequestsOf(const std::string& ns, const std::string& account,
                                                     WallTime since) const {
  return Audited(since, "\"username\":\"system:serviceaccount:" + ns + ":" + account + "\"");
}

std::string ControlPlane::TokenKubeconfig(const std::string& ns, const std::string& account) const {
  std::string token = Kubectl({"create", "token", account, "--namespace=" + ns, "--duration=24h"});
  while (!token.empty() && token.back() == '\n') token.pop_back();
  std::string text = ReadFile(kubeconfig_);
  const auto replace = [&text](const std::string& begin, const std::string& line) {
    const auto at = text.find(begin);
    if (at == std::string::npos) throw TestFailure("the kubeconfig does not contain \"" + begin + "\"");
    text.replace(at, text.find('\n', at) - at, line);
  };
  replace("  user: {client-certificate-data:", "  user: {token: " + token + "}");
  replace("  context: {cluster: test,", "  context: {cluster: test, user: admin, namespace: " + ns + "}");
  const std::string path = dir_ + "/" + ns + "-" + account + ".kubeconfig";
  WriteFile(path, text);
  return path;
}

}  // namespace yad::testing
