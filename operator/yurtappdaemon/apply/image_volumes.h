// Finds out whether the server keeps image volumes. A dry run shows it, and not the version of the server, because a
// feature gate decides.
#ifndef OPERATOR_YURTAPPDAEMON_APPLY_IMAGE_VOLUMES_H_
#define OPERATOR_YURTAPPDAEMON_APPLY_IMAGE_VOLUMES_H_

#include <stop_token>

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/base/synchronized.h"
#include "operator/client/client.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Thread-safe.
class ImageVolumes {
 public:
  ImageVolumes(Client& client, Clock& clock) : client_(client), clock_(clock) {}

  // Returns the last result. If the server dropped image volumes some minutes ago, the result is unknown again.
  ImageVolumeSupport Known() const;
  // Returns the result, after a dry run with this DaemonSet (MakePrefetch) if the result is unknown. Fails if the
  // server rejects the DaemonSet for another reason.
  Result<ImageVolumeSupport> Find(const Json& daemon_set, std::stop_token stop);
  // Records the answer to a POST of a DaemonSet.
  void Note(const Result<Json>& created);

 private:
  struct Finding {
    ImageVolumeSupport support;
    SteadyTime at;
  };

  Client& client_;
  Clock& clock_;
  Synchronized<Finding> finding_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_IMAGE_VOLUMES_H_
