// Builds the Job that runs a check in one pool.
#ifndef OPERATOR_WORKLOAD_CHECK_JOB_H_
#define OPERATOR_WORKLOAD_CHECK_JOB_H_

#include <cstdint>
#include <string>

#include "operator/api/check.h"
#include "operator/api/nodepool.h"
#include "operator/api/yurtappdaemon.h"
#include "operator/base/clock.h"
#include "operator/base/error.h"

namespace yad {

// An update of one pool to a revision, which the Job checks.
struct CheckedUpdate {
  std::string pool;
  std::string revision_label;  // the value of kRevisionLabel
  WallTime at;                 // the time of the update
};

// Returns a digest of the check's spec.
std::uint64_t CheckJobDigest(const Check& check);
// Returns the name of the Job, `<yurtappdaemon>-<check>-<hash>`, with at most 63 characters. The name stays the same
// for one update, so a retried POST does not create a second Job. If the check changes, its `digest` (see
// CheckJobDigest) changes the name, and the check runs again.
std::string CheckJobName(const YurtAppDaemon& daemon, const Check& check, std::uint64_t digest,
                         const CheckedUpdate& update);
// Returns the Job for a POST: the spec of the check, with {{nodepool-name}} and {{nodepool}} replaced. Its pods run in
// the pool, with restartPolicy Never if the spec does not set restartPolicy. The daemon is its controller. Fails with
// kInvalid if a value in the spec has a wrong type.
Result<Json> MakeCheckJob(const YurtAppDaemon& daemon, const Check& check, const NodePool& pool,
                          const std::string& revision_label, const std::string& name);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_CHECK_JOB_H_
