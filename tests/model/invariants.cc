#include "tests/model/invariants.h"

#include <algorithm>
#include <set>
#include <vector>

#include "operator/api/well_known.h"
#include "operator/workload/render.h"
#include "operator/workload/service.h"
#include "operator/yurtappdaemon/plan/plan.h"
#include "tests/model/gates.h"
#include "tests/model/names.h"

namespace yad::model {
namespace {

// Returns the versions of an object from the cached version to the live version. nullptr: the object did not exist.
std::vector<const Content*> VersionsSince(const Table& table, std::uint64_t key_hash, std::size_t seen) {
  std::vector<const Content*> versions;
  for (std::size_t i = seen; i <= table.events.size(); ++i) {
    const Content* version = table.Find(key_hash, i);
    if (versions.empty() || versions.back() != version) versions.push_back(version);
  }
  return versions;
}

class WriteCheck {
 public:
  WriteCheck(const State& now, const Seen& seen, const Seen& begun, const ObjectKey& daemon, const Write& write)
      : now_(now),
        seen_(seen),
        write_(write),
        object_(write.before != nullptr ? *write.before : *write.after),
        daemons_(VersionsSince(now[kDaemon], KeyHash(kDaemon, daemon), begun[kDaemon])),
        daemon_(*now[kDaemon].Find(KeyHash(kDaemon, daemon), seen[kDaemon])),
        daemon_key_(daemon) {}

  std::string Fault() const {
    if (write_.kind != kDaemon && std::none_of(daemons_.begin(), daemons_.end(), [&](auto d) { return IsThere(d); }))
      return "the operator writes for a daemon that is gone or being deleted";
    switch (write_.kind) {
      case kDaemon:
        return OfDaemon();
      case kPool:
        return "the operator writes a pool";
      case kWorkload:
        return OfWorkload();
      case kRevision:
        return OfRevision();
      case kService:
        return OfService();
      case kFreeze:
        return "the operator writes the ConfigMap of the freeze";
    }
    return "";
  }

 private:
  bool made() const { return write_.before == nullptr; }
  bool deleted() const { return write_.after->gone; }

  std::string OfDaemon() const {
    if (made() || deleted()) return "the operator creates or deletes a daemon";
    if (object_.key != daemon_key_ || object_.uid != daemon_.uid) return "the operator writes another daemon";
    if (write_.before != &daemon_) return "the operator overwrites a status that it has not read";
    const bool same = write_.before->without_status == write_.after->without_status;
    return same ? "" : "the operator writes a field of a daemon other than status";
  }

  bool IsThere(const Content* daemon) const {
    return daemon != nullptr && daemon->uid == daemon_.uid && !daemon->deleting;
  }
  bool Selects(const Content* daemon, const Content* pool) const {
    return IsThere(daemon) && pool != nullptr && pool->selected;
  }
  std::vector<const Content*> VersionsOf(const std::string& pool) const {
    return VersionsSince(now_[kPool], KeyHash(kPool, {"", pool}), seen_[kPool]);
  }
  // Returns true if some version of the daemon since the reconcile began selects some version of the pool since the
  // cached version. The operator may have read these versions.
  bool MaySelect(const std::string& pool) const {
    const std::vector<const Content*> pools = VersionsOf(pool);
    return std::any_of(daemons_.begin(), daemons_.end(), [&](const Content* daemon) {
      return std::any_of(pools.begin(), pools.end(), [&](const Content* p) { return Selects(daemon, p); });
    });
  }
  bool SelectsNow(const std::string& pool) const { return Selects(daemons_.back(), VersionsOf(pool).back()); }

  // Returns true if the daemon has another live workload for this pool.
  bool HasAnother(const std::string& pool) const {
    for (const Cell& cell : now_[kWorkload].Live()) {
      const Content& other = cell.content();
      if (other.key_hash != object_.key_hash && other.owner == daemon_.uid && other.pool == pool && other.labelled &&
          !other.deleting) {
        return true;
      }
    }
    return false;
  }

