#include "plugin/dashboard/watched_daemon.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/well_known.h"
#include "plugin/commands/changes.h"
#include "plugin/commands/cluster_snapshot.h"

namespace yad {
namespace {

ReflectorOptions WatchingWorkloads(WorkloadKind kind, const std::string& ns) {
  return {.type = TypeOf(kind),
          .ns = ns,
          .label_selector = kPoolNameLabel,
          .project = ProjectorOf(kind),
          .projected = kProjectedOfWorkloads};
}

ReflectorOptions WatchingRevisions(const std::string& ns) {
  return {.type = kControllerRevisionType, .ns = ns, .label_selector = std::string(kOurRevisionLabel) + "=true"};
}

ReflectorOptions WatchingEvents(const ObjectKey& daemon, const std::string& uid) {
  return {.type = kCoreEventType, .ns = daemon.ns, .field_selector = "involvedObject.uid=" + uid};
}

std::vector<Json> ObjectsOf(const Store& store) {
  std::vector<Json> objects;
  const auto stored = store.List();
  if (!stored) return objects;
  for (const ObjectPtr& object : *stored) objects.push_back(object->Parse());
  return objects;
}

}  // namespace

struct WatchedDaemon::Sources {
  Sources(Client& client, const ObjectKey& key, const std::string& uid, WorkloadKind kind,
          const std::function<void()>& notify)
      : workloads(client, WatchingWorkloads(kind, key.ns), notify),
        revisions(client, WatchingRevisions(key.ns), notify),
        events(client, WatchingEvents(key, uid), notify) {}

  bool answered() const { return workloads.answered() && revisions.answered() && events.answered(); }

  RunningReflector workloads;
  RunningReflector revisions;
  RunningReflector events;
};

void WatchedDaemon::Reset() {
  uid_.clear();
  sources_.reset();
  memo_ = {};
  moment_.reset();
  changes_.clear();
  state_ = nullptr;
}

ShownDaemonPtr WatchedDaemon::Update(const ObjectPtr& object, const SharedObjects& shared) {
  if (object == nullptr) {
    auto gone = std::make_shared<ShownDaemon>();
    gone->gone = true;
    Reset();
    return gone;
  }
  const Json daemon = object->Parse();
  if (uid_ != object->meta().uid) {
    Reset();
    uid_ = object->meta().uid;
    sources_ = std::make_shared<Sources>(client_, key_, uid_, KindOf(daemon), notify_);
  }
  if (!sources_->answered()) return state_;
  DaemonInput input;
  input.now = shared.now;
  const std::vector<RevisionEntry> revisions = RevisionsAmong(ObjectsOf(sources_->revisions.store()), uid_);
  const auto planned = MakePlanned(daemon, shared, revisions, input.warnings);
  input.planned = planned.get();
  input.object = daemon;
  if (const auto target = UndoTarget(daemon, revisions, 0)) input.undo_to = target->revision->number;
  const std::vector<PoolFacts> pools = DisplayedPools(daemon, planned.get());
  input.timeline = AdvanceTimeline(daemon, pools, shared.now);
  state_ = MakeShownDaemon(input, pools, state_.get());
  return state_;
}

std::unique_ptr<const PlannedSnapshot> WatchedDaemon::MakePlanned(const Json& daemon, const SharedObjects& shared,
                                                                  const std::vector<RevisionEntry>& revisions,
                                                                  std::vector<std::string>& warnings) {
  if (!shared.pools) warnings.push_back("NodePools can't be read: " + shared.pools.error().message);
  if (!sources_->workloads.synced()) warnings.push_back("workloads can't be read: " + sources_->workloads.error());
  if (!sources_->revisions.synced()) warnings.push_back("revisions can't be read: " + sources_->revisions.error());
  if (!warnings.empty()) return nullptr;
  SnapshotParts parts;
  parts.pools = *shared.pools;
  parts.workloads = sources_->workloads.store().List().value_or(std::vector<ObjectPtr>());
  parts.revisions = revisions;
  auto snapshot = ComposeSnapshot(daemon, parts, shared.now);
  if (!snapshot) {
    warnings.push_back("the spec is invalid: " + snapshot.error().message);
    return nullptr;
  }
  snapshot->freeze = shared.freeze.value_or(std::nullopt);
  return PlanForDisplay(*std::move(snapshot), memo_);
}

std::vector<TimelineEntry> WatchedDaemon::AdvanceTimeline(const Json& daemon, const std::vector<PoolFacts>& pools,
                                                          WallTime now) {
  DaemonMoment moment = MomentOf(daemon, pools);
  std::vector<TimelineEntry> news = moment_ ? ChangesBetween(*moment_, moment, now) : FirstTimeline(moment);
  moment_ = std::move(moment);
  changes_ = JoinTimelines(std::move(news), changes_);
  return JoinTimelines(changes_, TimelineOfEvents(ObjectsOf(sources_->events.store())));
}

}  // namespace yad
