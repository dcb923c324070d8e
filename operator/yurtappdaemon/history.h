// The daemon's ControllerRevisions: finding the one that holds the spec, making it, numbering it, pruning the old ones.
#ifndef OPERATOR_YURTAPPDAEMON_HISTORY_H_
#define OPERATOR_YURTAPPDAEMON_HISTORY_H_

#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/api/yurtappdaemon.h"
#include "operator/base/error.h"
#include "operator/client/client.h"
#include "operator/runtime/store.h"
#include "operator/yurtappdaemon/snapshot.h"

namespace yad {

// One per daemon; keeps the few revisions that are in use parsed. Not thread-safe.
class RevisionHistory {
 public:
  // `store` has the index Controller::kControllerUidIndex.
  RevisionHistory(Client& client, Store& store) : client_(client), store_(store) {}

  struct State {
    RevisionPtr update;
    std::vector<ObjectPtr> all;  // ours, by rising number
    std::int64_t collision_count = 0;
    bool created = false;  // `update` was made just now
  };
  // Makes sure that the daemon's content is a revision with the highest number. May write, and then confirms the daemon
  // first.
  Result<State> Sync(const YurtAppDaemon& daemon, std::stop_token stop);

  // Makes the revisions ours again that an earlier daemon of this name has left (--cascade=orphan), as a Deployment
  // does with ReplicaSets: their template's labels are what the daemon selects. So they are found, numbered on and
  // pruned.
  Status ClaimOrphans(const YurtAppDaemon& daemon, const std::vector<ObjectPtr>& orphans, std::stop_token stop);

  // Notes on the update revision, for good, that its rollout failed; `state` then knows it. Confirms the daemon first.
  Result<RevisionPtr> MarkFailed(const YurtAppDaemon& daemon, State& state, WallTime now, std::stop_token stop);

  // Reads the update revision past the cache, into it.
  Status Reread(const YurtAppDaemon& daemon, const State& state, std::stop_token stop);

  // The revision whose label value (or name) is `label`, parsed; null where there is none.
  RevisionPtr Named(const State& state, const std::string& label);

  // The same; where the cache does not show it, because it lags or the label was taken away, the server is asked, and
  // `state` then knows it. What made a workload has to be known: else nothing is taken away that only it had.
  Result<RevisionPtr> Find(const YurtAppDaemon& daemon, State& state, const std::string& label, std::stop_token stop);

  // Deletes the oldest revisions beyond the limit, once the daemon is confirmed; those whose name is in `live` are
  // never counted or touched. Nor are those deleted that a workload at the server still names: what made it has to be
  // known. And where the spec has no Service template any more, none that has one while there are Services: without it
  // nobody would look for them.
  Status Prune(const YurtAppDaemon& daemon, const State& state, const std::set<std::string>& live,
               std::stop_token stop);

  // Labels the revisions that OpenYurt left for this daemon (it has no label of ours to watch them by). Once per
  // daemon.
  Status ClaimOpenYurtRevisions(const YurtAppDaemon& daemon, std::stop_token stop);

 private:
  Result<std::vector<ObjectPtr>> List(const YurtAppDaemon& daemon) const;
  RevisionPtr Parse(const ObjectPtr& object);
  // The newest of `revisions` with that content; null where there is none.
  ObjectPtr Match(const RevisionContent& content, const std::vector<ObjectPtr>& revisions);
  // Two contents that differ in nulls, empty objects and defaults are the same revision. But the server may accept the
  // one and refuse the other, and `data` of a ControllerRevision is immutable: the update revision renders what the
  // spec says now.
  void SpellAs(const RevisionContent& content, State& state, const ObjectPtr& match);
  // Whether the server has a workload of the daemon with that revision label.
  Result<bool> IsNamed(const YurtAppDaemon& daemon, const std::string& label, std::stop_token stop);
  // Whether the server has a Service of the daemon. One that can't be read was never made.
  Result<bool> HasServices(const YurtAppDaemon& daemon, std::stop_token stop);
  // Whether the server has an object that the daemon controls. `options` says which.
  Result<bool> HasOne(const ResourceType& type, ListOptions options, const YurtAppDaemon& daemon, std::stop_token stop);
  Result<ObjectPtr> Create(const YurtAppDaemon& daemon, const RevisionContent& content, std::int64_t number,
                           std::int64_t& collision_count, std::stop_token stop);
  // Raises the numbers that are not above the one before: the content asked for is an old one again, or a revision was
  // made while the cache did not show the last one.
  Status Number(const YurtAppDaemon& daemon, std::vector<ObjectPtr>& revisions, std::stop_token stop);

  Client& client_;
  Store& store_;
  std::map<std::string, std::pair<ObjectPtr, RevisionPtr>> parsed_;  // by name
  std::string spelled_;  // the name of the one in parsed_ that has the spec's text in the place of its own
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_HISTORY_H_
