// Shows the writes that the operator would make. If several pools have the same change, they share one Change. Pure.
#ifndef PLUGIN_MANIFEST_PREVIEW_H_
#define PLUGIN_MANIFEST_PREVIEW_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// A change that is the same in all of `pools`. `before` and `after` are the workload or Service of the first pool.
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
  std::vector<Failure> failures;  // pools whose workload would not be written, because of an error
};

Result<Preview> MakePreview(const Snapshot& snapshot);

// Returns the parts of a workload that users control. Omits the parts that controllers and the server write.
Json Shown(Json workload);

// Replaces `word` where it is a whole word, which means that no letter or digit is next to it.
std::string ReplaceWord(const std::string& text, const std::string& word, const std::string& by);

}  // namespace yad

#endif  // PLUGIN_MANIFEST_PREVIEW_H_
