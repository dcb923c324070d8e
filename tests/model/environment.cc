#include "tests/model/environment.h"

#include <algorithm>

#include "operator/api/well_known.h"
#include "operator/workload/render.h"
#include "tests/model/gates.h"
#include "tests/model/names.h"
#include "tests/unit/yurtappdaemon/builders.h"

namespace yad::model {
namespace {

ObjectKey PoolKey(int pool) { return {"", kPoolNames[pool]}; }
ObjectKey FreezeKey() { return {kNamespace, kFreezeName}; }

const Content* LiveObject(const State& state, Kind kind, const ObjectKey& key) {
  const Table& table = state[kind];
  return table.Find(KeyHash(kind, key), table.events.size());
}
const Content* LiveDaemon(const State& state, int daemon) {
  return LiveObject(state, kDaemon, Environment::DaemonKey(daemon));
}

const Content& Gone(const Content& content) { return Contents::Get().Intern(content.kind, content.key, nullptr); }

// Sets an image, and a variable that no other revision has. So the test detects a variable that an update does not
// remove.
void SetTemplate(Json& workload_template, int revision) {
  Json& container = workload_template["spec"]["template"]["spec"]["containers"][0];
  container["image"] = "app:" + std::to_string(revision);
  container["env"] = {{{"name", "ONLY_" + std::to_string(revision)}, {"value", "x"}}};
}

void SetService(Json& spec, int revision) {
  if (revision == 3) {
    spec.erase("serviceTemplate");
  } else {
    spec["serviceTemplate"] = {{"spec", {{"ports", {{{"port", revision}}}}}}};
  }
}

// Returns a strategy whose first group is pool p1 alone.
Json GatedStrategy() {
  const Json group = {{"name", "first"}, {"pools", {kPoolNames[0]}}};
  return {{"type", "RollingUpdate"},
          {"rollingUpdate",
           {{"groups", Json::array({group})},
            {"maxFailures", 1},
            {"progressDeadlineSeconds", kProgressDeadline},
            {"windows", Windows()}}}};
}

Json NewDaemon(int daemon, const std::string& uid, const Bounds& bounds) {
  const std::string name = kDaemonNames[daemon];
  Json object = testing::DaemonJson();
  object["metadata"] = {{"name", name}, {"namespace", kNamespace}, {"generation", 1}, {"uid", uid}};
  object["spec"]["nodepoolSelector"] = {{"matchLabels", {{kSelectedLabel, "yes"}}}};
  object["spec"]["revisionHistoryLimit"] = kHistoryLimit;
  object["spec"]["selector"] = {{"matchLabels", {{"app", name}}}};
  Json& workload = object["spec"]["workloadTemplate"]["deploymentTemplate"];
  workload["metadata"]["labels"]["app"] = name;
  workload["spec"]["selector"] = object["spec"]["selector"];
  workload["spec"]["template"]["metadata"]["labels"]["app"] = name;
  SetTemplate(workload, 1);
  if (bounds.services) SetService(object["spec"], 1);
  if (bounds.gates) object["spec"]["updateStrategy"] = GatedStrategy();
  return object;
}

Json NewPool(int pool) {
  Json object = testing::PoolJson(kPoolNames[pool]);
  object["metadata"]["labels"] = {{kSelectedLabel, "yes"}};
  return object;
}

// Returns the workload with the operator's name for this pool, or nullptr.
const Content* StableWorkload(const State& state, const Content& daemon, int pool) {
  const std::string name = WorkloadName(daemon.key.name, daemon.uid, kPoolNames[pool], WorkloadKind::kDeployment);
  return LiveObject(state, kWorkload, {kNamespace, name});
}

ObjectKey SecondKey(const Content& daemon, int pool) {
  return {kNamespace, daemon.key.name + "-" + kPoolNames[pool] + "-x7k2p"};
}

bool Remove(State& state, const Content& content) {
  state[content.kind].Change(Gone(content));
  return true;
}

bool CreateForeign(State& state, const Move& move) {
  const Content* daemon = LiveDaemon(state, move.a);
  if (daemon == nullptr || StableWorkload(state, *daemon, move.b) != nullptr) return false;
  const Json daemon_json = daemon->Parse();
  Json object = testing::WorkloadJson(daemon_json, testing::MakeRevision(daemon_json), NewPool(move.b));
  object["metadata"]["annotations"][kForeignAnnotation] = "yes";
  object["metadata"]["ownerReferences"][0]["uid"] = "uid-of-another-owner";
  const ObjectKey key{kNamespace, StringAt(object, {"metadata", "name"})};
  state[kWorkload].Change(Contents::Get().Intern(kWorkload, key, std::move(object)));
  return true;
}

bool CreateSecond(State& state, const Move& move) {
  const Content* daemon = LiveDaemon(state, move.a);
  const Content* first = daemon == nullptr ? nullptr : StableWorkload(state, *daemon, move.b);
  if (first == nullptr || first->owner != daemon->uid || !first->labelled) return false;
  const ObjectKey key = SecondKey(*daemon, move.b);
  if (LiveObject(state, kWorkload, key) != nullptr) return false;
  Json object = first->Parse();
  object["metadata"]["name"] = key.name;
  object["metadata"]["generation"] = 1;
  object["status"] = testing::HealthyStatus(object);
  state[kWorkload].Change(Contents::Get().Intern(kWorkload, key, std::move(object)));
  return true;
}

}  // namespace

ObjectKey Environment::DaemonKey(int daemon) { return {kNamespace, kDaemonNames[daemon]}; }

State Environment::Start() const {
  State state;
  for (int d = 0; d < bounds_.daemons; ++d) {
    const ObjectKey key = DaemonKey(d);
    state[kDaemon].Change(Contents::Get().Intern(kDaemon, key, NewDaemon(d, "uid-" + key.name + "-1", bounds_)));
  }
  for (int p = 0; p < bounds_.pools; ++p) {
    state[kPool].Change(Contents::Get().Intern(kPool, PoolKey(p), NewPool(p)));
  }
  state.Canonicalize(0);
  return state;
}

// Returns the first unused uid: no object at the server or in a cache refers to it.
std::string Environment::FreeUid(const State& state, int daemon) const {
  for (int n = 1;; ++n) {
    std::string uid = "uid-" + std::string(kDaemonNames[daemon]) + "-" + std::to_string(n);
    bool used = false;
    const auto look = [&](const Cell& cell) {
      const Content& content = cell.content();
      used = used || content.owner == uid || content.uid == uid;
    };
    for (const Table& table : state.tables) {
      std::for_each(table.base.begin(), table.base.end(), look);
      std::for_each(table.events.begin(), table.events.end(), look);
    }
    // A uid is also in use while the name of an orphaned or deleted object contains the uid's hash.
    for (int p = 0; p < bounds_.pools && !used; ++p) {
      const ObjectKey key{kNamespace,
                          WorkloadName(kDaemonNames[daemon], uid, kPoolNames[p], WorkloadKind::kDeployment)};
      for (const Kind kind : {kWorkload, kService}) {
        const std::uint64_t hash = KeyHash(kind, key);
        const auto named = [&](const Cell& cell) { return cell.content().key_hash == hash; };
        const Table& table = state[kind];
        used = used || std::any_of(table.base.begin(), table.base.end(), named) ||
               std::any_of(table.events.begin(), table.events.end(), named);
      }
    }
    if (!used) return uid;
  }
}

std::vector<Move> Environment::UserMoves(const State& state) const {
  std::vector<Move> moves;
  const auto add = [&](Move::Type type, std::size_t a, std::size_t b = 0) {
    Move move;
    move.type = type;
    move.a = static_cast<std::uint8_t>(a);
    move.b = static_cast<std::uint8_t>(b);
    moves.push_back(move);
  };
  const std::size_t workloads = state[kWorkload].Live().size();
  for (const Move::Type type : bounds_.kinds) {
    for (int p = 0; p < bounds_.pools; ++p) {
      if (type == Move::kPoolRemoved || type == Move::kPoolAdded || type == Move::kPoolRelabelled ||
          type == Move::kHoldFlipped || type == Move::kSiteFlipped)
        add(type, static_cast<std::size_t>(p));
    }
    for (int d = 0; d < bounds_.daemons; ++d) {
      if (type == Move::kNewTemplate) {
        for (int r = 1; r <= bounds_.revisions; ++r)
          add(type, static_cast<std::size_t>(d), static_cast<std::size_t>(r));
      } else if (type == Move::kForeignCreated || type == Move::kSecondWorkload) {
        for (int p = 0; p < bounds_.pools; ++p) add(type, static_cast<std::size_t>(d), static_cast<std::size_t>(p));
      } else if (type >= Move::kPauseFlipped && type <= Move::kDaemonCreated) {
        add(type, static_cast<std::size_t>(d));
      }
    }
    if (type == Move::kFreezeFlipped) {
      for (const std::size_t ends : {0, 1}) add(type, 0, ends);
    }
    if (type >= Move::kWorkloadDeleted && type <= Move::kWorkloadEdited) {
      for (std::size_t w = 0; w < workloads; ++w) add(type, w);
    }
    if (type == Move::kServiceDeleted || type == Move::kServiceEdited) {
      for (std::size_t s = 0; s < state[kService].Live().size(); ++s) add(type, s);
    }
  }
  return moves;
}

const Content& Environment::Edited(const Content& content, int edit, const std::function<void(Json&)>& change) {
  const Content*& known = edited_[static_cast<std::uint64_t>(content.id) << 8 | static_cast<unsigned>(edit)];
  if (known == nullptr) {
    Json object = content.Parse();
    change(object);
    known = &Contents::Get().Intern(content.kind, content.key, std::move(object));
  }
  return *known;
}

bool Environment::Edit(State& state, const Move& move, const Content& content,
                       const std::function<void(Json&)>& change) {
  const Content& edited = Edited(content, move.type << 3 | move.b, change);
  if (&edited == &content) return false;
  state[content.kind].Change(edited);
  return true;
}

bool Environment::EditSpec(State& state, const Move& move, const Content& content,
                           const std::function<void(Json&)>& change) {
  return Edit(state, move, content, [&](Json& object) {
    const Json before = object["spec"];
    change(object["spec"]);
    if (before != object["spec"]) object["metadata"]["generation"] = IntAt(object, {"metadata", "generation"}) + 1;
  });
}

bool Environment::ApplyToPool(State& state, const Move& move) {
  const Content* pool = LiveObject(state, kPool, PoolKey(move.a));
  if (move.type == Move::kPoolAdded) {
    if (pool != nullptr) return false;
    state[kPool].Change(Contents::Get().Intern(kPool, PoolKey(move.a), NewPool(move.a)));
    return true;
  }
  if (pool == nullptr) return false;
  if (move.type == Move::kPoolRemoved) return Remove(state, *pool);
  if (move.type == Move::kHoldFlipped) {
    return Edit(state, move, *pool, [&](Json& object) {
      if (pool->held) {
        object["metadata"].erase("annotations");
      } else {
        object["metadata"]["annotations"][kHoldAnnotation] = "no";
      }
    });
  }
  if (move.type == Move::kSiteFlipped) {
    return Edit(state, move, *pool, [&](Json& object) {
      object["status"] = {{"readyNodeNum", pool->offline ? 1 : 0}, {"unreadyNodeNum", pool->offline ? 0 : 1}};
    });
  }
  return Edit(state, move, *pool,
              [&](Json& object) { object["metadata"]["labels"][kSelectedLabel] = pool->selected ? "no" : "yes"; });
}

bool Environment::ApplyToDaemon(State& state, const Move& move) {
  const Content* daemon = LiveDaemon(state, move.a);
  if (move.type == Move::kDaemonCreated) {
    if (daemon != nullptr) return false;
    state[kDaemon].Change(
        Contents::Get().Intern(kDaemon, DaemonKey(move.a), NewDaemon(move.a, FreeUid(state, move.a), bounds_)));
    return true;
  }
  if (daemon == nullptr || daemon->deleting) return false;
  switch (move.type) {
    case Move::kNewTemplate:
      return EditSpec(state, move, *daemon, [&](Json& spec) {
        SetTemplate(spec["workloadTemplate"]["deploymentTemplate"], move.b);
        if (bounds_.services) SetService(spec, move.b);
      });
    case Move::kPauseFlipped:
      return EditSpec(state, move, *daemon, [&](Json& spec) { spec["paused"] = !daemon->paused; });
    case Move::kDaemonDeleted:
      return Remove(state, *daemon);
    case Move::kDaemonOrphaned:
      return Edit(state, move, *daemon, [](Json& object) {
        object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
        object["metadata"]["finalizers"] = {"orphan"};
      });
    default:
      return false;
  }
}

bool Environment::ApplyToWorkload(State& state, const Move& move) {
  const Content& workload = state[kWorkload].Live()[move.a].content();
  if (workload.foreign) return false;
  switch (move.type) {
    case Move::kWorkloadDeleted:
      return Remove(state, workload);
    case Move::kLabelStripped:
      return Edit(state, move, workload, [](Json& object) { object["metadata"]["labels"].erase(kPoolNameLabel); });
    case Move::kWorkloadEdited:
      return Edit(state, move, workload, [](Json& object) {
        const Json before = object;
        object["spec"]["template"]["spec"]["containers"][0]["image"] = "evil:1";
        SetGeneration(before, object);
      });
    default:
      return false;
  }
}

bool Environment::ApplyToService(State& state, const Move& move) {
  const Content& service = state[kService].Live()[move.a].content();
  if (move.type == Move::kServiceDeleted) return Remove(state, service);
  return Edit(state, move, service, [](Json& object) { object["spec"]["ports"][0]["port"] = 666; });
}

bool Environment::FlipFreeze(State& state, const Move& move) {
  if (const Content* freeze = LiveObject(state, kFreeze, FreezeKey())) return Remove(state, *freeze);
  Json object = {{"metadata", {{"name", kFreezeName}, {"namespace", kNamespace}}}, {"data", {{"reason", "sale"}}}};
  if (move.b == 1) object["data"]["until"] = kFreezeUntil;
  state[kFreeze].Change(Contents::Get().Intern(kFreeze, FreezeKey(), std::move(object)));
  return true;
}

bool Environment::PassTime(State& state) const {
  if (!bounds_.gates || state.clock == kInstants.back()) return false;
  state.clock = *std::upper_bound(kInstants.begin(), kInstants.end(), state.clock);
  return true;
}

bool Environment::Apply(State& state, const Move& move) {
  switch (move.type) {
    case Move::kReconcile:
      return false;
    case Move::kWorkloadsBecomeHealthy:
      return MakeHealthy(state);
    case Move::kGarbageCollection:
      return CollectGarbage(state);
    case Move::kTimePasses:
      return PassTime(state);
    case Move::kPoolRemoved:
    case Move::kPoolAdded:
    case Move::kPoolRelabelled:
    case Move::kHoldFlipped:
    case Move::kSiteFlipped:
      return ApplyToPool(state, move);
    case Move::kNewTemplate:
    case Move::kPauseFlipped:
    case Move::kDaemonDeleted:
    case Move::kDaemonOrphaned:
    case Move::kDaemonCreated:
      return ApplyToDaemon(state, move);
    case Move::kWorkloadDeleted:
    case Move::kLabelStripped:
    case Move::kWorkloadEdited:
      return ApplyToWorkload(state, move);
    case Move::kForeignCreated:
      return CreateForeign(state, move);
    case Move::kSecondWorkload:
      return CreateSecond(state, move);
    case Move::kServiceDeleted:
    case Move::kServiceEdited:
      return ApplyToService(state, move);
    case Move::kFreezeFlipped:
      return FlipFreeze(state, move);
  }
  return false;
}

// Writes a healthy status to all workloads of online pools.
bool Environment::MakeHealthy(State& state) {
  bool changed = false;
  for (const Cell& cell : state[kWorkload].Live()) {
    const Content& content = cell.content();
    if (content.foreign) continue;
    const Content* pool = LiveObject(state, kPool, {"", content.pool});
    if (pool != nullptr && pool->offline) continue;
    const Content& healthy = Edited(content, Move::kWorkloadsBecomeHealthy << 3, [](Json& object) {
      object["metadata"]["generation"] = 1;
      object["status"] = testing::HealthyStatus(object);
    });
    if (&healthy == &content) continue;
    state[kWorkload].Change(healthy);
    changed = true;
  }
  return changed;
}

// Deletes the objects whose daemon does not exist. For a deletion with --cascade=orphan, first removes the
// ownerReferences, and then deletes the daemon.
bool Environment::CollectGarbage(State& state) {
  bool changed = false;
  const Cells daemons = state[kDaemon].Live();
  for (const Kind kind : {kWorkload, kRevision, kService}) {
    for (const Cell& cell : state[kind].Live()) {
      const Content& content = cell.content();
      if (content.owner.empty() || content.foreign) continue;
      const auto owner =
          std::find_if(daemons.begin(), daemons.end(), [&](const Cell& d) { return d.content().uid == content.owner; });
      if (owner == daemons.end()) {
        state[kind].Change(Gone(content));
        changed = true;
      } else if (owner->content().deleting) {
        state[kind].Change(Edited(content, Move::kGarbageCollection << 3,
                                  [](Json& object) { object["metadata"].erase("ownerReferences"); }));
        changed = true;
      }
    }
  }
  if (changed) return true;
  for (const Cell& daemon : daemons) {
    if (!daemon.content().deleting) continue;
    state[kDaemon].Change(Gone(daemon.content()));
    changed = true;
  }
  return changed;
}

void Environment::Settle(State& state) {
  bool changed = true;
  while (changed) {
    changed = CollectGarbage(state);
    changed = MakeHealthy(state) || changed;
    state.Canonicalize(0);
  }
}

std::string Environment::Describe(const State& state, const Move& move) const {
  const bool of_pool = (move.type >= Move::kPoolRemoved && move.type <= Move::kPoolRelabelled) ||
                       move.type == Move::kHoldFlipped || move.type == Move::kSiteFlipped;
  const std::string pool = of_pool ? kPoolNames[move.a] : move.b < bounds_.pools ? kPoolNames[move.b] : "";
  const std::string daemon = move.a < bounds_.daemons ? kDaemonNames[move.a] : "";
  const Cells workloads = state[kWorkload].Live();
  const std::string workload = move.a < workloads.size() ? workloads[move.a].content().key.name : "";
  switch (move.type) {
    case Move::kReconcile: {
      std::string text = "the operator reconciles " + daemon;
      constexpr const char* kNames[] = {"daemons", "pools", "workloads", "revisions", "services", "freezes"};
      for (std::size_t k = 0; k < kKinds; ++k) {
        const std::size_t behind = state.tables[k].events.size() - move.seen[k];
        if (behind > 0) text += ", " + std::string(kNames[k]) + " " + std::to_string(behind) + " behind";
      }
      return text;
    }
    case Move::kWorkloadsBecomeHealthy:
      return "all workloads become healthy";
    case Move::kGarbageCollection:
      return "the garbage collector runs";
    case Move::kTimePasses:
      return "time passes to the next instant";
    case Move::kPoolRemoved:
      return "pool " + pool + " is deleted";
    case Move::kPoolAdded:
      return "pool " + pool + " is created";
    case Move::kPoolRelabelled:
      return "pool " + pool + " is relabelled";
    case Move::kNewTemplate:
      return "daemon " + daemon + " gets template " + std::to_string(move.b);
    case Move::kPauseFlipped:
      return "daemon " + daemon + " is paused, or goes on";
    case Move::kDaemonDeleted:
      return "daemon " + daemon + " is deleted";
    case Move::kDaemonOrphaned:
      return "daemon " + daemon + " is deleted with --cascade=orphan";
    case Move::kDaemonCreated:
      return "daemon " + daemon + " is created";
    case Move::kWorkloadDeleted:
      return "a user deletes " + workload;
    case Move::kLabelStripped:
      return "a user removes the pool's label from " + workload;
    case Move::kWorkloadEdited:
      return "a user edits the image of " + workload;
    case Move::kServiceDeleted:
      return "a user deletes a Service";
    case Move::kServiceEdited:
      return "a user edits the port of a Service";
    case Move::kHoldFlipped:
      return "pool " + pool + " is held, or released";
    case Move::kSiteFlipped:
      return "pool " + pool + " goes offline, or online";
    case Move::kFreezeFlipped:
      return std::string("a freeze ") + (move.b == 1 ? "with an end " : "") + "begins, or the freeze is taken off";
    case Move::kForeignCreated:
      return "a user creates a workload with the name for " + daemon + " in " + pool;
    case Move::kSecondWorkload:
      return "daemon " + daemon + " gets a second workload in " + pool;
  }
  return "";
}

}  // namespace yad::model
