// A real control plane on 127.0.0.1 for tests, started by hack/cluster.sh.
#ifndef TESTS_SUPPORT_CONTROL_PLANE_H_
#define TESTS_SUPPORT_CONTROL_PLANE_H_

#include <sys/types.h>

#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "operator/client/client.h"
#include "tests/support/process.h"

namespace yad::testing {

// A request in the apiserver's audit log. kAuditPolicy selects the logged requests.
struct AuditedRequest {
  std::string verb;   // get, list, watch, create, update, patch, delete
  std::string group;  // "" for the core group
  std::string resource;
  std::string subresource;
  std::string ns;
  std::string name;  // of a create: from the response, if the log has it
  int code = 0;
  bool forbidden = false;  // by RBAC
  std::string user;
  std::string received;  // RFC 3339 with microseconds; sorts by time
  bool operator==(const AuditedRequest&) const = default;
};
std::string ToString(const std::vector<AuditedRequest>& requests);
// Returns the requests of an audit log that the server received at `since` or later. Reads only lines that contain
// `line_has`.
std::vector<AuditedRequest> ReadAuditLog(const std::string& log, WallTime since, const std::string& line_has);

// The namespace and the service account of an operator that has the chart's permissions.
inline constexpr char kOperatorNamespace[] = "yurtappdaemon-system";
inline constexpr char kOperatorAccount[] = "yurtappdaemon-operator";

// Returns the folder of etcd, kubectl, helm and the other programs. It might not exist yet.
std::string AssetsDir(const std::string& source_dir);

struct ControlPlaneOptions {
  bool controllers = true;  // false: only etcd and the apiserver
  bool crds = true;         // apply crds/*.yaml
  bool audit = true;        // false: no audit log, so writes are a little faster
};

// A real control plane. Stops when it is destroyed, or when the test program dies. Thread-safe after its construction.
class ControlPlane {
 public:
  // Returns "" if all programs are installed. Otherwise, returns the missing programs and how to install them.
  static std::string Missing(const std::string& source_dir);

  ControlPlane(const std::string& source_dir, ControlPlaneOptions options = {});
  ~ControlPlane();

  const std::string& dir() const { return dir_; }
  const std::string& kubeconfig() const { return kubeconfig_; }
  std::string server() const;           // "https://127.0.0.1:port"
  int minor() const { return minor_; }  // of the version: 34 for Kubernetes 1.34
  Client& client() { return *client_; }
  // Runs hack/cluster.sh COMMAND on this control plane: "stop-apiserver", "start-apiserver" and so on.
  void RunScript(const std::string& command) const;
  void ApplyCrds();
  void AwaitCrds() const;  // until the apiserver serves all existing CRDs

  // Runs kubectl as the administrator. Never throws; check exit_code.
  ProcessResult TryKubectl(std::vector<std::string> arguments, const std::string& stdin_text = "") const;
  // Throws TestFailure unless kubectl succeeds; returns stdout.
  std::string Kubectl(std::vector<std::string> arguments, const std::string& stdin_text = "") const;

  // Returns the writes in `ns` since `since` by clients with the operator's user agent. The apiserver logs a write
  // after it has taken effect, so the order may differ from the order of the requests.
  std::vector<AuditedRequest> OperatorWrites(const std::string& ns, WallTime since) const;
  // Returns all requests of this service account since this time. The apiserver logs a watch when it ends.
  std::vector<AuditedRequest> RequestsOf(const std::string& ns, const std::string& account, WallTime since = {}) const;
  // Remembers the size of the audit log. If `since` is later than this call, the functions above read only the lines
  // after this size.
  void MarkAuditLog() const;
  // Writes a kubeconfig for a service account, and returns its path. Its default namespace is the account's.
  std::string TokenKubeconfig(const std::string& ns, const std::string& account) const;

 private:
  std::vector<AuditedRequest> Audited(WallTime since, const std::string& line_has) const;

  std::string source_dir_;
  std::string dir_;
  std::string kubeconfig_;
  std::string kubectl_;
  std::unique_ptr<Client> client_;
  int minor_ = 0;
  int guard_pipe_ = -1;
  pid_t guard_ = -1;
  mutable std::mutex audit_marks_mutex_;
  // The size of the audit log shortly before a time. Lines up to this size have an earlier time.
  struct AuditMark {
    ino_t inode = 0;
    off_t size = 0;
  };
  mutable std::map<WallTime, AuditMark> audit_marks_;
};

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_CONTROL_PLANE_H_
