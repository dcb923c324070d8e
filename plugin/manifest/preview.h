// The writes that the operator would make, where equal changes of several pools are one. Pure.
#ifndef PLUGIN_MANIFEST_PREVIEW_H_
#define PLUGIN_MANIFEST_PREVIEW_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Pools whose workloads, or Services, would change in the same way, and the change of the first of them.
struct Change {
  std::vector<std::string> pools;
  Json before;  // the live object; null: it would be created
  Json after;
};

struct Preview {
  std::vector<Change> changes;
  struct Removal {
    std::string pool, kind, name;
  };
  std::vector<Removal> removals;
  struct Failure {
    std::string pool, reason, message;
  };
  std::vector<Failure> failures;  // pools that get no workload
};

Result<Preview> MakePreview(const Snapshot& snapshot);

// Returns the parts of a workload that matter to a user, without those that its controllers and the server write.
Json Shown(Json workload);

// Replaces every occurrence of `word` that stands alone, with neither letters nor digits around it.
std::string ReplaceWord(const std::string& text, const std::string& word, const std::string& by);

}  // namespace yad

#endif  // PLUGIN_MANIFEST_PREVIEW_H_