  std::string OfWorkload() const {
    if (object_.foreign) return "the operator changes the workload of another owner";
    if (deleted()) {
      if (object_.owner != daemon_.uid) return "the operator deletes a workload that it does not own";
      if (HasAnother(object_.pool)) return "";
      return SelectsNow(object_.pool) ? "the operator deletes the workload of a selected pool" : "";
    }
    const Content& after = *write_.after;
    if (after.owner != daemon_.uid) return "the owner of the workload is wrong";
    if (!after.fault.empty()) return "the workload is wrong: " + after.fault;
    if (made()) {
      if (HasAnother(after.pool)) return "the operator creates a second workload for a pool";
      if (!MaySelect(after.pool)) return "the operator creates a workload for a pool that is not selected";
      return SpecRequests(after.label, /*paused_too=*/true) ? ""
                                                            : "a new workload has a revision that no spec requests";
    }
    if (!object_.owner.empty() && object_.owner != daemon_.uid)
      return "the operator writes a workload that it does not own";
    if (object_.owner.empty() && HasAnother(after.pool)) return "the operator adopts a second workload for a pool";
    if (object_.label == after.label) return "";
    if (!SpecRequests(after.label, /*paused_too=*/false))
      return "the operator updates a workload to a revision that no spec requests";
    return ClosedGate(after);
  }

  // Returns a violation if a gate was closed for this update in all versions that the operator may have read.
  std::string ClosedGate(const Content& after) const {
    if (!daemon_.gated) return "";
    const std::vector<const Content*> pools = VersionsOf(after.pool);
    if (std::all_of(pools.begin(), pools.end(), [](const Content* pool) { return pool != nullptr && pool->held; }))
      return "the operator updates a pool that its site holds";
    // Windows and the freeze do not delay a return to status.currentRevision.
    if (std::any_of(daemons_.begin(), daemons_.end(),
                    [&](const Content* daemon) { return IsThere(daemon) && daemon->current == after.label; })) {
      return "";
    }
    if (!InWindow(now_.clock)) return "the operator updates a pool outside its windows";
    const std::vector<const Content*> freezes =
        VersionsSince(now_[kFreeze], KeyHash(kFreeze, {kNamespace, kFreezeName}), seen_[kFreeze]);
    const bool frozen = std::all_of(freezes.begin(), freezes.end(), [&](const Content* freeze) {
      return freeze != nullptr && !(freeze->expires && now_.clock >= kFreezeEnds);
    });
    return frozen ? "the operator updates a pool during a freeze" : "";
  }

  // Returns the pool's live workload, or nullptr. Ignores workloads without the label, as informers do.
  const Content* WorkloadOf(const std::string& pool) const {
    for (const Cell& cell : now_[kWorkload].Live()) {
      const Content& workload = cell.content();
      if (workload.owner == daemon_.uid && workload.pool == pool && workload.labelled) return &workload;
    }
    return nullptr;
  }

  std::string OfService() const {
    if (!deleted()) {
      if (write_.after->owner != daemon_.uid) return "the owner of the Service is wrong";
      if (!write_.after->fault.empty()) return "the Service is wrong: " + write_.after->fault;
      if (!made() && !object_.owner.empty() && object_.owner != daemon_.uid)
        return "the operator writes a Service of another owner";
      return MaySelect(write_.after->pool) ? "" : "the operator writes a Service for a pool that is not selected";
    }
    if (object_.owner != daemon_.uid) return "the operator deletes a Service that it does not own";
    if (!SelectsNow(object_.pool)) return "";
    // If the pool has two workloads, each may have a Service.
    for (const Cell& cell : now_[kService].Live()) {
      const Content& other = cell.content();
      if (other.key_hash != object_.key_hash && other.owner == daemon_.uid && other.pool == object_.pool) return "";
    }
    const Content* workload = WorkloadOf(object_.pool);
    if (workload == nullptr || ServiceName(workload->key.name) != object_.key.name) return "";
    const Content* revision =
        now_[kRevision].Find(KeyHash(kRevision, {kNamespace, workload->label}), now_[kRevision].events.size());
    return revision != nullptr && revision->port != 0
               ? "the operator deletes a Service that the revision of the workload requires"
               : "";
  }

  // Returns true if some version of the daemon since the reconcile began permits this revision for the workload.
  // `paused_too`: the workload is new.
  //
  //                                              existing workload    new workload
  //   revision of the spec                       unless paused        always
  //   status.currentRevision                     never                if paused or gated
  bool SpecRequests(const std::string& label, bool paused_too) const {
    const Content* revision =
        now_[kRevision].Find(KeyHash(kRevision, {kNamespace, label}), now_[kRevision].events.size());
    return std::any_of(daemons_.begin(), daemons_.end(), [&](const Content* daemon) {
      if (!IsThere(daemon) || (daemon->paused && !paused_too)) return false;
      if (revision != nullptr && revision->digest == daemon->digest) return true;
      return (daemon->paused || (daemon->gated && paused_too)) && daemon->current == label;
    });
  }

