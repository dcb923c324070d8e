#include "tests/support/openyurt_state.h"

#include "operator/api/well_known.h"

namespace yad::testing {
namespace {

const char* const kHashes[] = {"744f4f4999", "6b8f4d7c55", "5c69b69bd4"};

std::string HashOf(std::size_t index, std::size_t count) { return kHashes[index + 1 == count ? 2 : index]; }

Json RevisionData(Json workload_template, const std::string& image) {
  workload_template["metadata"]["creationTimestamp"] = nullptr;
  workload_template["spec"]["strategy"] = Json::object();
  workload_template["spec"]["template"]["metadata"]["creationTimestamp"] = nullptr;
  Json& container = workload_template["spec"]["template"]["spec"]["containers"][0];
  if (!container.contains("resources")) container["resources"] = Json::object();
  container["image"] = image;
  return {{"spec", {{"workloadTemplate", {{"$patch", "replace"}, {"deploymentTemplate", workload_template}}}}}};
}

Json WorkloadFor(const Json& daemon, const Json& owner, const Json& pool, const std::string& revision) {
  const std::string pool_name = NameOf(pool);
  const Json workload_template = At(daemon, "/spec/workloadTemplate/deploymentTemplate");
  const std::string name = OpenYurtName(NameOf(daemon), pool_name);
  Json labels = At(workload_template, "/metadata/labels");
  labels[kPoolNameLabel] = pool_name;
  Json spec = workload_template.at("spec");
  spec["selector"] = {{"matchLabels", labels}};
  labels[kRevisionLabel] = revision;
  spec["template"]["metadata"]["labels"] = labels;
  Json& pod = spec["template"]["spec"];
  pod["nodeSelector"] = {{kNodePoolLabel, pool_name}};
  pod["affinity"]["nodeAffinity"].erase("requiredDuringSchedulingIgnoredDuringExecution");
  for (const Json& taint : At(pool, "/spec/taints")) {
    pod["tolerations"].push_back({{"key", taint.at("key")}, {"operator", "Exists"}, {"effect", taint.at("effect")}});
  }
  return {{"metadata",
           {{"generateName", NameOf(daemon) + "-" + pool_name + "-"},
            {"name", name},
            {"labels", labels},
            {"annotations", {{kRefNodePoolAnnotation, pool_name}}},
            {"ownerReferences", Json::array({owner})}}},
          {"spec", spec}};
}

}  // namespace

Json LostNodeSelector() { return {{"lost", "by-openyurt"}}; }

Json OpenYurtDaemon(const std::string& name, const Json& nodepool_selector, int replicas) {
  const Json labels = {{"app", name}};
  Json pod = Json::parse(R"({
    "containers": [{"name": "main", "image": "example.org/app:1", "imagePullPolicy": "Always",
                    "ports": [{"containerPort": 80, "protocol": "TCP"}], "resources": {"requests": {"cpu": "10m"}},
                    "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}],
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
      {"matchExpressions": [{"key": "lost", "operator": "Exists"}]}]}}},
    "tolerations": [{"key": "region", "operator": "Exists", "effect": "NoSchedule"}, {"key": "own", "operator": "Exists"}],
    "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "terminationGracePeriodSeconds": 30})");
  pod["nodeSelector"] = LostNodeSelector();
  return {{"metadata", {{"name", name}}},
          {"spec",
           {{"selector", {{"matchLabels", labels}}},
            {"nodepoolSelector", nodepool_selector},
            {"revisionHistoryLimit", 10},
            {"workloadTemplate",
             {{"deploymentTemplate",
               {{"metadata", {{"labels", labels}}},
                {"spec",
                 {{"replicas", replicas},
                  {"selector", {{"matchLabels", labels}}},
                  {"template", {{"metadata", {{"labels", labels}}}, {"spec", pod}}}}}}}}}}}};
}

std::string OpenYurtName(const std::string& daemon, const std::string& pool) { return daemon + "-" + pool + "-bht2n"; }

std::vector<std::string> OpenYurtRevisions(const std::string& daemon, const OpenYurtOptions& options) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < options.images.size(); ++i) {
    names.push_back(daemon + "-" + HashOf(i, options.images.size()));
  }
  return names;
}

Json MakeOpenYurtState(const Kube& kube, const Json& daemon, const std::vector<Json>& pools,
                       const OpenYurtOptions& options) {
  const Json created = kube.Create(kYurtAppDaemonType, daemon);
  const std::string name = NameOf(created);
  const Json owner = {{"apiVersion", kYurtAppDaemonType.ApiVersion()},
                      {"kind", kYurtAppDaemonType.kind},
                      {"name", name},
                      {"uid", UidOf(created)},
                      {"controller", true},
                      {"blockOwnerDeletion", true}};
  const std::vector<std::string> revisions = OpenYurtRevisions(name, options);
  Json pool_names = Json::array();
  Json summary = Json::array();
  for (const Json& pool : pools) {
    const std::string& label = options.labels_first ? revisions.front() : revisions.back();
    kube.Create(kDeploymentType, WorkloadFor(created, owner, pool, label));
    pool_names.push_back(NameOf(pool));
    summary.push_back({{"availableCondition", "True"},
                       {"readyReplicas", 0},
                       {"replicas", 0},
                       {"workloadName", OpenYurtName(name, NameOf(pool))}});
  }
  for (std::size_t i = 0; i < revisions.size(); ++i) {
    kube.Create(kControllerRevisionType,
                {{"metadata",
                  {{"name", revisions[i]},
                   {"ownerReferences", Json::array({owner})},
                   {"labels", {{"app", name}, {kHashLabel, HashOf(i, revisions.size())}}}}},
                 {"revision", i + 1},
                 {"data", RevisionData(At(created, "/spec/workloadTemplate/deploymentTemplate"), options.images[i])}});
  }
  const Json condition = {{"lastTransitionTime", "2026-11-20T10:30:30Z"}, {"status", "True"}};
  Json conditions = {condition, condition};
  conditions[0]["type"] = "WorkLoadProvisioned";
  conditions[1]["type"] = "WorkLoadUpdated";
  kube.MergePatch(kYurtAppDaemonType, name,
                  {{"status",
                    {{"collisionCount", 0},
                     {"conditions", conditions},
                     {"currentRevision", revisions.front()},  // stays at the first revision
                     {"nodepools", pool_names},
                     {"observedGeneration", 1},
                     {"templateType", "Deployment"},
                     {"workloadSummary", summary}}}},
                  "status");
  return created;
}

void AddOpenYurtDuplicate(const Kube& kube, const std::string& daemon, const std::string& pool) {
  Json second = kube.Get(kDeploymentType, OpenYurtName(daemon, pool));
  second.erase("status");
  for (const char* field : {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"}) {
    second["metadata"].erase(field);
  }
  second["metadata"]["name"] = daemon + "-" + pool + "-aaaaa";
  second["spec"]["template"]["spec"]["nodeSelector"]["no-such-node"] = "";
  kube.Create(kDeploymentType, second);
}

}  // namespace yad::testing
