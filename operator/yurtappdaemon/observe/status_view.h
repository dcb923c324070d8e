// Reads the status of a YurtAppDaemon. A value of a wrong type counts as absent: the plugin also reads status from
// files, which no CRD has validated.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_STATUS_VIEW_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_STATUS_VIEW_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"

namespace yad {

// Types of the conditions in the status.
inline constexpr char kReadyCondition[] = "Ready";
inline constexpr char kCompleteCondition[] = "Complete";
inline constexpr char kProgressingCondition[] = "Progressing";
inline constexpr char kReconcilingCondition[] = "Reconciling";
inline constexpr char kStalledCondition[] = "Stalled";
inline constexpr char kRemovalBlockedCondition[] = "RemovalBlocked";

// One entry of `status.pools`. Points into the status. A field that the entry lacks is "", 0 or WallTime().
class PoolStatusView {
 public:
  explicit PoolStatusView(const Json& entry) : entry_(&entry) {}
  explicit PoolStatusView(Json&&) = delete;  // a temporary would not outlive the view

  std::string_view name() const { return Text("name"); }
  PoolPhase phase() const { return ParsePoolPhase(phase_text()); }
  std::string_view phase_text() const { return Text("phase"); }  // a later version may have written another phase
  std::string_view reason() const { return Text("reason"); }
  std::string_view message() const { return Text("message"); }
  std::string_view waiting_for() const { return Text("waitingFor"); }
  std::string_view revision() const { return Text("revision"); }
  std::string_view state() const { return Text("state"); }
  std::string_view workload() const { return Text("workload"); }  // the workload's name
  std::string_view service() const { return Text("service"); }    // the Service's name
  std::string_view last_transition_text() const { return Text("lastTransitionTime"); }
  WallTime last_transition() const { return Time("lastTransitionTime"); }
  WallTime healthy_since() const { return Time("healthySince"); }
  std::int64_t replicas() const { return Number("replicas"); }
  std::int64_t ready_replicas() const { return Number("readyReplicas"); }
  std::int64_t misplaced_replicas() const { return Number("misplacedReplicas"); }
  std::int64_t scaled_from() const { return Number("scaledFrom"); }
  std::string_view check() const { return Text("check"); }  // the check's name
  WallTime check_started() const { return Time("checkStartedAt"); }
  std::int64_t check_failures() const { return Number("checkFailures"); }
  std::int64_t unhealthy_seconds() const { return Number("unhealthySeconds"); }
  bool joining() const { return BoolAt(*entry_, {"joining"}); }

  const Json& json() const { return *entry_; }  // the whole entry

 private:
  std::string_view Text(std::string_view key) const;
  std::int64_t Number(std::string_view key) const { return IntAt(*entry_, {key}); }
  WallTime Time(std::string_view key) const { return ParseTime(std::string(Text(key))); }

  const Json* entry_;
};

// The status of one daemon. Points into the status.
class StatusView {
 public:
  explicit StatusView(const Json& status) : status_(&status) {}
  explicit StatusView(Json&&) = delete;  // a temporary would not outlive the view

  // Returns whether this operator wrote the status. The status of OpenYurt has no updateRevision.
  bool is_ours() const { return Find(*status_, {"updateRevision"}) != nullptr; }
  bool is_empty() const;
  std::string current_revision() const { return StringAt(*status_, {"currentRevision"}); }
  std::string update_revision() const { return StringAt(*status_, {"updateRevision"}); }
  std::string completed_revision() const { return StringAt(*status_, {"completedRevision"}); }
  bool pools_truncated() const { return BoolAt(*status_, {"poolsTruncated"}); }  // `pools` is only a part of the pools
  // The next two functions describe the pools that a truncated list omits. A complete list ends with the Offline pools
  // of reason NoReadyNode, followed by the Ready pools (ListRank in report/status.cc). So the last entry of a truncated
  // list shows which phases the omitted pools can have.
  bool unlisted_were_ready() const;   // true if all omitted pools were Ready
  bool unlisted_have_soaked() const;  // true if all omitted pools were Ready, or Offline with reason NoReadyNode
  // Returns the groups whose update to `revision` had begun.
  std::set<std::string> BegunGroups(std::string_view revision) const;
  // Returns whether the status was last written by an operator version that does not know condition Complete. If a
  // newer version had set the condition before, the older version keeps the condition with its old observedGeneration.
  bool of_older_version() const;
  std::vector<PoolStatusView> pools() const;

 private:
  std::optional<PoolStatusView> LastOfTruncated() const;

  const Json* status_;
};

// The entries of `status.pools` by name. Points into the status.
class PoolStatusIndex {
 public:
  explicit PoolStatusIndex(const StatusView& status);
  const PoolStatusView* Find(std::string_view pool) const;  // nullptr: not listed

 private:
  std::unordered_map<std::string_view, PoolStatusView> entries_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_STATUS_VIEW_H_
