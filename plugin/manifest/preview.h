// The writes that the operator would make. Equal changes of several pools are one Change. Pure.
#ifndef PLUGIN_MANIFEST_PREVIEW_H_
#define PLUGIN_MANIFEST_PREVIEW_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// The pools whose workloads, or Services, would change in the same way, and the change for the first of them.
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

// Returns the parts of a workload that a user controls, without the parts that its controllers and the server write.
Json Shown(Json workload);

// Replaces `word` wherever it has neither letters nor digits next to it.
std::string ReplaceWord(const std::string& text, const std::string& word, const std::string& by);

}  // namespace yad

#endif  // PLUGIN_MANIFEST_PREVIEW_H_
