// The record of a pool's last update: when and how a RollingUpdate gave the workload its revision. The update itself
// writes the record, as an annotation of the workload, so that a new leader can read it.
#ifndef OPERATOR_YURTAPPDAEMON_ROLLOUT_UPDATE_RECORD_H_
#define OPERATOR_YURTAPPDAEMON_ROLLOUT_UPDATE_RECORD_H_

#include <optional>
#include <string>

#include "operator/api/object.h"
#include "operator/base/clock.h"

namespace yad {

// Annotation kUpdateRecordAnnotation: {"at":"2026-11-23T10:00:00Z","joining":true,"online":true,"revision":"web-5c9d"}.
struct UpdateRecord {
  std::string revision;  // the value of the workload's kRevisionLabel; if the label has changed, the record is outdated
  WallTime at;           // the time of the write that changed the pods, in whole seconds
  bool online = false;   // the pool had a ready node
  bool created = false;  // the write created the workload, so its checks do not run
  bool joining = false;  // the write created the workload when its pool was first selected
  // The value of the label at the write that changed the pods; "": `revision`. A later write that changes no pods, for
  // instance only the replicas, may change the label.
  std::string pods_revision = {};

  bool operator==(const UpdateRecord&) const = default;
  std::string ToAnnotation() const;
};

// Returns the record of a workload's present revision. Returns nullopt if there is no record, if it is malformed, or if
// it is about another revision.
std::optional<UpdateRecord> UpdateRecordOf(const ObjectMeta& workload);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_ROLLOUT_UPDATE_RECORD_H_
