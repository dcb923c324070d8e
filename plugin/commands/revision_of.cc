#include "plugin/commands/revision_of.h"

#include <algorithm>

#include "operator/workload/render.h"

namespace yad {

RevisionPtr RevisionOf(const YurtAppDaemon& daemon, const std::vector<RevisionPtr>& known) {
  auto made = std::make_shared<Revision>();
  made->content = ContentOf(daemon);
  // SameContent ignores an imagePullPolicy that OpenYurt has added to a stored revision. So several revisions may
  // match. As in the operator, the newest revision with exactly the same content is used. Otherwise, the newest other
  // match is used.
  RevisionPtr newest;
  bool newest_is_exact = false;
  for (const RevisionPtr& revision : known) {
    made->number = std::max(made->number, revision->number);
    if (!SameContent(made->content, revision->content)) continue;
    const bool exact = revision->content.digest == made->content.digest;
    const bool better = exact == newest_is_exact ? newest == nullptr || revision->number >= newest->number : exact;
    if (!better) continue;
    newest = revision;
    newest_is_exact = exact;
  }
  if (newest != nullptr) return newest;
  ++made->number;
  const auto taken = [&] {
    return std::any_of(known.begin(), known.end(), [&](const RevisionPtr& r) { return r->name == made->name; });
  };
  std::int64_t collisions = IntAt(daemon.status, {"collisionCount"});
  do {
    made->hash = RevisionHash(made->content, collisions++);
    made->name = RevisionName(daemon.meta.key.name, made->hash);
  } while (taken());
  made->label = RevisionLabelValue(made->name, made->hash);
  return made;
}

}  // namespace yad
