// What the operator would write, told once for all pools alike. Pure.
#ifndef PLUGIN_PREVIEW_H_
#define PLUGIN_PREVIEW_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/yurtappdaemon/snapshot.h"

namespace yad {

// Pools whose workloads, or Services, would change in the same way, and that of the first of them.
struct Change {
  std::vector<std::string> pools;
  Json before;  // as it is now; null: it would be created
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

// What a person has to see of a workload: without what its controllers and the server write by themselves.
Json Shown(Json workload);

// Every occurrence of `word` replaced that stands alone: neither letters nor digits around it.
std::string ReplaceWord(const std::string& text, const std::string& word, const std::string& by);

}  // namespace yad

#endif  // PLUGIN_PREVIEW_H_
