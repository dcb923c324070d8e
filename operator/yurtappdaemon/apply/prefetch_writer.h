// Creates and deletes the DaemonSets that pull the images of updates.
#ifndef OPERATOR_YURTAPPDAEMON_APPLY_PREFETCH_WRITER_H_
#define OPERATOR_YURTAPPDAEMON_APPLY_PREFETCH_WRITER_H_

#include <cstddef>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "operator/base/error.h"
#include "operator/client/client.h"
#include "operator/runtime/informer.h"
#include "operator/yurtappdaemon/apply/image_volumes.h"
#include "operator/yurtappdaemon/plan/outcome.h"

namespace yad {

struct PrefetchOutcome {
  std::map<std::string, RejectedPrefetch> rejected;  // by name of the DaemonSet; the next plan needs them
  std::optional<Error> retry;                        // the error of a write that must be retried
  // True if the writes have shown that the server does not keep image volumes, which the plan did not know yet. So the
  // next plan does not pull images.
  bool dropped = false;
};

// Thread-safe.
class PrefetchWriter {
 public:
  // Puts the responses into the cache `prefetches`, unless it is null. `pause` is the image of the DaemonSet's
  // container, which sleeps.
  PrefetchWriter(Client& client, Informer* prefetches, ImageVolumes& support, std::string pause,
                 std::size_t parallel_writes)
      : client_(client),
        prefetches_(prefetches),
        support_(support),
        pause_(std::move(pause)),
        parallel_writes_(parallel_writes) {}

  // Creates the DaemonSets that the plan starts, unless the server drops image volumes. Deletes the DaemonSets that the
  // plan does not need, and those whose update has been written.
  PrefetchOutcome Apply(const Snapshot& snapshot, const Plan& plan, const Outcome& written, std::stop_token stop) const;

 private:
  Status Create(const Json& daemon_set, std::stop_token stop) const;

  Client& client_;
  Informer* const prefetches_;
  ImageVolumes& support_;
  const std::string pause_;
  const std::size_t parallel_writes_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_PREFETCH_WRITER_H_
