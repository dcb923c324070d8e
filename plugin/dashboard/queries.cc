#include "plugin/dashboard/queries.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "operator/api/nodepool.h"
#include "operator/api/well_known.h"
#include "operator/client/access_review.h"
#include "operator/json/json_document.h"
#include "operator/runtime/paged_list.h"
#include "operator/yurtappdaemon/observe/freeze.h"
#include "operator/yurtappdaemon/observe/ownership.h"
#include "operator/yurtappdaemon/observe/pod_facts.h"
#include "operator/yurtappdaemon/observe/pods.h"
#include "plugin/commands/daemon.h"
#include "plugin/commands/explanation.h"
#include "plugin/commands/revisions.h"
#include "plugin/dashboard/daemon_timeline.h"
#include "plugin/dashboard/fleet_model.h"
#include "plugin/manifest/yaml.h"
#include "plugin/view/console.h"
#include "plugin/view/unified_diff.h"

namespace yad {
namespace {

constexpr std::size_t kMaxPods = 50;
constexpr std::size_t kMaxEvents = 50;
constexpr std::size_t kPodsWithEvents = 5;  // each pod needs a request

// Returns the reason and the message of the first container that is waiting or terminated. If there is none, returns
// the reason and the message of the pod.
std::pair<std::string, std::string> ProblemOfPod(const Json& pod) {
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const Json& container : ListAt(pod, {"status", list})) {
      for (const char* state : {"waiting", "terminated"}) {
        const Json* found = Find(container, {"state", state});
        if (found == nullptr || StringAt(*found, {"reason"}) == "Completed") continue;
        return {StringAt(*found, {"reason"}), StringAt(*found, {"message"})};
      }
    }
  }
  return {StringAt(pod, {"status", "reason"}), StringAt(pod, {"status", "message"})};
}

Json PodJson(const Json& pod) {
  const bool ready = IsPodReady(pod);
  std::int64_t restarts = 0;
  for (const Json& container : ListAt(pod, {"status", "containerStatuses"}))
    restarts += IntAt(container, {"restartCount"});
  const auto [reason, message] = ready ? std::pair<std::string, std::string>() : ProblemOfPod(pod);
  return {{"name", StringAt(pod, {"metadata", "name"})},
          {"node", StringAt(pod, {"spec", "nodeName"})},
          {"phase", StringAt(pod, {"status", "phase"})},
          {"ready", ready},
          {"restarts", restarts},
          {"reason", reason},
          {"message", message},
          {"age", TimeOrNull(StringAt(pod, {"metadata", "creationTimestamp"}))}};
}

class DetailsReader {
 public:
  DetailsReader(Client& client, const ObjectKey& daemon, const Json& pool)
      : client_(client), daemon_(daemon), pool_(StringAt(pool, {"name"})), workload_(StringAt(pool, {"workload"})) {
    details_ = {{"pool", pool},     {"explain", Json::array()}, {"workload", nullptr},    {"pods", Json::array()},
                {"podsOmitted", 0}, {"events", Json::array()},  {"errors", Json::array()}};
  }

  Result<Json> Read() {
    YAD_TRY_VOID(ReadExplanation());
    ReadWorkload();
    AddPermissions();
    ReadPods();
    ReadEvents();
    return std::move(details_);
  }

 private:
  void AddWarning(const std::string& what, const Error& error) {
    details_["errors"].push_back("can't " + what + ": " + error.message);
  }

  // Adds the explanation, and the reason of the pool's hold, or null if the pool has no hold that `kubectl yad release`
  // can end. Fails if the apiserver does not respond, because each of the other requests would then also wait for its
  // timeout.
  Status ReadExplanation() {
    const auto read = ExplainPool(client_, daemon_.ns, pool_, Clock::Real().WallNow());
    if (!read && read.error().reason == Reason::kTransport) return Fail(read.error());
    if (!read && read.error().reason == Reason::kNotFound) details_["hold"] = nullptr;
    if (!read) {
      AddWarning("explain the pool", read.error());
      return {};
    }
    details_["explain"] = DescribePool(*read);
    for (const Unread& unread : read->unread)
      details_["errors"].push_back("Warning: " + Printable(unread.what + " can't be read: " + unread.why));
    if (!read->pool) return {};
    const auto hold = ParseNodePool(*read->pool).hold;
    details_["hold"] = hold ? Json{{"reason", *hold}} : Json();
    return {};
  }

