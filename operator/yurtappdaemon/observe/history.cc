#include "operator/yurtappdaemon/observe/history.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "operator/api/label_selector.h"
#include "operator/api/names.h"
#include "operator/api/well_known.h"
#include "operator/base/log.h"
#include "operator/runtime/paged_list.h"
#include "operator/workload/owner.h"
#include "operator/workload/render.h"
#include "operator/workload/revision.h"
#include "operator/yurtappdaemon/observe/live_daemon.h"
#include "operator/yurtappdaemon/observe/ownership.h"
#include "operator/yurtappdaemon/observe/revision_writer.h"
#include "operator/yurtappdaemon/observe/status_view.h"

namespace yad {
namespace {

constexpr int kMaxCollisions = 16;

ObjectPtr Stored(const Json& object) { return std::make_shared<StoredObject>(object, ProjectRevision); }

// Returns whether the daemon, or an earlier daemon of this name, created the revision: it has the daemon's workload
// kind, and the daemon's selector matches the pod labels in its template.
bool IsNamedAndMadeFor(const YurtAppDaemon& daemon, const ObjectPtr& revision) {
  const ObjectMeta& meta = revision->meta();
  if (meta.deleting() || meta.key.name != RevisionName(daemon.meta.key.name, meta.Label(kHashLabel))) return false;
  const auto content = ContentOf(revision->Parse());
  const auto selector = LabelSelector::Parse(daemon.selector, "spec.selector");
  return content && selector && content->kind == daemon.kind &&
         selector->Matches(StringMapAt(content->workload_template, {"spec", "template", "metadata", "labels"}));
}

std::int64_t NumberOf(const ObjectPtr& revision) { return ProjectionOf<RevisionProjection>(revision).number; }

bool ByNumber(const ObjectPtr& a, const ObjectPtr& b) {
  return std::pair(NumberOf(a), a->meta().key.name) < std::pair(NumberOf(b), b->meta().key.name);
}

// Returns `number` + 1. Returns the maximum of int64 unchanged, because it would overflow. Only a user can set a number
// that high.
std::int64_t NextNumber(std::int64_t number) {
  return number == std::numeric_limits<std::int64_t>::max() ? number : number + 1;
}

// Adds to `patch` the removal of the annotations that store the state of the revision's last rollout. Called when the
// number of the revision is raised, because this begins another rollout.
void ForgetRollout(const ObjectMeta& revision, Json& patch) {
  for (const char* key : {kFailedAnnotation, kFailureAnnotation, kPercentGroupsAnnotation}) {
    if (!revision.Annotation(key).empty()) patch["metadata"]["annotations"][key] = nullptr;
  }
}

// Returns whether the revision's number was raised after its creation: a younger revision has a lower number.
bool WasRaised(const ObjectPtr& revision, const std::vector<ObjectPtr>& revisions) {
  return std::any_of(revisions.begin(), revisions.end(), [&](const ObjectPtr& other) {
    return NumberOf(other) < NumberOf(revision) &&
           other->meta().creation_timestamp > revision->meta().creation_timestamp;
  });
}

// Returns whether the server has an object of this type with these labels that the daemon controls.
Result<bool> HasObject(Client& client, const ResourceType& type, const std::string& label_selector,
                       const YurtAppDaemon& daemon, std::stop_token stop) {
  const ListOptions options{
      .ns = daemon.meta.key.ns, .label_selector = label_selector, .limit = kPageLimit, .metadata_only = true};
  bool found = false;
  const auto read = ForEachListed(client, type, options, stop, [&](const JsonDocument& item) {
    found = ControlledBy(ParseMeta(item), daemon.meta.uid);
    return !found;
  });
  if (!read) return Fail(read.error());
  return found;
}

}  // namespace

std::string RevisionLabelOf(const ObjectMeta& revision) {
  std::string hash = revision.Label(kHashLabel);
  if (hash.empty()) hash = revision.key.name.substr(revision.key.name.rfind('-') + 1);
  return RevisionLabelValue(revision.key.name, hash);
}

Result<RevisionPtr> ParseRevision(const Json& object) {
  const ObjectMeta meta = ParseMeta(object);
  auto revision = std::make_shared<Revision>();
  YAD_TRY(revision->content, ContentOf(object));
  revision->name = meta.key.name;
  revision->hash = meta.Label(kHashLabel);
  revision->label = RevisionLabelOf(meta);
  revision->number = IntAt(object, {"revision"});
  revision->openyurt_number = OpenYurtNumberOf(meta);
  revision->failed_at = meta.Annotation(kFailedAnnotation);
  revision->failure = meta.Annotation(kFailureAnnotation);
  revision->percent_groups = meta.Annotation(kPercentGroupsAnnotation);
  return revision;
}

RevisionPtr RevisionHistory::Parse(const ObjectPtr& object) {
  auto& [source, revision] = parsed_[object->meta().key.name];
  if (revision != nullptr && source == object) return revision;
  auto parsed = ParseRevision(object->Parse());
  if (!parsed) {
    log::Warn("can't parse a ControllerRevision",
              {{"revision", object->meta().key.ToString()}, {"error", parsed.error()}});
    parsed_.erase(object->meta().key.name);
    return nullptr;
  }
  source = object;
  revision = *std::move(parsed);
  return revision;
}

Result<ObjectPtr> RevisionHistory::Change(const ObjectMeta& revision, Json patch, std::stop_token stop) {
  patch["metadata"]["uid"] = revision.uid;
  patch["metadata"]["resourceVersion"] = revision.resource_version;
  YAD_TRY(const auto changed, ChangeRevision(client_, revision.key, patch, stop));
  const ObjectPtr stored = Stored(changed);
  store_.Observe(stored);
  return stored;
}

Result<ObjectPtr> RevisionHistory::Create(const YurtAppDaemon& daemon, const RevisionContent& content,
                                          std::int64_t number, std::int64_t& collision_count, std::stop_token stop) {
  for (int attempt = 0; attempt < kMaxCollisions; ++attempt) {
    const std::string hash = RevisionHash(content, collision_count);
    const Json wanted = MakeControllerRevision(daemon, content, hash, number);
    auto created = client_.Create(kControllerRevisionType, wanted, {}, stop);
    if (created) return Stored(*std::move(created));
    if (created.error().reason != Reason::kAlreadyExists) return Fail(created.error());

    const ObjectKey key{daemon.meta.key.ns, RevisionName(daemon.meta.key.name, hash)};
    YAD_TRY(auto existing, client_.Get(kControllerRevisionType, key, stop));
    const ObjectMeta meta = ParseMeta(existing);
    const auto theirs = ContentOf(existing);
    const OwnerReference* controller = meta.controller();
    const bool same = theirs && SameContent(content, *theirs) && !meta.deleting();
    if (same && (controller == nullptr || controller->uid == daemon.meta.uid)) {
      // The revision already exists. Either the cache does not show it yet, or an earlier daemon of this name left it
      // when that daemon was deleted with --cascade=orphan.
      number = std::max(number, IntAt(existing, {"revision"}));
      Json patch = {
          {"metadata",
           {{"labels", wanted["metadata"]["labels"]}, {"ownerReferences", wanted["metadata"]["ownerReferences"]}}},
          {"revision", number}};
      if (number != IntAt(existing, {"revision"})) ForgetRollout(meta, patch);
      return Change(meta, std::move(patch), stop);
    }
    ++collision_count;
    log::Info("another ControllerRevision already has this name; trying another name",
              {{"revision", key.ToString()}, {"collisionCount", collision_count}});
  }
  return Fail(Reason::kConflict,
              "no free name for a ControllerRevision after " + std::to_string(kMaxCollisions) + " attempts");
}

Status RevisionHistory::Number(const YurtAppDaemon& daemon, std::vector<ObjectPtr>& revisions, std::stop_token stop) {
  bool confirmed = false;
  std::int64_t last = 0;
  for (ObjectPtr& revision : revisions) {
    const ObjectMeta& meta = revision->meta();
    const std::int64_t number = std::max(NumberOf(revision), NextNumber(last));
    last = number;
    if (number == NumberOf(revision)) continue;
    if (!confirmed) {
      YAD_TRY_VOID(ConfirmDaemon(client_, daemon.meta, stop));
      confirmed = true;
    }
    Json patch = {{"revision", number}};
    ForgetRollout(meta, patch);
    // This patch replaces the number that OpenYurt set. An annotation keeps OpenYurt's number, because OriginOf may
    // need it to find the revision from which a workload of OpenYurt was rendered. But an earlier version of this
    // operator raised numbers without the annotation, so after the first status of this operator, the number may be its
    // own.
    const bool was_raised = StatusView(daemon.status).is_ours() && WasRaised(revision, revisions);
    if (ProjectionOf<RevisionProjection>(revision).openyurt_hash != 0 && !OpenYurtNumberOf(meta) && !was_raised)
      patch["metadata"]["annotations"][kOpenYurtNumberAnnotation] = std::to_string(NumberOf(revision));
    YAD_TRY(revision, Change(meta, std::move(patch), stop));
  }
  return {};
}

ObjectPtr RevisionHistory::Match(const RevisionContent& content, const std::vector<ObjectPtr>& revisions) {
  const auto newest = [&](std::uint64_t hash, std::uint64_t RevisionProjection::*hash_of) -> ObjectPtr {
    ObjectPtr match;
    for (const ObjectPtr& object : revisions) {
      if (ProjectionOf<RevisionProjection>(object).*hash_of != hash) continue;
      const RevisionPtr revision = Parse(object);
      if (revision != nullptr && SameContent(content, revision->content)) match = object;
    }
    return match;
  };
  if (ObjectPtr match = newest(Fnv1a64(content.digest), &RevisionProjection::digest_hash)) return match;
  return newest(Fnv1a64(DigestWithoutPullPolicies(content)), &RevisionProjection::openyurt_hash);
}

void RevisionHistory::UseSpecContent(const RevisionContent& content, State& state, const ObjectPtr& match) {
  const RevisionContent& stored = state.update->content;
  RevisionContent wanted = WithPullPoliciesOf(stored, content);
  if (stored.workload_template == wanted.workload_template && stored.service_template == wanted.service_template &&
      stored.overrides == wanted.overrides)
    return;
  auto revision = std::make_shared<Revision>(*state.update);
  revision->spec_content_digest = 1;
  for (const Json* part : {&wanted.workload_template, &wanted.service_template, &wanted.overrides}) {
    revision->spec_content_digest = Fnv1a64(DumpJson(*part), revision->spec_content_digest);
  }
  revision->content = std::move(wanted);
  state.update = revision;
  spec_content_revision_ = match->meta().key.name;
  parsed_[spec_content_revision_] = {match, revision};
}

Result<RevisionHistory::State> RevisionHistory::Sync(const YurtAppDaemon& daemon, std::stop_token stop) {
  State state;
  state.collision_count = IntAt(daemon.status, {"collisionCount"});
  YAD_TRY(state.all, ControlledObjects(store_, daemon.meta));
  std::erase_if(state.all, [](const ObjectPtr& object) { return object->meta().deleting(); });
  std::sort(state.all.begin(), state.all.end(), ByNumber);

  const RevisionContent content = ContentOf(daemon);
  ObjectPtr match = Match(content, state.all);
  if (match == nullptr) {
    YAD_TRY_VOID(ConfirmDaemon(client_, daemon.meta, stop));
    const std::int64_t highest = state.all.empty() ? 0 : NumberOf(state.all.back());
    YAD_TRY(match, Create(daemon, content, NextNumber(highest), state.collision_count, stop));
    state.created = true;
    store_.Observe(match);
  }
  std::erase_if(state.all, [&](const ObjectPtr& o) { return o->meta().key == match->meta().key; });
  state.all.push_back(match);
  YAD_TRY_VOID(Number(daemon, state.all, stop));
  match = state.all.back();
  // UseSpecContent has replaced the content of an earlier update revision in `parsed_`. The entry is erased, so that
  // the earlier revision is parsed again with its stored content.
  if (!spec_content_revision_.empty() && spec_content_revision_ != match->meta().key.name)
    parsed_.erase(std::exchange(spec_content_revision_, ""));
  state.update = Parse(match);
  if (state.update == nullptr)
    return Fail(Reason::kDecode, "ControllerRevision " + match->meta().key.name + " can't be parsed");
  UseSpecContent(content, state, match);

  // Drops the parsed form of deleted revisions, because a template may have a megabyte.
  std::erase_if(parsed_, [&](const auto& entry) {
    return std::none_of(state.all.begin(), state.all.end(),
                        [&](const ObjectPtr& o) { return o->meta().key.name == entry.first; });
  });
  return state;
}

Result<RevisionPtr> RevisionHistory::Annotate(const YurtAppDaemon& daemon, const State& state, const Json& annotations,
                                              std::stop_token stop) {
  YAD_TRY_VOID(ConfirmDaemon(client_, daemon.meta, stop));
  const auto update = std::find_if(state.all.begin(), state.all.end(), [&](const ObjectPtr& revision) {
    return revision->meta().key.name == state.update->name;
  });
  if (update == state.all.end()) return Fail(Reason::kConflict, "revision " + state.update->name + " was deleted");
  YAD_TRY(const auto changed, Change((*update)->meta(), {{"metadata", {{"annotations", annotations}}}}, stop));
  return Parse(changed);
}

Result<RevisionPtr> RevisionHistory::MarkFailed(const YurtAppDaemon& daemon, const State& state, WallTime now,
                                                const std::string& failure, std::stop_token stop) {
  const Json annotations = {{kFailedAnnotation, FormatTime(now)}, {kFailureAnnotation, failure}};
  YAD_TRY(auto marked, Annotate(daemon, state, annotations, stop));
  if (marked != nullptr && !marked->failed_at.empty()) return marked;
  // The reason must not be kConflict, because a conflict is retried every second.
  return Fail(Reason::kUnknown, "the apiserver did not keep annotation " + std::string(kFailedAnnotation) +
                                    " of ControllerRevision " + state.update->name + ", so no rollback may start");
}

Status RevisionHistory::StorePercentGroups(const YurtAppDaemon& daemon, const State& state, const std::string& groups,
                                           std::stop_token stop) {
  YAD_TRY(const auto stored, Annotate(daemon, state, {{kPercentGroupsAnnotation, groups}}, stop));
  if (stored != nullptr && stored->percent_groups == groups) return {};
  // As in MarkFailed, the reason must not be kConflict.
  return Fail(Reason::kUnknown, "the apiserver did not keep annotation " + std::string(kPercentGroupsAnnotation) +
                                    " of ControllerRevision " + state.update->name + ", so no update may start");
}

Status RevisionHistory::Reread(const YurtAppDaemon& daemon, const State& state, std::stop_token stop) {
  YAD_TRY(auto now, client_.Get(kControllerRevisionType, {daemon.meta.key.ns, state.update->name}, stop));
  store_.Observe(Stored(std::move(now)));
  return {};
}

RevisionPtr RevisionHistory::Named(const State& state, const std::string& label) {
  if (label.empty()) return nullptr;
  for (const ObjectPtr& object : state.all) {
    if (object->meta().key.name == label || RevisionLabelOf(object->meta()) == label) return Parse(object);
  }
  return nullptr;
}

Result<ObjectPtr> RevisionHistory::ReadLabelled(const YurtAppDaemon& daemon, const std::string& label,
                                                std::stop_token stop) const {
  // A label is the name of a revision, or only its hash if the name is too long for a label (RevisionLabelValue). A
  // name contains a dash, but a hash does not.
  const std::string long_name = RevisionName(daemon.meta.key.name, label);
  const bool is_hash = label.find('-') == std::string::npos && !CheckLabelValue(long_name).empty();
  auto live = client_.Get(kControllerRevisionType, {daemon.meta.key.ns, is_hash ? long_name : label}, stop);
  if (!live && live.error().reason == Reason::kNotFound) return nullptr;
  if (!live) return Fail(live.error());
  return Stored(*std::move(live));
}

Result<RevisionPtr> RevisionHistory::Find(const YurtAppDaemon& daemon, State& state, const std::string& label,
                                          std::stop_token stop) {
  if (RevisionPtr known = Named(state, label); known != nullptr || label.empty()) return known;
  YAD_TRY(const ObjectPtr object, ReadLabelled(daemon, label, stop));
  if (object == nullptr || object->meta().deleting() || !ControlledBy(object->meta(), daemon.meta.uid)) return nullptr;
  state.all.insert(std::upper_bound(state.all.begin(), state.all.end(), object, ByNumber), object);
  return Named(state, label);
}

Status RevisionHistory::ConfirmUnknown(const YurtAppDaemon& daemon, const State& state, const std::string& label,
                                       std::stop_token stop) {
  if (label.empty() || Named(state, label) != nullptr) return {};
  YAD_TRY(const ObjectPtr object, ReadLabelled(daemon, label, stop));
  if (object == nullptr) return {};
  const ObjectMeta& meta = object->meta();
  if (meta.controller() != nullptr && !ControlledBy(meta, daemon.meta.uid)) return {};
  // The cache never shows a revision without this label.
  if (meta.Label(kOurRevisionLabel) != "true" || !IsNamedAndMadeFor(daemon, object)) return {};
  store_.Observe(object);
  return Fail(Reason::kConflict, "the cache did not show ControllerRevision " + meta.key.ToString());
}

Status RevisionHistory::Prune(const YurtAppDaemon& daemon, const State& state, const std::set<std::string>& live,
                              std::stop_token stop) {
  std::vector<ObjectPtr> old;
  for (const ObjectPtr& object : state.all) {
    if (!live.contains(object->meta().key.name)) {
      old.push_back(object);
      parsed_.erase(object->meta().key.name);
    }
  }
  const std::size_t limit = static_cast<std::size_t>(std::max(daemon.revision_history_limit, 0));
  if (old.size() <= limit) return {};
  YAD_TRY_VOID(ConfirmDaemon(client_, daemon.meta, stop));
  for (std::size_t i = 0; i + limit < old.size(); ++i) {
    const std::string named = std::string(kRevisionLabel) + "=" + RevisionLabelOf(old[i]->meta());
    YAD_TRY(const bool is_used, HasObject(client_, TypeOf(daemon.kind), named, daemon, stop));
    if (is_used) continue;
    if (ProjectionOf<RevisionProjection>(old[i]).has_service && !state.update->content.service_template.is_object()) {
      const auto services = HasObject(client_, kServiceType, kPoolNameLabel, daemon, stop);
      // If the read is forbidden, the operator could not have created a Service.
      if (!services && services.error().reason != Reason::kForbidden) return Fail(services.error());
      if (services && *services) continue;
    }
    // If the spec returns to this revision before the deletion, the number of the revision is raised, which changes its
    // resourceVersion. The deletion then fails.
    const DeleteOptions options{.uid = old[i]->meta().uid, .resource_version = old[i]->meta().resource_version};
    const Status deleted = client_.Delete(kControllerRevisionType, old[i]->meta().key, options, stop);
    if (!deleted && deleted.error().reason != Reason::kNotFound && deleted.error().reason != Reason::kConflict)
      return deleted;
  }
  return {};
}

Status RevisionHistory::ClaimOrphans(const YurtAppDaemon& daemon, const std::vector<ObjectPtr>& orphans,
                                     std::stop_token stop) {
  bool confirmed = false;
  for (const ObjectPtr& orphan : orphans) {
    if (!IsNamedAndMadeFor(daemon, orphan)) continue;
    if (!confirmed) {
      YAD_TRY_VOID(ConfirmDaemon(client_, daemon.meta, stop));
      confirmed = true;
    }
    const Json patch = {{"metadata", {{"ownerReferences", Json::array({ControllerReference(daemon)})}}}};
    const auto claimed = Change(orphan->meta(), patch, stop);
    if (!claimed && claimed.error().reason != Reason::kNotFound) return Fail(claimed.error());
  }
  return {};
}

Status RevisionHistory::ClaimOpenYurtRevisions(const YurtAppDaemon& daemon, std::stop_token stop) {
  const ListOptions options{.ns = daemon.meta.key.ns,
                            .label_selector = std::string(kHashLabel) + ",!" + kOurRevisionLabel,
                            .limit = kPageLimit};
  Status claimed;
  const auto read = ForEachListed(client_, kControllerRevisionType, options, stop, [&](const JsonDocument& object) {
    const ObjectMeta meta = ParseMeta(object);
    if (!ControlledBy(meta, daemon.meta.uid) || !ContentOf(object.TreeOfObject())) return true;
    const Json patch = {{"metadata", {{"uid", meta.uid}, {"labels", {{kOurRevisionLabel, "true"}}}}}};
    auto changed = ChangeRevision(client_, meta.key, patch, stop);
    if (changed) store_.Observe(Stored(*std::move(changed)));
    if (!changed) claimed = Fail(changed.error());
    return changed.has_value();
  });
  return read ? claimed : Fail(read.error());
}

}  // namespace yad
