#include "plugin/revision_of.h"

#include <algorithm>

#include "operator/workload/render.h"

namespace yad {

RevisionPtr RevisionOf(const YurtAppDaemon& daemon, const std::vector<RevisionPtr>& known) {
  auto made = std::make_shared<Revision>();
  made->content = ContentOf(daemon);
  RevisionPtr newest;
  for (const RevisionPtr& revision : known) {
    made->number = std::max(made->number, revision->number);
    const bool same = revision->content.kind == daemon.kind && revision->content.digest == made->content.digest;
    if (same && (newest == nullptr || revision->number >= newest->number)) newest = revision;
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