  void ReadWorkload() {
    if (workload_.empty()) return;
    for (const ResourceType* type : {&kDeploymentType, &kStatefulSetType}) {
      auto object = client_.Get(*type, {daemon_.ns, workload_});
      if (!object && object.error().reason == Reason::kNotFound) continue;
      if (!object) return AddWarning("read the workload", object.error());
      workload_meta_ = ParseMeta(*object);
      if (const auto selector = SelectorOf(*object)) {
        selector_ = *selector;
      } else {
        AddWarning("read the selector of the workload", selector.error());
      }
      (*object)["metadata"].erase("managedFields");
      details_["workload"] = {{"yaml", ToYaml(*object)}};
      workload_type_ = type;
      return;
    }
  }

  void AddPermissions() {
    auto permissions = ReadPermissions();
    if (!permissions) return AddWarning("read the permissions of the user", permissions.error());
    details_["permissions"] = *std::move(permissions);
  }

  // Returns a boolean for each action on the pool: `hold`, which is also the permission to release the pool, and
  // `restart`, which is false if the workload was not read.
  Result<Json> ReadPermissions() {
    YAD_TRY(const auto hold, IsAllowed(client_, "patch", kNodePoolType, {"", pool_}));
    bool restart = false;
    if (workload_type_ != nullptr) {
      YAD_TRY(const auto list, IsAllowed(client_, "list", *workload_type_, {daemon_.ns, ""}));
      YAD_TRY(const auto patch, IsAllowed(client_, "patch", *workload_type_, {daemon_.ns, workload_}));
      restart = list && patch;
    }
    return Json{{"hold", hold}, {"restart", restart}};
  }

  void ReadPods() {
    if (selector_.empty()) return;
    const ListOptions options{.ns = daemon_.ns, .label_selector = selector_, .limit = kPageLimit};
    std::size_t omitted = 0;
    const auto listed = ForEachListed(client_, kPodType, options, {}, [&](const JsonDocument& document) {
      // Pods of other workloads may have the same labels.
      if (!ControlsPod(workload_meta_, ParseMeta(document))) return true;
      if (details_["pods"].size() == kMaxPods) {
        ++omitted;
        return true;
      }
      const Json pod = document.TreeOfObject({});
      details_["pods"].push_back(PodJson(pod));
      pods_.emplace_back(ParseMeta(pod).uid, details_["pods"].back()["ready"].get<bool>());
      return true;
    });
    details_["podsOmitted"] = omitted;
    if (!listed) AddWarning("list pods", listed.error());
  }

  // Reads the Events of the workload and of at most kPodsWithEvents pods. Prefers pods that are not ready.
  void ReadEvents() {
    std::vector<std::string> uids;
    if (!workload_meta_.uid.empty()) uids.push_back(workload_meta_.uid);
    std::stable_sort(pods_.begin(), pods_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    for (std::size_t i = 0; i < std::min(pods_.size(), kPodsWithEvents); ++i) uids.push_back(pods_[i].first);
    std::vector<Json> events;
    for (const std::string& uid : uids) {
      const ListOptions options{.ns = daemon_.ns, .field_selector = "involvedObject.uid=" + uid, .limit = kPageLimit};
      auto page = client_.List(kCoreEventType, options);
      if (!page) {
        AddWarning("list events", page.error());
        break;
      }
      std::move(page->items.begin(), page->items.end(), std::back_inserter(events));
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const Json& a, const Json& b) { return TimeOfEvent(a) > TimeOfEvent(b); });
    if (events.size() > kMaxEvents) events.resize(kMaxEvents);
    for (const Json& event : events) {
      details_["events"].push_back({{"at", TimeOrNull(TimeOfEvent(event))},
                                    {"type", StringAt(event, {"type"})},
                                    {"reason", StringAt(event, {"reason"})},
                                    {"message", StringAt(event, {"message"})},
                                    {"object", StringAt(event, {"involvedObject", "kind"}) + "/" +
                                                   StringAt(event, {"involvedObject", "name"})}});
    }
  }

  Client& client_;
  const ObjectKey& daemon_;
  const std::string pool_, workload_;
  const ResourceType* workload_type_ = nullptr;  // nullptr: the workload was not read
  ObjectMeta workload_meta_;
  std::string selector_;                            // of the workload's pods, in kubectl's text form
  std::vector<std::pair<std::string, bool>> pods_;  // uid, and whether it is ready
  Json details_;
};