  std::string OfRevision() const {
    if (!object_.owner.empty() && object_.owner != daemon_.uid)
      return "the operator writes a revision that it does not own";
    if (!deleted()) return write_.after->owner == daemon_.uid ? "" : "the owner of the revision is wrong";
    for (const Content* daemon : daemons_) {
      if (daemon == nullptr || daemon->uid != daemon_.uid) return "";
      if (daemon->current == object_.key.name || daemon->update == object_.key.name) continue;
      if (daemon->digest == object_.digest) continue;
      for (std::size_t i = seen_[kWorkload]; i <= now_[kWorkload].events.size(); ++i) {
        const Cells workloads = now_[kWorkload].At(i);
        if (std::none_of(workloads.begin(), workloads.end(), [&](const Cell& cell) {
              return cell.content().owner == daemon_.uid && cell.content().label == object_.key.name &&
                     cell.content().labelled;
            })) {
          return "";
        }
      }
    }
    return "the operator prunes a revision that is in use";
  }

  const State& now_;
  const Seen& seen_;
  const Write& write_;
  const Content& object_;
  const std::vector<const Content*> daemons_;  // the versions since the reconcile began
  const Content& daemon_;                      // the version in the caches
  const ObjectKey& daemon_key_;
};

// Checks one daemon at rest.
class RestCheck {
 public:
  RestCheck(const State& state, const Content& daemon)
      : daemon_(daemon),
        parsed_(*ParseYurtAppDaemon(daemon.Parse())),
        pools_(state[kPool].Live()),
        workloads_(state[kWorkload].Live()),
        revisions_(state[kRevision].Live()),
        services_(state[kService].Live()),
        frozen_(IsFrozen(state)),
        used_revisions_{StringAt(parsed_.status, {"updateRevision"}), StringAt(parsed_.status, {"currentRevision"})} {}

  std::string Fault() {
    for (const Cell& cell : pools_) {
      if (!cell.content().selected) continue;
      selected_.insert(cell.content().key.name);
      if (std::string fault = OfPool(cell.content()); !fault.empty()) return fault;
    }
    if (std::string fault = FaultOfLeftovers(); !fault.empty()) return fault;
    if (std::string fault = OfStatus(); !fault.empty()) return fault;
    return OfRevisions();
  }

 private:
  // Returns whether there is a freeze without an end.
  static bool IsFrozen(const State& state) {
    const Cells freezes = state[kFreeze].Live();
    return std::any_of(freezes.begin(), freezes.end(), [](const Cell& freeze) { return !freeze.content().expires; });
  }
  // Returns whether the pool may keep an old revision, because it is offline or because only a user opens its gate.
  bool MayStay(const Content& pool) const { return daemon_.gated && (pool.held || pool.offline || frozen_); }
  bool AnyMayStay() const {
    return std::any_of(pools_.begin(), pools_.end(),
                       [&](const Cell& pool) { return pool.content().selected && MayStay(pool.content()); });
  }

  const Content* RevisionNamed(const std::string& name) const {
    return FindByName(revisions_, KeyHash(kRevision, {kNamespace, name}));
  }
  const Content* ServiceOf(const std::string& workload) const {
    return FindByName(services_, KeyHash(kService, {kNamespace, ServiceName(workload)}));
  }

  std::string OfPool(const Content& pool) {
    const std::string& name = pool.key.name;
    const Content* found = nullptr;
    for (const Cell& w : workloads_) {
      if (w.content().owner != daemon_.uid || w.content().pool != name) continue;
      if (found != nullptr && w.content().labelled && found->labelled) return "two workloads for pool " + name;
      if (found == nullptr || !found->labelled) found = &w.content();
    }
    const ObjectKey stable{kNamespace, WorkloadName(daemon_.key.name, daemon_.uid, name, WorkloadKind::kDeployment)};
    const Content* of_that_name = FindByName(workloads_, KeyHash(kWorkload, stable));
    if (found == nullptr && of_that_name != nullptr && of_that_name->owner != daemon_.uid) {
      ++taken_;
      // The workload can't be created, but its Service may exist.
      const Content* service = ServiceOf(stable.name);
      wanted_services_ += service != nullptr && service->owner == daemon_.uid;
      return "";
    }
    if (found == nullptr) return "no workload for pool " + name;
    return OfWorkload(pool, *found);
  }

