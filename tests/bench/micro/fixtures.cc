#include "tests/bench/micro/fixtures.h"

#include <malloc.h>

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "operator/json/json_document.h"

namespace yad::bench {
namespace {

std::string Uuid(int index) {
  char text[37];
  std::snprintf(text, sizeof text, "6f1c2a34-9b1d-4c7e-8f20-%012d", index);
  return text;
}

std::string Numbered(const char* format, int number) {
  char text[32];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

// Sets the default values that an apiserver sets.
void FillDefaults(Json& deployment) {
  Json& spec = deployment["spec"];
  spec["progressDeadlineSeconds"] = 600;
  spec["revisionHistoryLimit"] = 10;
  spec["strategy"] = R"({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}})"_json;
  spec["template"]["metadata"]["creationTimestamp"] = nullptr;
  Json& pod = testing::PodSpecOf(deployment);
  pod.update(R"({"dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
                 "securityContext": {}, "terminationGracePeriodSeconds": 30})"_json);
  for (Json& container : pod["containers"]) {
    container.update(R"({"imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log",
                         "terminationMessagePolicy": "File"})"_json);
    for (Json& port : container["ports"]) port["protocol"] = "TCP";
  }
  for (Json& volume : pod["volumes"]) volume["configMap"]["defaultMode"] = 420;
}

// Returns the fieldsV1 tree of managedFields for a manager that owns all fields of `value`.
Json FieldsOf(const Json& value) {
  Json fields = Json::object();
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) fields["f:" + key] = FieldsOf(member);
  } else if (value.is_array()) {
    for (const Json& item : value) {
      if (!item.is_object() || item.empty()) continue;
      const std::string key = item.contains("name") ? "name" : item.begin().key();
      Json& entry = fields["k:" + Json{{key, item[key]}}.dump()] = FieldsOf(item);
      entry["."] = Json::object();
    }
  }
  return fields;
}

}  // namespace

Json GatewayDaemon(const std::string& image) {
  Json daemon = testing::DaemonJson(image);
  daemon["metadata"]["resourceVersion"] = "5";
  Json& pod = testing::PodSpecOf(testing::TemplateOf(daemon));
  pod["containers"][0].update(R"({
    "env": [{"name": "LOG_LEVEL", "value": "info"}],
    "ports": [{"name": "http", "containerPort": 8080}],
    "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}},
    "volumeMounts": [{"name": "config", "mountPath": "/etc/gateway"}]})"_json);
  pod["volumes"] = R"([{"name": "config", "configMap": {"name": "gateway"}}])"_json;
  return daemon;
}

Json GatewayDaemonWithOverrides() {
  Json daemon = GatewayDaemon();
  daemon["spec"]["overrides"] = R"([
    {"pools": ["*"], "images": [{"name": "main", "image": "mirror.example.org/edge/gateway:1.4.2"}]},
    {"pools": ["edge-00000", "edge-00001"], "replicas": 3},
    {"nodepoolSelector": {"matchLabels": {"region": "region-0"}},
     "patch": {"spec": {"template": {"spec": {"containers": [
       {"name": "main", "env": [{"name": "POOL", "value": "{{nodepool-name}}"}]}]}}}}}])"_json;
  return daemon;
}

std::string PoolName(int index) { return Numbered("edge-%05d", index); }

Json Pool(int index) {
  Json pool = testing::PoolJson(
      PoolName(index), index % 3 == 0 ? std::vector<std::string>{"example.org/edge"} : std::vector<std::string>());
  pool["metadata"]["labels"] = {
      {"region", Numbered("region-%d", index % 10)}, {"site", PoolName(index)}, {"tier", "edge"}};
  pool["status"] = {{"readyNodeNum", 2}, {"unreadyNodeNum", 0}};
  return pool;
}

Json ServedDeployment(const Json& daemon, const RevisionPtr& revision, int pool) {
  Json deployment = testing::WorkloadJson(daemon, revision, Pool(pool));
  FillDefaults(deployment);
  deployment["metadata"]["uid"] = Uuid(pool);
  deployment["metadata"]["resourceVersion"] = std::to_string(1'000'000 + pool);
  deployment["status"]["conditions"] = R"([
    {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable",
     "message": "Deployment has minimum availability.",
     "lastTransitionTime": "2026-01-01T00:00:09Z", "lastUpdateTime": "2026-01-01T00:00:09Z"},
    {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable",
     "message": "ReplicaSet has successfully progressed.",
     "lastTransitionTime": "2026-01-01T00:00:00Z", "lastUpdateTime": "2026-01-01T00:00:09Z"}])"_json;
  return deployment;
}

Json WithManagedFields(Json object) {
  const auto entry = [](const char* manager, Json fields) {
    return Json{{"manager", manager},       {"operation", "Update"},          {"apiVersion", "apps/v1"},
                {"fieldsType", "FieldsV1"}, {"time", "2026-01-01T00:00:00Z"}, {"fieldsV1", std::move(fields)}};
  };
  const Json& metadata = object["metadata"];
  const Json ours = {{"metadata",
                      {{"labels", metadata["labels"]},
                       {"annotations", metadata["annotations"]},
                       {"ownerReferences", metadata["ownerReferences"]}}},
                     {"spec", object["spec"]}};
  Json status = entry("kube-controller-manager", FieldsOf({{"status", object["status"]}}));
  status["subresource"] = "status";
  object["metadata"]["managedFields"] =
      Json::array({entry("yurtappdaemon-operator", FieldsOf(ours)), std::move(status)});
  return object;
}

const Snapshot& AtRest(int pools) {
  static std::mutex& mutex = *new std::mutex;
  static auto& made = *new std::map<int, std::unique_ptr<const Snapshot>>;
  std::lock_guard lock(mutex);
  std::unique_ptr<const Snapshot>& slot = made[pools];
  if (slot != nullptr) return *slot;
  const Json daemon = GatewayDaemon();
  auto snapshot = std::make_unique<Snapshot>();
  snapshot->daemon = *ParseYurtAppDaemon(daemon);
  snapshot->update = snapshot->current = testing::MakeRevision(daemon);
  snapshot->revisions = {snapshot->update};
  for (int i = 0; i < pools; ++i) {
    snapshot->pools.push_back(testing::MakePool(Pool(i)));
    snapshot->workloads.push_back(testing::MakeWorkload(ServedDeployment(daemon, snapshot->update, i)));
  }
  slot = std::move(snapshot);
  return *slot;
}

Snapshot WithNewRevision(int pools) {
  Snapshot snapshot = AtRest(pools);
  const Json daemon = GatewayDaemon(kNewImage);
  snapshot.daemon = *ParseYurtAppDaemon(daemon);
  snapshot.update = testing::MakeRevision(daemon, 2);
  snapshot.revisions.push_back(snapshot.update);
  return snapshot;
}

std::string DeploymentPage(int first, int count) {
  const Json daemon = GatewayDaemon();
  const RevisionPtr revision = testing::MakeRevision(daemon);
  Json items = Json::array();
  for (int i = first; i < first + count; ++i) {
    items.push_back(WithManagedFields(ServedDeployment(daemon, revision, i)));
  }
  return DumpJson({{"apiVersion", "apps/v1"},
                   {"kind", "DeploymentList"},
                   {"metadata", {{"resourceVersion", "2000000"}}},
                   {"items", std::move(items)}});
}

std::size_t AllocatedBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace yad::bench