// Counts the workloads by the value of their revision label.
Result<std::map<std::string, std::int64_t>> CountWorkloads(Client& client, const Json& daemon) {
  const ObjectMeta meta = ParseMeta(daemon);
  std::map<std::string, std::int64_t> counts;
  YAD_TRY_VOID(
      ForEachMeta(client, TypeOf(KindOf(daemon)), meta.key.ns, kPoolNameLabel, [&](const ObjectMeta& workload) {
        if (ControlledBy(workload, meta.uid)) ++counts[workload.Label(kRevisionLabel)];
      }));
  return counts;
}

}  // namespace

Result<Json> PoolDetails(Client& client, const ObjectKey& daemon, const Json& pool) {
  return DetailsReader(client, daemon, pool).Read();
}

Result<Json> ReadPermissions(Client& client, const ObjectKey& daemon, const std::string& operator_ns) {
  bool update = false, history = false, freeze = false, unfreeze = false;
  if (!daemon.name.empty()) {
    YAD_TRY(update, IsAllowed(client, "update", kYurtAppDaemonType, daemon));
    YAD_TRY(history, IsAllowed(client, "list", kControllerRevisionType, {daemon.ns, ""}));
  }
  if (!operator_ns.empty()) {
    YAD_TRY(const auto read, IsAllowed(client, "get", kConfigMapType, {operator_ns, kFreezeName}));
    YAD_TRY(const auto create, IsAllowed(client, "create", kConfigMapType, {operator_ns, ""}));
    YAD_TRY(unfreeze, IsAllowed(client, "delete", kConfigMapType, {operator_ns, kFreezeName}));
    freeze = read && create;
  }
  return Json{{"approve", update}, {"pause", update},  {"undo", update && history},
              {"restart", update}, {"freeze", freeze}, {"unfreeze", unfreeze}};
}

Result<Json> ListRevisions(Client& client, const ObjectKey& key) {
  YAD_TRY(const auto daemon, client.Get(kYurtAppDaemonType, key));
  YAD_TRY(const auto revisions, ReadRevisions(client, daemon));
  // Counts the pools of each revision. If the workloads can't be listed, for instance because the user may not list
  // them, `counts` is an error and "pools" is null.
  const auto counts = CountWorkloads(client, daemon);
  Json list = Json::array();
  for (auto it = revisions.rbegin(); it != revisions.rend(); ++it) {
    const Revision& revision = *it->revision;
    Json pools;
    if (counts) {
      std::int64_t number = 0;
      for (const auto& [label, count] : *counts) {
        if (label == revision.label || label == revision.name) number += count;
      }
      pools = number;
    }
    list.push_back({{"name", revision.name},
                    {"revision", revision.number},
                    {"created", TimeOrNull(StringAt(it->object, {"metadata", "creationTimestamp"}))},
                    {"cause", StringAt(it->object, {"metadata", "annotations", kChangeCauseAnnotation})},
                    {"current", revision.name == StringAt(daemon, {"status", "currentRevision"})},
                    {"update", revision.name == StringAt(daemon, {"status", "updateRevision"})},
                    {"failed", TimeOrNull(revision.failed_at)},
                    {"failure", revision.failure},
                    {"pools", std::move(pools)}});
  }
  return Json{{"revisions", std::move(list)}};
}

Result<Json> RevisionDiff(Client& client, const ObjectKey& key, const std::string& from, const std::string& to) {
  YAD_TRY(const auto daemon, client.Get(kYurtAppDaemonType, key));
  YAD_TRY(const auto revisions, ReadRevisions(client, daemon));
  const auto text_of = [&](const std::string& name) -> Result<std::string> {
    for (const RevisionEntry& entry : revisions) {
      if (entry.revision->name == name) return ToYaml(SpecOf(*entry.revision));
    }
    return Fail(Reason::kNotFound, "the YurtAppDaemon has no revision \"" + name + "\"");
  };
  YAD_TRY(const auto before, text_of(from));
  YAD_TRY(const auto after, text_of(to));
  std::string diff = UnifiedDiff(before, after);
  if (!diff.empty()) diff = "--- " + from + "\n+++ " + to + "\n" + diff;
  return Json{{"diff", std::move(diff)}};
}

}  // namespace yad
