// The ControllerRevisions of a daemon. RevisionHistory finds or creates the revision that has the content of the spec,
// sets its number to the highest, and deletes old revisions.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_HISTORY_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_HISTORY_H_

#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/api/yurtappdaemon.h"
#include "operator/base/error.h"
#include "operator/client/client.h"
#include "operator/runtime/store.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Returns the value that label kRevisionLabel has on the workloads of this ControllerRevision.
std::string RevisionLabelOf(const ObjectMeta& revision);

// Parses a ControllerRevision. Fails with kDecode if it is not a revision of a YurtAppDaemon.
Result<RevisionPtr> ParseRevision(const Json& object);

// Manages the ControllerRevisions of one daemon. Caches the parsed form of the revisions that are in use. Not
// thread-safe.
class RevisionHistory {
 public:
  // `store` must have the index Controller::kControllerUidIndex.
  RevisionHistory(Client& client, Store& store) : client_(client), store_(store) {}

  struct State {
    RevisionPtr update;
    std::vector<ObjectPtr> all;  // the daemon's revisions, in ascending order of their numbers
    std::int64_t collision_count = 0;
    bool created = false;  // this call created `update`
  };
  // Ensures that a revision with the daemon's content exists, and that it has the highest number. Calls ConfirmDaemon
  // before a write.
  Result<State> Sync(const YurtAppDaemon& daemon, std::stop_token stop);

  // Adopts revisions that an earlier daemon of this name left when it was deleted with --cascade=orphan. `orphans`
  // contains the ControllerRevisions without a controller. The daemon's selector must match the pod labels of the
  // revision, as when a Deployment adopts ReplicaSets.
  Status ClaimOrphans(const YurtAppDaemon& daemon, const std::vector<ObjectPtr>& orphans, std::stop_token stop);

  // Marks the update revision as failed, and returns it. `failure` is Revision::failure. The mark stays until the
  // number of the revision is raised, which begins another rollout. Calls ConfirmDaemon first.
  Result<RevisionPtr> MarkFailed(const YurtAppDaemon& daemon, const State& state, WallTime now,
                                 const std::string& failure, std::stop_token stop);

  // Stores `groups` in an annotation of the update revision: the pools of each rollout group that has a `percent`. The
  // annotation stays until the number of the revision is raised, which begins another rollout. Calls ConfirmDaemon
  // first.
  Status StorePercentGroups(const YurtAppDaemon& daemon, const State& state, const std::string& groups,
                            std::stop_token stop);

  // Reads the update revision from the server into the store.
  Status Reread(const YurtAppDaemon& daemon, const State& state, std::stop_token stop);

  // Returns the parsed revision whose label value or name is `label`, or null if it does not exist.
  RevisionPtr Named(const State& state, const std::string& label);

  // Returns the same revision as Named. If the cache does not show the revision, reads it from the server and adds it
  // to `state`.
  //
  // The update of a workload needs the revision from which the workload was rendered. The update removes the values
  // that this revision has and the new revision lacks.
  Result<RevisionPtr> Find(const YurtAppDaemon& daemon, State& state, const std::string& label, std::stop_token stop);

  // Checks on the server that no revision has this label, which is the revision label of a workload without a
  // controller. Does nothing if the cache has such a revision. Fails with kConflict if the revision exists, and the
  // daemon controls it or may adopt it. The revision is then put into the store, so that the next reconcile finds it.
  Status ConfirmUnknown(const YurtAppDaemon& daemon, const State& state, const std::string& label,
                        std::stop_token stop);

  // Deletes the oldest revisions beyond spec.revisionHistoryLimit. Calls ConfirmDaemon first. These revisions stay:
  // - The revisions whose names are in `live`. They do not count for the limit.
  // - The revisions that the label of a workload on the server refers to.
  // - The revisions with a Service template, if the daemon still has Services, but no longer a template in its spec.
  //   Without a revision that has a Service template, the operator would not read the Services.
  Status Prune(const YurtAppDaemon& daemon, const State& state, const std::set<std::string>& live,
               std::stop_token stop);

  // Adds kOurRevisionLabel to the revisions that OpenYurt left for this daemon, so that the watch finds them. Must be
  // called once for each daemon.
  Status ClaimOpenYurtRevisions(const YurtAppDaemon& daemon, std::stop_token stop);

 private:
  // Reads from the server the revision that the label of a workload refers to. Returns null if no such revision exists.
  Result<ObjectPtr> ReadLabelled(const YurtAppDaemon& daemon, const std::string& label, std::stop_token stop) const;
  RevisionPtr Parse(const ObjectPtr& object);
  // Returns the newest of `revisions` with this content, or null if none has this content.
  ObjectPtr Match(const RevisionContent& content, const std::vector<ObjectPtr>& revisions);
  // Sets the content of state.update to the content of the spec. The content in the ControllerRevision, which is
  // immutable, may differ in nulls, empty objects and defaults. The server may reject workloads that are rendered from
  // it.
  void UseSpecContent(const RevisionContent& content, State& state, const ObjectPtr& match);
  Result<ObjectPtr> Create(const YurtAppDaemon& daemon, const RevisionContent& content, std::int64_t number,
                           std::int64_t& collision_count, std::stop_token stop);
  // Applies a merge patch to the revision with this metadata, unless the server has a newer version of the revision.
  // Puts the server's response into the store, and returns it.
  Result<ObjectPtr> Change(const ObjectMeta& revision, Json patch, std::stop_token stop);
  // Calls ConfirmDaemon, sets annotations of the update revision, and returns the revision.
  Result<RevisionPtr> Annotate(const YurtAppDaemon& daemon, const State& state, const Json& annotations,
                               std::stop_token stop);
  // Makes the numbers of `revisions` ascend: raises a number that is not above the number before it. This is necessary
  // if the spec returned to an old content, or if a stale cache did not show the last revision. The number that
  // OpenYurt set stays in kOpenYurtNumberAnnotation.
  Status Number(const YurtAppDaemon& daemon, std::vector<ObjectPtr>& revisions, std::stop_token stop);

  Client& client_;
  Store& store_;
  std::map<std::string, std::pair<ObjectPtr, RevisionPtr>> parsed_;  // by name
  std::string spec_content_revision_;  // the name of the revision in parsed_ that UseSpecContent has changed
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_HISTORY_H_
