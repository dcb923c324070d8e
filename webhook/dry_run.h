// The cluster's own word on what a YurtAppDaemon would make: its workloads, sent with dryRun=All, so that the
// apiserver's validation and defaults, quotas and other people's policies speak, for whatever Kubernetes version it is.
#ifndef WEBHOOK_DRY_RUN_H_
#define WEBHOOK_DRY_RUN_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/byte_budget.h"
#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/yurtappdaemon/plan.h"
#include "webhook/acceptance_cache.h"
#include "webhook/admission_handler.h"
#include "webhook/deadline.h"
#include "webhook/renderings.h"

namespace yad {

struct Findings {
  std::vector<Cause> refusals;  // in the daemon's own paths, each once
  std::vector<std::string> warnings;
};

// The text that all dry runs of the process render, merge and send at once: a tree of Json takes some ten times its
// text, and a merge several trees. The reconciler's writers have a budget of their own (PlanExecutor::Options::text),
// so that dry runs which an apiserver is slow to answer never block them.
inline constexpr std::size_t kDryRunText = 4u << 20;

// Thread-safe. What it is given must outlive it.
class DryRun {
 public:
  // `text`: see kDryRunText.
  DryRun(Client& client, const AdmissionStores& stores, Clock& clock, ByteBudget& text);

  // Asks about at most 16 distinct renderings, side by side, until `deadline`; about none that was accepted lately. A
  // new workload is sent by POST; for one that exists, the merge by PUT without resourceVersion.
  // - 422, and a workload that can't be decoded, refuses; unless the spec `before` (null: there is none) is refused for
  //   the same: then it is a warning.
  // - 403 and Warning headers are warnings: what is forbidden now (a quota, Pod Security) may be allowed later, and the
  //   daemon's status will say so.
  // - Everything else, no answer in time included, says nothing. Of a template too large to be stored nothing is asked.
  Findings Ask(const YurtAppDaemon& daemon, const YurtAppDaemon* before, Deadline& deadline);

 private:
  struct Answer {
    std::vector<Cause> causes;  // why it is refused; none: it is not
    std::vector<std::string> warnings;
  };
  // Where it may not send, nullopt says that it would have to.
  std::optional<Answer> AskOne(const YurtAppDaemon& daemon, const PoolPlan& plan, Deadline& deadline, bool may_send);
  Answer Send(const YurtAppDaemon& daemon, const PoolPlan& plan, const Json& workload, const std::string& digest,
              std::stop_token stop);

  Client& client_;
  const AdmissionStores stores_;
  ByteBudget& text_;
  AcceptanceCache accepted_;
};

}  // namespace yad

#endif  // WEBHOOK_DRY_RUN_H_
