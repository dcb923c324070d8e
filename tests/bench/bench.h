// The shared parts of the scenarios: the options and figures of a run, and the clusters.
#ifndef TESTS_BENCH_BENCH_H_
#define TESTS_BENCH_BENCH_H_

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/client/auth/config.h"
#include "operator/client/transport/transport_options.h"
#include "tests/bench/figures.h"
#include "tests/support/control_plane.h"
#include "tests/support/kube.h"
#include "tests/support/operator_process.h"

namespace yad::bench {

// The number of concurrent writes. The operator has the same number for one daemon (PlanExecutor::Options).
inline constexpr std::size_t kParallelWrites = 16;
inline constexpr char kGroupLabel[] = "example.com/group";

// Returns the options for the administrator's client certificate.
TransportOptions AdminTransport(const ClusterConfig& config);

std::string PoolName(const std::string& name, int i);  // "NAME-0000" for 0

// An etcd and a kube-apiserver for one scenario. If `controllers` is false, only the operator and the benchmark write,
// and no pods exist.
class Cluster {
 public:
  // If `audit` is false, writes are a little faster, but RequestsSince does not work.
  explicit Cluster(bool audit, bool controllers = false);

  testing::ControlPlane& plane() { return plane_; }
  testing::Kube Namespace(const std::string& name);  // creates it
  const TransportOptions& transport() const { return transport_; }
  HttpTransport& beast() { return *beast_; }
  // Returns a transport without open connections.
  std::shared_ptr<HttpTransport> NewBeast() const;
  // Returns a bearer token of a service account with all permissions, and creates its kubeconfig. The audit log has the
  // reads of this account, but not the administrator's reads.
  std::string Token();
  const std::string& account_kubeconfig();

  // Creates NodePools with the names PoolName(name, 0), PoolName(name, 1) and so on. Their label kGroupLabel has the
  // value `group`.
  void AddPools(const std::string& name, int count, const std::string& group);
  // Starts an operator with the administrator's permissions. By default, the rate of its requests is not limited.
  std::unique_ptr<testing::OperatorProcess> Operator(const std::string& ns, const std::vector<std::string>& flags = {});
  std::unique_ptr<testing::OperatorProcess> Operator(testing::OperatorOptions options);
  // Returns the process id of a program of the control plane, such as "etcd".
  pid_t PidOf(const std::string& program) const;
  // Returns all requests of the service account since this time, except open watches. Needs `audit`.
  std::vector<testing::AuditedRequest> RequestsSince(const WallTime& since);

 private:
  testing::ControlPlane plane_;
  TransportOptions transport_;
  std::shared_ptr<HttpTransport> beast_;
  std::string account_kubeconfig_;
};

// Returns a daemon with replicas 0 that selects the pools of these groups. Each Deployment has about 2.2 KB of JSON,
// without managedFields.
Json Daemon(const std::string& name, const std::vector<std::string>& groups);
inline constexpr char kImage[] = "registry.example.com/shop/till:1.4.2";
inline constexpr char kNewImage[] = "registry.example.com/shop/till:1.5.0";  // as long as kImage
// Returns a merge patch with the status that Kubernetes' controller would write for this Deployment.
Json HealthyPatch(const Json& deployment);

// Returns the requests make(0) to make(count - 1).
template <typename Make>
std::vector<HttpRequest> Requests(std::size_t count, Make make) {
  std::vector<HttpRequest> requests;
  requests.reserve(count);
  for (std::size_t i = 0; i < count; ++i) requests.push_back(make(i));
  return requests;
}
HttpRequest Write(const std::string& method, const std::string& path, std::string body,
                  const std::string& content_type = "application/json");
inline constexpr char kMergePatch[] = "application/merge-patch+json";

// Returns the number of write requests.
std::size_t CountWrites(const std::vector<testing::AuditedRequest>& requests);

struct Options {
  std::string only;      // names of scenarios, separated by commas; empty: all
  bool lengthy = false;  // measure up to 50,000 workloads, which takes several minutes more
  bool add = false;      // keep the earlier results in `out`
  std::string out;       // the folder for results
};

// One run. Scenarios add figures to it.
class Bench {
 public:
  explicit Bench(Options options) : options_(std::move(options)) {}

  const Options& options() const { return options_; }
  // Adds the figure, or replaces the figure of the same name.
  void Add(Figure figure);
  void AddMemoryPoint(double workloads, double mb);
  // Loads the results of an earlier WriteResults from options().out.
  void LoadResults();
  void Say(const std::string& line) const;  // progress, on stderr
  const std::vector<Figure>& figures() const { return figures_; }
  // The share of the machine's CPU that other programs used before each scenario, 0 to 1.
  std::vector<double> busy_before;
  // The MB of resident memory, by number of workloads.
  const std::map<double, double>& memory_points() const { return memory_points_; }

 private:
  const Options options_;
  std::vector<Figure> figures_;
  std::map<double, double> memory_points_;
};

struct Scenario {
  std::string name;
  void (*run)(Bench& bench);
};
std::vector<Scenario> WriteScenarios();   // create, update
std::vector<Scenario> ServerScenarios();  // the apiserver's CPU, by the kind of update request
std::vector<Scenario> DaemonScenarios();  // status events, removals and large templates of one daemon
std::vector<Scenario> PodsScenarios();    // 300 pools with pods, scheduler, controllers and KWOK
std::vector<Scenario> StartScenarios();   // start of an operator with 10,000 workloads
std::vector<Scenario> WorldScenarios();   // changes of 10,000 workloads
std::vector<Scenario> MemoryScenarios();  // more than 10,000 workloads; the last scenario ends the World
std::vector<Scenario> WebhookScenarios();
std::vector<Scenario> FailoverScenarios();
std::vector<Scenario> PackageScenarios();  // sizes of the release
std::vector<Scenario> MicroScenarios();    // results of the micro-benchmarks

}  // namespace yad::bench

#endif  // TESTS_BENCH_BENCH_H_
