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
#include "webhook/admission/renderings.h"

namespace yad {

struct Findings {
  std::vector<Cause> rejections;  // their fields are paths in the YurtAppDaemon; no duplicates
  std::vector<std::string> warnings;
};

// Limits the memory for all dry runs that are in progress in this process: the maximum size of their workloads as JSON
// text, in bytes. A tree of Json takes about ten times the memory of its text, and a merge needs several trees. The
// reconciler's writes have their own budget (PlanExecutor::Options::text), so dry runs never block them.
inline constexpr std::size_t kDryRunText = 4u << 20;

// Thread-safe. The constructor's arguments must outlive it.
class DryRun {
 public:
  // `text` is a budget of kDryRunText bytes.
  DryRun(Client& client, const AdmissionStores& stores, Clock& clock, ByteBudget& text);

  // Sends at most 16 different workloads of the daemon to the apiserver, up to 8 in parallel, until `deadline`. Skips
  // workloads that the apiserver has accepted recently (AcceptanceCache). Uses POST for a new workload. If the workload
  // exists, merges it with the new template and uses PUT without resourceVersion.
  // - A 422, a workload that the apiserver can't decode, and a failed rendering are rejections. A fault is only a
  //   warning if the spec of `before` (null: a new object) has it too, or if the dry run of `before` has no result.
  // - A 403 and Warning headers are warnings. A workload that is forbidden now (a quota, Pod Security) may be allowed
  //   later, and the daemon's status reports it.
  // - Any other response, and a response that does not arrive in time, has no effect.
  // - If a template is too large to be stored, nothing is sent.
  Findings Ask(const YurtAppDaemon& daemon, const YurtAppDaemon* before, Deadline& deadline);

 private:
  struct Answer {
    std::vector<Cause> causes;  // the faults; empty if the workload is not rejected
    std::vector<std::string> warnings;
    enum class Known { kNothing, kRendering, kAll };
    Known known = Known::kAll;  // the kinds of faults that are known; kRendering: only those of overrides
  };
  // Returns whether the rendering that got this answer has the fault, or may have it because the answer is incomplete.
  static bool MayHave(const Answer& answer, const Cause& cause);
  // Returns the result for one rendering; nullopt if the result needs a request and `may_send` is false.
  std::optional<Answer> AskOne(const YurtAppDaemon& daemon, const PoolPlan& plan, Deadline& deadline, bool may_send);
  Answer Send(const YurtAppDaemon& daemon, const PoolPlan& plan, const Json& workload, const std::string& digest,
              std::stop_token stop);

  Client& client_;
  const AdmissionStores stores_;
  ByteBudget& text_;
  AcceptanceCache accepted_;
};

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_DRY_RUN_H_
