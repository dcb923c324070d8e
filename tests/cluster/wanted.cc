#include "tests/cluster/wanted.h"

#include <cstdlib>

#include "tests/cluster/fixture.h"

namespace yad::testing {

std::string Image(int number) { return "example.org/app:" + std::to_string(number); }

int ImageNumber(const std::string& image) { return std::atoi(image.substr(image.find(':') + 1).c_str()); }

void CompareStatus(const Json& daemon, const Wanted& wanted, Comparison& is) {
  const auto generation = At(daemon, "/metadata/generation");
  const auto count = wanted.pools.size();
  is.Is("status.observedGeneration", At(daemon, "/status/observedGeneration"), generation);
  for (const auto& [type, value] :
       std::map<std::string, std::string>{{"Ready", "True"},
                                          {"Progressing", wanted.rolled_back ? "False" : "True"},
                                          {"Degraded", "False"},
                                          {"Paused", "False"}}) {
    is.Is("condition " + type + " (" + StringAt(ConditionOf(daemon, type), {"message"}) + ")",
          ConditionStatus(daemon, type), value);
    is.Is("its observedGeneration", At(ConditionOf(daemon, type), "/observedGeneration"), generation);
  }
  is.Is("Progressing's reason", At(ConditionOf(daemon, "Progressing"), "/reason"),
        wanted.rolled_back ? "RolledBack" : "RolloutComplete");
  is.Is("condition WorkLoadProvisioned", ConditionStatus(daemon, "WorkLoadProvisioned"), "True");
  is.Is("condition WorkLoadUpdated", ConditionStatus(daemon, "WorkLoadUpdated"), wanted.rolled_back ? "False" : "True");
  for (const char* all : {"desiredPools", "readyPools"}) {
    is.Is(std::string("status.") + all, At(daemon, std::string("/status/") + all), count);
  }
  is.Is("status.updatedPools", At(daemon, "/status/updatedPools"), wanted.rolled_back ? 0 : count);
  for (const char* none : {"failedPools", "offlinePools", "replicas", "readyReplicas"}) {
    is.Is(std::string("status.") + none, At(daemon, std::string("/status/") + none), 0);
  }
  if (wanted.exactly) is.Is("status.collisionCount", At(daemon, "/status/collisionCount"), 0);
  is.Is("status.nodepools", At(daemon, "/status/nodepools"), wanted.pools);
  if (!wanted.rolled_back) is.Is("status.images", At(daemon, "/status/images"), Image(wanted.image));
  is.Is("status.currentRevision is the updateRevision",
        At(daemon, "/status/currentRevision") == At(daemon, "/status/updateRevision"), !wanted.rolled_back);
  std::vector<std::string> names;
  for (const Json& entry : At(daemon, "/status/pools")) {
    names.push_back(StringAt(entry, {"name"}));
    is.Is("status.pools: phase", At(entry, "/phase"), "Ready");
    is.Is("status.pools: revision", At(entry, "/revision"), At(daemon, "/status/currentRevision"));
  }
  is.Is("status.pools", names, wanted.pools);
  for (const Json& entry : At(daemon, "/status/workloadSummary")) {
    is.Is("status.workloadSummary: availableCondition", At(entry, "/availableCondition"), "True");
  }
  is.Is("status.workloadSummary's size", At(daemon, "/status/workloadSummary").size(), count);
}

std::map<int, int> ImagesOf(const std::vector<Json>& revisions, WorkloadKind kind) {
  const std::string image =
      std::string("/data/spec/workloadTemplate/") + TemplateField(kind) + "/spec/template/spec/containers/0/image";
  std::map<int, int> images;
  for (const Json& revision : revisions) {
    images[static_cast<int>(IntAt(revision, {"revision"}))] =
        ImageNumber(StringAt(Json{{"image", At(revision, image)}}, {"image"}));
  }
  return images;
}

void CompareRevisions(const Json& daemon, const std::vector<Json>& revisions, WorkloadKind kind, const Wanted& wanted,
                      Comparison& is) {
  const std::map<int, int> have = ImagesOf(revisions, kind);
  is.Is("the number of distinct revision numbers", have.size(), revisions.size());
  is.Is("status.updateRevision", At(daemon, "/status/updateRevision"),
        revisions.empty() ? "" : NameOf(revisions.back()));
  if (!wanted.rolled_back) is.Is("the newest revision's image", have.empty() ? 0 : have.rbegin()->second, wanted.image);
  if (wanted.exactly) is.Is("the history (number and image)", have, wanted.revisions);
}

void CompareWorkloads(const Json& daemon, const std::vector<Json>& workloads,
                      const std::map<std::string, std::string>& uids, const Wanted& wanted, Comparison& is) {
  std::vector<std::string> pools;
  for (const Json& workload : workloads) {
    const std::string pool = Annotation(workload, kRefNodePoolAnnotation);
    const std::string name = NameOf(workload);
    const Json labels = {{"app", NameOf(daemon)}, {kPoolNameLabel, pool}};
    pools.push_back(pool);
    is.Is(name + "'s owners", At(workload, "/metadata/ownerReferences"),
          Json::array({{{"apiVersion", "apps.openyurt.io/v1alpha1"},
                        {"kind", "YurtAppDaemon"},
                        {"name", NameOf(daemon)},
                        {"uid", UidOf(daemon)},
                        {"controller", true},
                        {"blockOwnerDeletion", true}}}));
    if (const auto uid = uids.find(pool); uid != uids.end()) is.Is(name + "'s uid", UidOf(workload), uid->second);
    if (wanted.exactly) {
      const auto own = wanted.generations.find(pool);
      is.Is(name + "'s generation", At(workload, "/metadata/generation"),
            own == wanted.generations.end() ? wanted.generation : own->second);
    }
    is.Is(name + "'s revision", Label(workload, kRevisionLabel), At(daemon, "/status/currentRevision"));
    is.Is(name + "'s label", Label(workload, kPoolNameLabel), pool);
    is.Is(name + "'s inputs are recorded", !Annotation(workload, kRenderedFromAnnotation).empty(), true);
    is.Is(name + "'s selector", At(workload, "/spec/selector/matchLabels"), labels);
    is.Is(name + "'s replicas", At(workload, "/spec/replicas"), 0);
    is.Is(name + "'s image", ImageOf(workload), Image(wanted.image));
    is.Is(name + "'s containers", At(workload, "/spec/template/spec/containers").size(), wanted.containers);
    is.Is(name + "'s pods' labels", At(workload, "/spec/template/metadata/labels"), labels);
    const auto tolerations = wanted.tolerations.find(pool);
    is.Is(name + "'s pods' tolerations", At(workload, "/spec/template/spec/tolerations"),
          tolerations == wanted.tolerations.end() ? Json() : tolerations->second);
    is.Is(name + "'s nodeSelector", At(workload, "/spec/template/spec/nodeSelector"), Json{{kNodePoolLabel, pool}});
  }
  is.Is("the pools with a workload, one entry for each", pools, wanted.pools);
}

void CompareServices(const Json& daemon, const std::vector<Json>& services, const Wanted& wanted, Comparison& is) {
  std::vector<std::string> pools, named;
  for (const Json& service : services) {
    const std::string pool = Label(service, kPoolNameLabel);
    pools.push_back(pool);
    is.Is(NameOf(service) + "'s port", At(service, "/spec/ports/0/port"), wanted.service_port);
    is.Is(NameOf(service) + "'s selector", At(service, "/spec/selector"),
          Json{{"app", NameOf(daemon)}, {kPoolNameLabel, pool}});
    is.Is("the Service in status", StringAt(PoolStatus(daemon, pool), {"service"}), NameOf(service));
    is.Is("the name of the Service, compared with the workload's name",
          StringAt(PoolStatus(daemon, pool), {"workload"}), NameOf(service));
  }
  for (const Json& entry : At(daemon, "/status/pools")) {
    if (entry.contains("service")) named.push_back(StringAt(entry, {"name"}));
  }
  const std::vector<std::string> all = wanted.service_port == 0 ? std::vector<std::string>() : wanted.pools;
  is.Is("the pools with a Service", pools, all);
  is.Is("the pools with a Service in status", named, all);
}

}  // namespace yad::testing
