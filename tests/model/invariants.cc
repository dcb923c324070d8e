#include "tests/model/invariants.h"

#include <algorithm>
#include <set>
#include <vector>

#include "operator/api/well_known.h"
#include "operator/workload/render.h"
#include "operator/workload/service.h"
#include "operator/yurtappdaemon/plan.h"
#include "tests/model/names.h"

namespace yad::model {
namespace {

// The versions of an object from the cached one to the live one; nullptr where there was none.
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
      return "it writes for a daemon that is gone, or about to go";
    switch (write_.kind) {
      case kDaemon:
        return OfDaemon();
      case kPool:
        return "it writes pools";
      case kWorkload:
        return OfWorkload();
      case kRevision:
        return OfRevision();
      case kService:
        return OfService();
    }
    return "";
  }

 private:
  bool made() const { return write_.before == nullptr; }
  bool deleted() const { return write_.after->gone; }

  std::string OfDaemon() const {
    if (made() || deleted()) return "it makes or deletes daemons";
    if (object_.key != daemon_key_ || object_.uid != daemon_.uid) return "it writes another daemon";
    if (write_.before != &daemon_) return "it writes status over one that it has not seen";
    const bool same = write_.before->without_status == write_.after->without_status;
    return same ? "" : "it writes more of a daemon than status";
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
  // Whether there is a version of the daemon since the reconcile began, and one of the pool, as new as the cached one
  // or newer, that selects.
  bool MaySelect(const std::string& pool) const {
    const std::vector<const Content*> pools = VersionsOf(pool);
    return std::any_of(daemons_.begin(), daemons_.end(), [&](const Content* daemon) {
      return std::any_of(pools.begin(), pools.end(), [&](const Content* p) { return Selects(daemon, p); });
    });
  }
  bool SelectsNow(const std::string& pool) const { return Selects(daemons_.back(), VersionsOf(pool).back()); }

  // A live workload of this daemon for this pool, beside the one that is written.
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
    if (object_.foreign) return "it touches somebody else's workload";
    if (deleted()) {
      if (object_.owner != daemon_.uid) return "it deletes a workload that it does not own";
      if (HasAnother(object_.pool)) return "";
      return SelectsNow(object_.pool) ? "it deletes a workload that is wanted" : "";
    }
    const Content& after = *write_.after;
    if (after.owner != daemon_.uid) return "the owner of the workload is wrong";
    if (!after.fault.empty()) return "the workload is wrong: " + after.fault;
    if (made()) {
      if (HasAnother(after.pool)) return "it makes a second workload for a pool";
      if (!MaySelect(after.pool)) return "it makes a workload for a pool that is not selected";
      return AsksFor(after.label, /*paused_too=*/true) ? "" : "a new workload is on a revision that nobody asks for";
    }
    if (!object_.owner.empty() && object_.owner != daemon_.uid) return "it writes a workload that it does not own";
    if (object_.owner.empty() && HasAnother(after.pool)) return "it adopts a second workload for a pool";
    if (object_.label == after.label) return "";
    return AsksFor(after.label, /*paused_too=*/false) ? "" : "it moves a workload to a revision that nobody asks for";
  }

  // A selected pool's workload, as the server has it; nullptr: there is none that an informer shows.
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
      if (!made() && !object_.owner.empty() && object_.owner != daemon_.uid) return "it writes a Service of another";
      return MaySelect(write_.after->pool) ? "" : "it writes a Service for a pool that is not selected";
    }
    if (object_.owner != daemon_.uid) return "it deletes a Service that it does not own";
    if (!SelectsNow(object_.pool)) return "";
    // Of two workloads each may have got one.
    for (const Cell& cell : now_[kService].Live()) {
      const Content& other = cell.content();
      if (other.key_hash != object_.key_hash && other.owner == daemon_.uid && other.pool == object_.pool) return "";
    }
    const Content* workload = WorkloadOf(object_.pool);
    if (workload == nullptr || ServiceName(workload->key.name) != object_.key.name) return "";
    const Content* revision =
        now_[kRevision].Find(KeyHash(kRevision, {kNamespace, workload->label}), now_[kRevision].events.size());
    return revision != nullptr && revision->port != 0 ? "it deletes the Service of a workload that is to have one" : "";
  }

  // Whether some version of the daemon, as the server had it when the reconcile began or newer, wants workloads to be
  // on this revision. A paused one does only where there is no workload yet; then the revision that was rolled out last
  // will do as well.
  bool AsksFor(const std::string& label, bool paused_too) const {
    const Content* revision =
        now_[kRevision].Find(KeyHash(kRevision, {kNamespace, label}), now_[kRevision].events.size());
    return std::any_of(daemons_.begin(), daemons_.end(), [&](const Content* daemon) {
      if (!IsThere(daemon) || (daemon->paused && !paused_too)) return false;
      if (revision != nullptr && revision->digest == daemon->digest) return true;
      return daemon->paused && daemon->current == label;
    });
  }

  std::string OfRevision() const {
    if (!object_.owner.empty() && object_.owner != daemon_.uid) return "it writes a revision that it does not own";
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
    return "it prunes a revision that is live";
  }

  const State& now_;
  const Seen& seen_;
  const Write& write_;
  const Content& object_;
  const std::vector<const Content*> daemons_;  // since the reconcile began
  const Content& daemon_;                      // as the caches show it
  const ObjectKey& daemon_key_;
};

