// The final state of the cluster that a naive model expects, and comparisons with the real state.
#ifndef TESTS_CLUSTER_WANTED_H_
#define TESTS_CLUSTER_WANTED_H_

#include <map>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/api/yurtappdaemon.h"

namespace yad::testing {

std::string Image(int number);  // example.org/app:NUMBER
int ImageNumber(const std::string& image);

// Keeps the first comparison that fails.
class Comparison {
 public:
  template <typename Have, typename Want>
  void Is(const std::string& what, const Have& have, const Want& want) {
    if (why_not_.empty() && Json(have) != Json(want)) {
      why_not_ = what + " is " + Json(have).dump() + " and not " + Json(want).dump();
    }
  }
  const std::string& why_not() const { return why_not_; }  // "": no comparison has failed

 private:
  std::string why_not_;
};

// The expected state of a daemon from ClusterTest::Daemon after all writes of the operator.
struct Wanted {
  std::vector<std::string> pools;                // sorted; each has exactly one workload
  int image = 1;                                 // all containers have example.org/app:IMAGE
  int containers = 1;                            // of each pod
  int generation = 1;                            // of each workload: the number of writes of its spec
  std::map<int, int> revisions{{1, 1}};          // images by revision number; the last is current
  std::map<std::string, Json> tolerations = {};  // of the pods, by pool
  std::map<std::string, int> generations = {};   // of workloads with another generation, by pool
  int service_port = 0;                          // of each pool's Service; 0: no Services
  // The newest revision has failed. The workloads have the previous revision, which is current.
  bool rolled_back = false;
  bool exactly = true;  // false: generations, the history and name collisions are not compared
};

void CompareStatus(const Json& daemon, const Wanted& wanted, Comparison& is);
// `revisions` are sorted, the oldest first.
void CompareRevisions(const Json& daemon, const std::vector<Json>& revisions, WorkloadKind kind, const Wanted& wanted,
                      Comparison& is);
// `workloads` are in order of their pools. `uids` are the uids of the earlier workloads, by pool.
void CompareWorkloads(const Json& daemon, const std::vector<Json>& workloads,
                      const std::map<std::string, std::string>& uids, const Wanted& wanted, Comparison& is);

// `services` are the Services that the daemon controls, in order of their pools.
void CompareServices(const Json& daemon, const std::vector<Json>& services, const Wanted& wanted, Comparison& is);

// Returns the image number of each revision, by revision number.
std::map<int, int> ImagesOf(const std::vector<Json>& revisions, WorkloadKind kind);

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_WANTED_H_
