#include "tests/cluster/crash_cell.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "operator/client/config.h"

namespace yad::testing {
namespace {

// The first of some comparisons that fails.
class Comparison {
 public:
  template <typename Have, typename Want>
  void Is(const std::string& what, const Have& have, const Want& want) {
    if (why_not_.empty() && Json(have) != Json(want)) {
      why_not_ = what + " is " + Json(have).dump() + " and not " + Json(want).dump();
    }
  }
  const std::string& why_not() const { return why_not_; }

 private:
  std::string why_not_;
};

void CompareStatus(const Json& daemon, const Wanted& wanted, Comparison& is) {
  const auto generation = At(daemon, "/metadata/generation");
  const auto count = wanted.pools.size();
  is.Is("status.observedGeneration", At(daemon, "/status/observedGeneration"), generation);
  for (const auto& [type, value] : std::map<std::string, std::string>{
           {"Ready", "True"}, {"Progressing", "True"}, {"Degraded", "False"}, {"Paused", "False"}}) {
    is.Is("condition " + type, ConditionStatus(daemon, type), value);
    is.Is("its observedGeneration", At(ConditionOf(daemon, type), "/observedGeneration"), generation);
  }
  is.Is("Progressing's reason", At(ConditionOf(daemon, "Progressing"), "/reason"), "RolloutComplete");
  is.Is("condition WorkLoadProvisioned", ConditionStatus(daemon, "WorkLoadProvisioned"), "True");
  is.Is("condition WorkLoadUpdated", ConditionStatus(daemon, "WorkLoadUpdated"), "True");
  for (const char* all : {"desiredPools", "updatedPools", "readyPools"}) {
    is.Is(std::string("status.") + all, At(daemon, std::string("/status/") + all), count);
  }
  for (const char* none : {"failedPools", "offlinePools", "replicas", "readyReplicas", "collisionCount"}) {
    is.Is(std::string("status.") + none, At(daemon, std::string("/status/") + none), 0);
  }
  is.Is("status.nodepools", At(daemon, "/status/nodepools"), wanted.pools);
  is.Is("status.images", At(daemon, "/status/images"), Image(wanted.image));
  is.Is("status.currentRevision", At(daemon, "/status/currentRevision"), At(daemon, "/status/updateRevision"));
  std::vector<std::string> names;
  for (const Json& entry : At(daemon, "/status/pools")) {
    names.push_back(StringAt(entry, {"name"}));
    is.Is("status.pools: phase", At(entry, "/phase"), "Ready");
    is.Is("status.pools: revision", At(entry, "/revision"), At(daemon, "/status/updateRevision"));
  }
  is.Is("status.pools", names, wanted.pools);
  for (const Json& entry : At(daemon, "/status/workloadSummary")) {
    is.Is("status.workloadSummary: availableCondition", At(entry, "/availableCondition"), "True");
  }
  is.Is("status.workloadSummary's size", At(daemon, "/status/workloadSummary").size(), count);
}

void CompareRevisions(const Json& daemon, const std::vector<Json>& revisions, WorkloadKind kind, const Wanted& wanted,
                      Comparison& is) {
  std::map<int, int> have;  // as wanted.revisions
  std::string last;
  const std::string image =
      std::string("/data/spec/workloadTemplate/") + TemplateField(kind) + "/spec/template/spec/containers/0/image";
  for (const Json& revision : revisions) {
    const std::string text = StringAt(Json{{"image", At(revision, image)}}, {"image"});
    have[static_cast<int>(IntAt(revision, {"revision"}))] = std::atoi(text.substr(text.find(':') + 1).c_str());
    last = NameOf(revision);
  }
  is.Is("the history (number and image)", have, wanted.revisions);
  is.Is("the number of revisions", revisions.size(), wanted.revisions.size());
  is.Is("status.updateRevision", At(daemon, "/status/updateRevision"), last);
}

// `uids`: of those that were there before, by pool.
void CompareWorkloads(const Json& daemon, const std::vector<Json>& workloads,
                      const std::map<std::string, std::string>& uids, const Wanted& wanted, Comparison& is) {
  std::vector<std::string> pools;
  for (const Json& workload : workloads) {
    const std::string pool = Annotation(workload, kRefNodePoolAnnotation);
    const std::string name = NameOf(workload);
    const Json labels = {{"app", kCellDaemon}, {kPoolNameLabel, pool}};
    pools.push_back(pool);
    is.Is(name + "'s owners", At(workload, "/metadata/ownerReferences"),
          Json::array({{{"apiVersion", "apps.openyurt.io/v1alpha1"},
                        {"kind", "YurtAppDaemon"},
                        {"name", kCellDaemon},
                        {"uid", UidOf(daemon)},
                        {"controller", true},
                        {"blockOwnerDeletion", true}}}));
    if (const auto uid = uids.find(pool); uid != uids.end()) is.Is(name + "'s uid", UidOf(workload), uid->second);
    is.Is(name + "'s generation", At(workload, "/metadata/generation"), wanted.generation);
    is.Is(name + "'s revision", Label(workload, kRevisionLabel), At(daemon, "/status/updateRevision"));
    is.Is(name + "'s label", Label(workload, kPoolNameLabel), pool);
    is.Is(name + "'s inputs are recorded", !Annotation(workload, kRenderedFromAnnotation).empty(), true);
    is.Is(name + "'s selector", At(workload, "/spec/selector/matchLabels"), labels);
    is.Is(name + "'s replicas", At(workload, "/spec/replicas"), 0);
    is.Is(name + "'s image", ImageOf(workload), Image(wanted.image));
    is.Is(name + "'s containers", At(workload, "/spec/template/spec/containers").size(), wanted.containers);
    is.Is(name + "'s pods' labels", At(workload, "/spec/template/metadata/labels"), labels);
    is.Is(name + "'s pods' nodes", At(workload, "/spec/template/spec/nodeSelector"), Json{{kNodePoolLabel, pool}});
  }
  is.Is("the pools with a workload, one entry for each", pools, wanted.pools);
}

}  // namespace

std::string Image(int number) { return "example.org/app:" + std::to_string(number); }

void CrashCell::Close() {
  watch_.reset();
  TearDown();
}

OperatorOptions CrashCell::DefaultOptions() {
  OperatorOptions options = ClusterTest::DefaultOptions();
  if (proxy_ == nullptr) {
    const Result<ClusterConfig> config = LoadClusterConfig(options.kubeconfig);
    if (!config) throw TestFailure(config.error().ToString());
    proxy_ = std::make_unique<FaultProxy>(config->server, config->ca_pem,
                                          [this](const ProxiedRequest& request) { return gate_(request); });
    kubeconfig_ = plane().dir() + "/" + ns() + ".kubeconfig";
    WriteFile(kubeconfig_, KubeconfigThrough(*proxy_, ReadFile(options.kubeconfig)));
  }
  options.kubeconfig = kubeconfig_;
  return options;
}

void CrashCell::ExpectRemovalOf(const std::string& pool) {
  watch_->ExpectRemoval(NameOf(WorkloadOf(kCellDaemon, pool)));
}

void CrashCell::AddSecondWorkload(const std::string& pool) {
  Json second = WorkloadOf(kCellDaemon, pool);
  second.erase("status");
  for (const char* field : {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"}) {
    second["metadata"].erase(field);
  }
  // Of two that are as good the older stays, and of two of the same second the one whose name comes first.
  const std::string name = std::string(kCellDaemon) + "-" + pool + "-zzzzz";
  second["metadata"]["name"] = name;
  watch_->ExpectSecond(name);
  watch_->ExpectRemoval(name);
  kube().Create(type(), second);
}

int CrashCell::Play(Prepare prepare, Act act, int at) {
  for (const char* pool : {"a", "b", "c"}) AddPool(pool);
  AddBystander();
  StartOperator();
  if (const auto prepared = prepare(*this)) {
    WaitUntil(*prepared);
    for (const Json& workload : AllButTheBystander()) {
      uids_[Annotation(workload, kRefNodePoolAnnotation)] = UidOf(workload);
    }
  }
  watch_ = std::make_unique<WorkloadWatch>(kube().client(), type(), ns(), kCellDaemon);

  gate_.Arm(op().pid(), at);
  const Wanted wanted = act(*this);
  Eventually("it was killed, or is done",
             [&]() -> std::string { return gate_.killed() ? std::string() : WhyNot(wanted); });
  const int count = gate_.Disarm();
  if (gate_.killed()) {
    KillOperator();  // It is dead already, and the fixture has to know.
    gate_.Reopen();
    StartOperator();
    WaitUntil(wanted);
  }
  ExpectNoMoreWrites();
  WaitUntil(wanted);
  ExpectNoFaultWasSeen();
  return count;
}

std::string CrashCell::Story() {
  std::string text = "\n  its writes:";
  for (const std::string& write : gate_.writes()) text += "\n    " + write;
  std::vector<std::string> lines;
  std::istringstream log(ReadFile(ClusterTest::DefaultOptions().log_file));
  for (std::string line; std::getline(log, line);) lines.push_back(line);
  text += "\n  the end of its log:";
  for (std::size_t i = lines.size() - std::min<std::size_t>(lines.size(), 30); i < lines.size(); ++i) {
    text += "\n    " + lines[i];
  }
  if (watch_ != nullptr) {
    for (const std::string& fault : watch_->faults()) text += "\n  " + fault;
  }
  return text;
}

// Has all that makes a workload ours but the selector and a controller: to be left alone.
void CrashCell::AddBystander() {
  const std::string pool = Pool("a");
  Json bystander = {{"metadata",
                     {{"name", std::string(kCellDaemon) + "-" + pool + "-other"},
                      {"labels", {{"app", kCellDaemon}, {kPoolNameLabel, pool}}},
                      {"annotations", {{kRefNodePoolAnnotation, pool}}}}},
                    {"spec",
                     {{"replicas", 0},
                      {"selector", {{"matchLabels", {{"app", "other"}, {kPoolNameLabel, pool}}}}},
                      {"template",
                       {{"metadata", {{"labels", {{"app", "other"}, {kPoolNameLabel, pool}}}}},
                        {"spec", {{"containers", {{{"name", "main"}, {"image", "example.org/other:1"}}}}}}}}}}};
  if (kind() == WorkloadKind::kStatefulSet) bystander["spec"]["serviceName"] = "other";
  bystander_ = kube().Create(type(), bystander);
}

std::vector<Json> CrashCell::AllButTheBystander() {
  std::vector<Json> workloads = kube().List(type());
  std::erase_if(workloads, [&](const Json& workload) { return NameOf(workload) == NameOf(bystander_); });
  std::sort(workloads.begin(), workloads.end(), [](const Json& a, const Json& b) {
    return Annotation(a, kRefNodePoolAnnotation) < Annotation(b, kRefNodePoolAnnotation);
  });
  return workloads;
}

void CrashCell::WaitUntil(const Wanted& wanted) {
  Eventually("the cluster is as wanted", [&] { return WhyNot(wanted); });
}

std::string CrashCell::WhyNot(const Wanted& wanted) {
  const Json daemon = GetDaemon(kCellDaemon);
  Comparison status;
  CompareStatus(daemon, wanted, status);
  if (!status.why_not().empty()) return status.why_not();  // the cheapest to ask for: this is polled
  Comparison is;
  CompareRevisions(daemon, Revisions(kCellDaemon), kind(), wanted, is);
  CompareWorkloads(daemon, AllButTheBystander(), uids_, wanted, is);
  const Json bystander = kube().Get(type(), NameOf(bystander_));
  for (const char* part : {"/metadata/uid", "/metadata/labels", "/metadata/ownerReferences", "/spec"}) {
    is.Is(std::string("a workload that is not ours: ") + part, At(bystander, part), At(bystander_, part));
  }
  return is.why_not();
}

// All that the operator asks goes through the gate.
void CrashCell::ExpectNoMoreWrites() {
  const auto writes = [&] {
    std::vector<std::string> all = gate_.writes();
    std::erase_if(all, [](const std::string& write) { return write.find("/barrier-") != std::string::npos; });
    return all;
  };
  const std::size_t before = writes().size();
  Barrier();
  Barrier();
  if (const auto now = writes(); now.size() != before) {
    throw TestFailure("everything was as wanted, and it went on to write: " + now.at(before));
  }
}

void CrashCell::ExpectNoFaultWasSeen() {
  const Json last =
      kube().MergePatch(type(), NameOf(bystander_), {{"metadata", {{"annotations", {{"cluster-test", "the end"}}}}}});
  Eventually("the watch has seen everything",
             [&] { return watch_->HasSeen(VersionOf(last)) || !watch_->faults().empty(); });
  if (!watch_->faults().empty()) throw TestFailure("on the way: " + watch_->faults().front());
}

}  // namespace yad::testing
