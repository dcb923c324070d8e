// Finds out with a dry run whether the server keeps image volumes. The server's version does not show whether it keeps
// them, because a feature gate can disable them.
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

  // Returns the last result. kDropped expires after ten minutes, and is then kUnknown.
  ImageVolumeSupport Known() const;
  // Returns the last result if it is known. Otherwise, creates this DaemonSet (MakePrefetch) as a dry run, and returns
  // the result of LearnFrom. Fails if the server rejects the DaemonSet for a reason other than its volumes.
  Result<ImageVolumeSupport> Find(const Json& daemon_set, std::stop_token stop);
  // Records whether the server keeps or drops image volumes, if the response to the creation of a DaemonSet shows it.
  // Returns kUnknown if the response does not show it.
  ImageVolumeSupport LearnFrom(const Result<Json>& created);

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