std::string FaultOfDaemonAtRest(const State& state, const Content& daemon) {
  const Json object = daemon.Parse();
  const YurtAppDaemon parsed = *ParseYurtAppDaemon(object);
  const RevisionContent content = ContentOf(parsed);
  const Json& status = parsed.status;
  const Cells workloads = state[kWorkload].Live();
  const Cells revisions = state[kRevision].Live();
  const Cells services = state[kService].Live();
  std::ptrdiff_t wanted_services = 0;

  const auto revision_named = [&](const std::string& name) -> const Content* {
    return FindByName(revisions, KeyHash(kRevision, {kNamespace, name}));
  };
  std::int64_t selected = 0, taken = 0;
  std::set<std::string> live{StringAt(status, {"updateRevision"}), StringAt(status, {"currentRevision"})};
  std::set<std::string> selected_names;
  for (const Cell& cell : state[kPool].Live()) {
    const std::string& name = cell.content().key.name;
    if (!cell.content().selected) continue;
    ++selected;
    selected_names.insert(name);
    const Content* found = nullptr;
    for (const Cell& w : workloads) {
      if (w.content().owner != daemon.uid || w.content().pool != name) continue;
      if (found != nullptr && w.content().labelled && found->labelled) return "two workloads for pool " + name;
      if (found == nullptr || !found->labelled) found = &w.content();
    }
    const ObjectKey stable{kNamespace, WorkloadName(daemon.key.name, daemon.uid, name, WorkloadKind::kDeployment)};
    const Content* of_that_name = FindByName(workloads, KeyHash(kWorkload, stable));
    if (found == nullptr && of_that_name != nullptr && of_that_name->owner != daemon.uid) {
      ++taken;
      // It waits for its workload.
      const Content* service = FindByName(services, KeyHash(kService, {kNamespace, ServiceName(stable.name)}));
      wanted_services += service != nullptr && service->owner == daemon.uid;
      continue;
    }
    if (found == nullptr) return "no workload for pool " + name;
    if (!found->labelled || !found->fault.empty()) return "the workload of pool " + name + " was not repaired";
    live.insert(found->label);
    const NodePool pool = ParseNodePool(cell.content().Parse());
    const Content* revision = revision_named(found->label);
    if (revision == nullptr) return "the workload of pool " + name + " names no revision";
    if (!daemon.paused && revision->digest != daemon.digest) return "pool " + name + " is on an old revision";
    const RevisionContent made_from = *ContentOf(revision->Parse());
    const auto rendered = Render(made_from, InputsFor(made_from, pool), name, found->label);
    if (!rendered || (*rendered)["spec"] != found->Parse()["spec"]) {
      return "the workload of pool " + name + " is not what its revision renders";
    }
    const Content* service = FindByName(services, KeyHash(kService, {kNamespace, ServiceName(found->key.name)}));
    if (revision->port != 0) {
      if (service == nullptr) return "no Service for pool " + name;
      if (service->owner != daemon.uid || service->pool != name || !service->fault.empty())
        return "the Service of pool " + name + " is wrong";
      if (service->port != revision->port) return "the Service of pool " + name + " is not what its revision asks for";
      ++wanted_services;
    }
  }
  const auto ours = std::count_if(services.begin(), services.end(),
                                  [&](const Cell& cell) { return cell.content().owner == daemon.uid; });
  if (ours != wanted_services) return "a Service is left that nobody asks for";
  for (const Cell& cell : workloads) {
    const Content& workload = cell.content();
    if (workload.owner == daemon.uid && workload.labelled && !selected_names.contains(workload.pool)) {
      return "a workload is left in pool " + workload.pool;
    }
  }

  if (IntAt(status, {"observedGeneration"}) != parsed.meta.generation) return "observedGeneration";
  if (IntAt(status, {"desiredPools"}, -1) != selected) return "desiredPools";
  if (IntAt(status, {"failedPools"}, -1) != taken) return "failedPools";
  if (IntAt(status, {"readyPools"}, -1) != selected - taken) return "readyPools";
  if (!daemon.paused && IntAt(status, {"updatedPools"}, -1) != selected - taken) return "updatedPools";
  const Content* update = revision_named(daemon.update);
  if (update == nullptr || update->digest != daemon.digest || update->owner != daemon.uid) return "updateRevision";
  if (!daemon.paused && daemon.current != daemon.update) return "currentRevision";
  std::int64_t highest_other = 0;
  int old = 0;
  for (const Cell& cell : revisions) {
    if (cell.content().owner != daemon.uid) continue;
    old += !live.contains(cell.content().key.name);
    if (&cell.content() != update) highest_other = std::max(highest_other, IntAt(cell.content().Parse(), {"revision"}));
  }
  if (old > kHistoryLimit) return "too many old revisions";
  if (IntAt(update->Parse(), {"revision"}) <= highest_other) return "the update revision's number is not the highest";
  return "";
}

}  // namespace

std::string FaultOfWrite(const State& now, const Seen& seen, const Seen& begun, const ObjectKey& daemon,
                         const Write& write) {
  if (now[kDaemon].Find(KeyHash(kDaemon, daemon), seen[kDaemon]) == nullptr)
    return "it writes for a daemon that it does not see";
  return WriteCheck(now, seen, begun, daemon, write).Fault();
}

std::string FaultAtRest(const State& state) {
  for (const Cell& cell : state[kDaemon].Live()) {
    if (std::string fault = FaultOfDaemonAtRest(state, cell.content()); !fault.empty()) {
      return cell.content().key.name + " at rest: " + fault;
    }
  }
  return "";
}

}  // namespace yad::model
