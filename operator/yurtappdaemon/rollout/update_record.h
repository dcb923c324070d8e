// The record of a pool's last update: when and how a RollingUpdate gave the workload its current revision. The write of
// the workload stores the record in an annotation, so that a new leader can read it.
#ifndef OPERATOR_YURTAPPDAEMON_ROLLOUT_UPDATE_RECORD_H_
#define OPERATOR_YURTAPPDAEMON_ROLLOUT_UPDATE_RECORD_H_

#include <optional>
#include <string>

#include "operator/api/object.h"
#include "operator/base/clock.h"

namespace yad {

// Annotation kUpdateRecordAnnotation: {"at":"2026-11-23T10:00:00Z","joining":true,"online":true,"revision":"web-5c9d"}.
struct UpdateRecord {
  std::string revision;  // the workload's kRevisionLabel; the record is outdated if the label differs
  WallTime at;           // the time of the write that changed the pods, in whole seconds
  bool online = false;   // the pool had a ready node at that time
  bool created = false;  // the write created the workload, so its checks do not run
  bool joining = false;  // the write created the workload when its pool was first selected
  // The revision label that the workload had when its pods changed last; "" if it is equal to `revision`. The label may
  // also change in a write that does not change the pods, such as a change of only the replicas.
  std::string pods_revision = {};

  bool operator==(const UpdateRecord&) const = default;
  std::string ToAnnotation() const;
};

// Returns the record in the workload's annotation, or nullopt if it is missing, malformed, or about another revision
// than the workload's kRevisionLabel.
std::optional<UpdateRecord> UpdateRecordOf(const ObjectMeta& workload);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_ROLLOUT_UPDATE_RECORD_H_
