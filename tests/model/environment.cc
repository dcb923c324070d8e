#include "tests/model/environment.h"

#include <algorithm>

#include "operator/api/well_known.h"
#include "operator/workload/render.h"
#include "tests/model/names.h"
#include "tests/unit/yurtappdaemon/builders.h"

namespace yad::model {
namespace {

ObjectKey PoolKey(int pool) { return {"", kPoolNames[pool]}; }

const Content* LiveObject(const State& state, Kind kind, const ObjectKey& key) {
  const Table& table = state[kind];
  return table.Find(KeyHash(kind, key), table.events.size());
}
const Content* LiveDaemon(const State& state, int daemon) {
  return LiveObject(state, kDaemon, Environment::DaemonKey(daemon));
}

const Content& Gone(const Content& content) { return Contents::Get().Intern(content.kind, content.key, nullptr); }

// Each template has a variable that no other has: what is left of an old one shows.
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

Json NewDaemon(int daemon, const std::string& uid, bool services) {
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
  if (services) SetService(object["spec"], 1);
  return object;
}

Json NewPool(int pool) {
  Json object = testing::PoolJson(kPoolNames[pool]);
  object["metadata"]["labels"] = {{kSelectedLabel, "yes"}};
  return object;
}

// The live workload of a pool with the name that the operator gives it; nullptr: there is none.
const Content* StableWorkload(const State& state, const Content& daemon, int pool) {
  const std::string name = WorkloadName(daemon.key.name, daemon.uid, kPoolNames[pool], WorkloadKind::kDeployment);
  return LiveObject(state, kWorkload, {kNamespace, name});
}

ObjectKey SecondKey(const Content& daemon, int pool) {
  return {kNamespace, daemon.key.name + "-" + kPoolNames[pool] + "-x7k2p"};
}

}  // namespace

ObjectKey Environment::DaemonKey(int daemon) { return {kNamespace, kDaemonNames[daemon]}; }

State Environment::Start() const {
  State state;
  for (int d = 0; d < bounds_.daemons; ++d) {
    const ObjectKey key = DaemonKey(d);
    state[kDaemon].Change(
        Contents::Get().Intern(kDaemon, key, NewDaemon(d, "uid-" + key.name + "-1", bounds_.services)));
  }
  for (int p = 0; p < bounds_.pools; ++p) {
    state[kPool].Change(Contents::Get().Intern(kPool, PoolKey(p), NewPool(p)));
  }
  state.Canonicalize(0);
  return state;
}

// The smallest number that nothing speaks of any more, neither at the server nor in any cache.
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
    // A name is made of the uid: one that was orphaned or deleted may still have it.
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

std::vector<Move> Environment::MovesOfPeople(const State& state) const {
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
      if (type == Move::kPoolRemoved || type == Move::kPoolAdded || type == Move::kPoolRelabelled)
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

bool Environment::Apply(State& state, const Move& move) {
  const auto edit = [&](const Content& content, const std::function<void(Json&)>& change) {
    const Content& edited = Edited(content, move.type << 3 | move.b, change);
    if (&edited == &content) return false;
    state[content.kind].Change(edited);
    return true;
  };
  const auto edit_spec = [&](const Content& content, const std::function<void(Json&)>& change) {
    return edit(content, [&](Json& object) {
      const Json before = object["spec"];
      change(object["spec"]);
      if (before != object["spec"]) object["metadata"]["generation"] = IntAt(object, {"metadata", "generation"}) + 1;
    });
  };
  const auto remove = [&](const Content& content) {
    state[content.kind].Change(Gone(content));
    return true;
  };
  const Content* pool = move.type >= Move::kPoolRemoved && move.type <= Move::kPoolRelabelled
                            ? LiveObject(state, kPool, PoolKey(move.a))
                            : nullptr;
  const bool about_daemon = (move.type >= Move::kNewTemplate && move.type <= Move::kDaemonCreated) ||
                            move.type == Move::kForeignCreated || move.type == Move::kSecondWorkload;
  const Content* daemon = about_daemon ? LiveDaemon(state, move.a) : nullptr;
  const Content* workload = nullptr;
  if (move.type >= Move::kWorkloadDeleted && move.type <= Move::kWorkloadEdited) {
    workload = &state[kWorkload].Live()[move.a].content();
    if (workload->foreign) return false;
  }
  const Content* service = nullptr;
  if (move.type == Move::kServiceDeleted || move.type == Move::kServiceEdited)
    service = &state[kService].Live()[move.a].content();
  switch (move.type) {
    case Move::kReconcile:
      return false;
    case Move::kWorkloadsBecomeHealthy:
      return MakeHealthy(state);
    case Move::kGarbageCollection:
      return CollectGarbage(state);
    case Move::kPoolRemoved:
      return pool != nullptr && remove(*pool);
    case Move::kPoolAdded:
      if (pool != nullptr) return false;
      state[kPool].Change(Contents::Get().Intern(kPool, PoolKey(move.a), NewPool(move.a)));
      return true;
    case Move::kPoolRelabelled:
      return pool != nullptr && edit(*pool, [&](Json& object) {
               object["metadata"]["labels"][kSelectedLabel] = pool->selected ? "no" : "yes";
             });
    case Move::kNewTemplate:
      return daemon != nullptr && !daemon->deleting && edit_spec(*daemon, [&](Json& spec) {
               SetTemplate(spec["workloadTemplate"]["deploymentTemplate"], move.b);
               if (bounds_.services) SetService(spec, move.b);
             });
    case Move::kPauseFlipped:
      return daemon != nullptr && !daemon->deleting &&
             edit_spec(*daemon, [&](Json& spec) { spec["paused"] = !daemon->paused; });
    case Move::kDaemonDeleted:
      return daemon != nullptr && !daemon->deleting && remove(*daemon);
    case Move::kDaemonOrphaned:
      return daemon != nullptr && !daemon->deleting && edit(*daemon, [](Json& object) {
               object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
               object["metadata"]["finalizers"] = {"orphan"};
             });
    case Move::kDaemonCreated:
      if (daemon != nullptr) return false;
      state[kDaemon].Change(Contents::Get().Intern(kDaemon, DaemonKey(move.a),
                                                   NewDaemon(move.a, FreeUid(state, move.a), bounds_.services)));
      return true;
    case Move::kWorkloadDeleted:
      return remove(*workload);
    case Move::kLabelStripped:
      return edit(*workload, [](Json& object) { object["metadata"]["labels"].erase(kPoolNameLabel); });
    case Move::kWorkloadEdited:
      return edit(*workload, [](Json& object) {
        const Json before = object;
        object["spec"]["template"]["spec"]["containers"][0]["image"] = "evil:1";
        SetGeneration(before, object);
      });
    case Move::kServiceDeleted:
      return remove(*service);
    case Move::kServiceEdited:
      return edit(*service, [](Json& object) { object["spec"]["ports"][0]["port"] = 666; });
    case Move::kForeignCreated: {
      if (daemon == nullptr || StableWorkload(state, *daemon, move.b) != nullptr) return false;
      const Json daemon_json = daemon->Parse();
      Json object = testing::WorkloadJson(daemon_json, testing::MakeRevision(daemon_json), NewPool(move.b));
      object["metadata"]["annotations"][kForeignAnnotation] = "yes";
      object["metadata"]["ownerReferences"][0]["uid"] = "uid-somebody";
      const ObjectKey key{kNamespace, StringAt(object, {"metadata", "name"})};
      state[kWorkload].Change(Contents::Get().Intern(kWorkload, key, std::move(object)));
      return true;
    }
    case Move::kSecondWorkload: {
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
  }
  return false;
}

bool Environment::MakeHealthy(State& state) {
  bool changed = false;
  for (const Cell& cell : state[kWorkload].Live()) {
    const Content& content = cell.content();
    if (content.foreign) continue;
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

// Deletes what belongs to a daemon that is gone; takes the owner from what an orphaning deletion leaves, and then ends
// that daemon.
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
  const std::string pool = move.type >= Move::kPoolRemoved && move.type <= Move::kPoolRelabelled ? kPoolNames[move.a]
                           : move.b < bounds_.pools                                              ? kPoolNames[move.b]
                                                                                                 : "";
  const std::string daemon = move.a < bounds_.daemons ? kDaemonNames[move.a] : "";
  const Cells workloads = state[kWorkload].Live();
  const std::string workload = move.a < workloads.size() ? workloads[move.a].content().key.name : "";
  switch (move.type) {
    case Move::kReconcile: {
      std::string text = "the operator reconciles " + daemon;
      constexpr const char* kNames[] = {"daemons", "pools", "workloads", "revisions", "services"};
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
      return "somebody deletes " + workload;
    case Move::kLabelStripped:
      return "somebody takes the pool's label from " + workload;
    case Move::kWorkloadEdited:
      return "somebody edits the image of " + workload;
    case Move::kServiceDeleted:
      return "somebody deletes a Service";
    case Move::kServiceEdited:
      return "somebody edits the port of a Service";
    case Move::kForeignCreated:
      return "somebody creates a workload of his own with the name for " + daemon + " in " + pool;
    case Move::kSecondWorkload:
      return "daemon " + daemon + " gets a second workload in " + pool;
  }
  return "";
}

}  // namespace yad::model
