// Dry runs (dryRun=All) of the workloads of a YurtAppDaemon. The cluster's own apiserver validates the workloads, so
// the result includes its defaults, quotas and other policies.
#ifndef WEBHOOK_ADMISSION_DRY_RUN_H_
#define WEBHOOK_ADMISSION_DRY_RUN_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/byte_budget.h"
#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/yurtappdaemon/plan/plan.h"
#include "webhook/admission/acceptance_cache.h"
#include "webhook/admission/admission_stores.h"
#include "webhook/admission/deadline.h"
#include "webhook/admission/rendered_workloads.h"

namespace yad {

struct Findings {
  std::vector<Cause> rejections;  // the fields are paths in the YurtAppDaemon; no duplicates
  std::vector<std::string> warnings;
};

// The result of the dry run of one object.
struct TrialResult {
  std::vector<Cause> causes;  // the errors; empty if the object is not rejected
  std::vector<std::string> warnings;
  enum class Known { kNothing, kOverrides, kAll };
  Known known = Known::kAll;  // the kinds of errors that are known; kOverrides: only errors in overrides
};

// Limits the memory for all dry runs in this process: the maximum size of their workloads as encoded JSON, in bytes. (A
// tree of Json takes about ten times as much, and a merge needs several trees.) The reconciler's writes have their own
// budget (PlanExecutor), so dry runs never block them.
inline constexpr std::size_t kDryRunText = 4u << 20;

// Thread-safe. The constructor's arguments must outlive this object.
class DryRun {
 public:
  // `text` is a budget of kDryRunText bytes.
  DryRun(Client& client, const AdmissionStores& stores, Clock& clock, ByteBudget& text);

  // Sends the workloads of the daemon to the apiserver as dry runs, until `deadline`. Sends at most 16 different
  // workloads, up to 8 in parallel. Skips workloads that the apiserver has accepted recently (AcceptanceCache).
  //
  // A new workload is sent by POST. An existing workload is merged with the new template and sent by PUT without
  // resourceVersion. If a template is too large to be stored, nothing is sent. The results are:
  // - A 422, a workload that the apiserver can't decode, or a workload that can't be rendered is a rejection. It is
  //   only a warning if the dry run of `before` (null: a new object) has the same error or no result.
  // - If the cache does not have the revision from which the workload was rendered, the merge may keep values that the
  //   operator's write removes. The apiserver's errors are then only warnings.
  // - A 403 or a Warning header is a warning. A workload that is forbidden now (a quota, Pod Security) may be allowed
  //   later, and the daemon's status reports it.
  // - Any other response, or no response in time, has no effect.
  Findings Try(const YurtAppDaemon& daemon, const YurtAppDaemon* before, Deadline& deadline);

 private:
  // Returns the result for one workload. `plan` is rendered.plan for the new spec, or rendered.before for the old
  // spec. Returns nullopt if the result is not in the cache and `may_send` is false.
  std::optional<TrialResult> TryOne(const YurtAppDaemon& daemon, const RenderedWorkload& rendered, const PoolPlan& plan,
                                    Deadline& deadline, bool may_send);
  TrialResult Send(const YurtAppDaemon& daemon, const PoolPlan& plan, const Json& workload, const std::string& digest,
                   std::stop_token stop);

  Client& client_;
  const AdmissionStores stores_;
  ByteBudget& text_;
  AcceptanceCache accepted_;
};

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_DRY_RUN_H_