  std::string OfWorkload(const Content& pool, const Content& workload) {
    const std::string& name = pool.key.name;
    if (!workload.labelled || !workload.fault.empty()) return "the workload of pool " + name + " was not repaired";
    used_revisions_.insert(workload.label);
    const Content* revision = RevisionNamed(workload.label);
    if (revision == nullptr) return "the workload of pool " + name + " has no label with a revision";
    if (!daemon_.paused && !MayStay(pool) && revision->digest != daemon_.digest)
      return "pool " + name + " is on an old revision";
    const RevisionContent made_from = *ContentOf(revision->Parse());
    const auto rendered = Render(made_from, InputsFor(made_from, ParseNodePool(pool.Parse())), name, workload.label);
    if (!rendered || (*rendered)["spec"] != workload.Parse()["spec"]) {
      return "the workload of pool " + name + " differs from the rendering of its revision";
    }
    if (revision->port == 0) return "";
    const Content* service = ServiceOf(workload.key.name);
    if (service == nullptr) return "no Service for pool " + name;
    if (service->owner != daemon_.uid || service->pool != name || !service->fault.empty())
      return "the Service of pool " + name + " is wrong";
    if (service->port != revision->port) return "the Service of pool " + name + " has another port than its revision";
    ++wanted_services_;
    return "";
  }

  // Returns a violation if the daemon owns a Service or workload that no pool needs.
  std::string FaultOfLeftovers() const {
    const auto ours = std::count_if(services_.begin(), services_.end(),
                                    [&](const Cell& cell) { return cell.content().owner == daemon_.uid; });
    if (ours != wanted_services_) return "a Service exists that no pool needs";
    for (const Cell& cell : workloads_) {
      const Content& workload = cell.content();
      if (workload.owner == daemon_.uid && workload.labelled && !selected_.contains(workload.pool)) {
        return "a workload exists in the unselected pool " + workload.pool;
      }
    }
    return "";
  }

  std::string OfStatus() const {
    const Json& status = parsed_.status;
    const auto selected = static_cast<std::int64_t>(selected_.size());
    if (IntAt(status, {"observedGeneration"}) != parsed_.meta.generation) return "status.observedGeneration is wrong";
    if (IntAt(status, {"desiredPools"}, -1) != selected) return "status.desiredPools is wrong";
    if (AnyMayStay()) return "";
    if (IntAt(status, {"failedPools"}, -1) != taken_) return "status.failedPools is wrong";
    if (IntAt(status, {"readyPools"}, -1) != selected - taken_) return "status.readyPools is wrong";
    if (!daemon_.paused && IntAt(status, {"updatedPools"}, -1) != selected - taken_)
      return "status.updatedPools is wrong";
    return "";
  }

  std::string OfRevisions() const {
    const Content* update = RevisionNamed(daemon_.update);
    if (update == nullptr || update->digest != daemon_.digest || update->owner != daemon_.uid)
      return "status.updateRevision is wrong";
    if (!daemon_.paused && !AnyMayStay() && daemon_.current != daemon_.update) return "status.currentRevision is wrong";
    std::int64_t highest_other = 0;
    int old = 0;
    for (const Cell& cell : revisions_) {
      const Content& revision = cell.content();
      if (revision.owner != daemon_.uid) continue;
      old += !used_revisions_.contains(revision.key.name);
      if (&revision != update) highest_other = std::max(highest_other, IntAt(revision.Parse(), {"revision"}));
    }
    if (old > kHistoryLimit) return "too many old revisions";
    if (IntAt(update->Parse(), {"revision"}) <= highest_other) return "the update revision's number is not the highest";
    return "";
  }

  const Content& daemon_;
  const YurtAppDaemon parsed_;
  const Cells pools_, workloads_, revisions_, services_;
  const bool frozen_;                     // there is a freeze without an end
  std::set<std::string> used_revisions_;  // by status or by workloads
  std::set<std::string> selected_;        // names of pools
  std::int64_t taken_ = 0;                // pools for which a foreign workload has the name of their workload
  std::ptrdiff_t wanted_services_ = 0;
};

}  // namespace

std::string FaultOfWrite(const State& now, const Seen& seen, const Seen& begun, const ObjectKey& daemon,
                         const Write& write) {
  if (now[kDaemon].Find(KeyHash(kDaemon, daemon), seen[kDaemon]) == nullptr)
    return "the operator writes for a daemon that is not in its cache";
  return WriteCheck(now, seen, begun, daemon, write).Fault();
}

std::string FaultAtRest(const State& state) {
  for (const Cell& cell : state[kDaemon].Live()) {
    if (std::string fault = RestCheck(state, cell.content()).Fault(); !fault.empty()) {
      return cell.content().key.name + " at rest: " + fault;
    }
  }
  return "";
}

}  // namespace yad::model
