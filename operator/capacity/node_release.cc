#include "operator/capacity/node_release.h"

#include <algorithm>

#include "operator/api/pod.h"
#include "operator/api/well_known.h"
#include "operator/runtime/paged_list.h"

namespace yad {
namespace {

constexpr Duration kBetweenReads = std::chrono::seconds(30);

}  // namespace

Result<bool> RunsPods(Client& client, const std::string& node, std::stop_token stop) {
  const ListOptions options{.field_selector = "spec.nodeName=" + node, .limit = kPageLimit};
  bool runs = false;
  YAD_TRY_VOID(ForEachListed(client, kPodType, options, stop, [&](const JsonDocument& object) {
    const Pod pod = ParsePod(object.TreeOfObject());
    runs = !pod.terminal && !pod.of_node;
    return !runs;
  }));
  return runs;
}

Result<NodeRelease::Verdict> NodeRelease::Check(const std::string& node, const std::string& uid, std::stop_token stop) {
  const auto first = empty_since_.find(uid);
  const SteadyTime now = clock_.Now();
  if (first != empty_since_.end() && now - first->second < kBetweenReads) return Verdict::kWaiting;
  YAD_TRY(const bool in_use, RunsPods(client_, node, stop));
  if (in_use) {
    empty_since_.erase(uid);
    return Verdict::kInUse;
  }
  if (first != empty_since_.end()) return Verdict::kEmpty;
  empty_since_.emplace(uid, now);
  return Verdict::kWaiting;
}

void NodeRelease::Keep(const std::set<std::string>& uids) {
  std::erase_if(empty_since_, [&](const auto& entry) { return !uids.contains(entry.first); });
}

std::optional<Duration> NodeRelease::Due() const {
  std::optional<Duration> due;
  for (const auto& [uid, since] : empty_since_) {
    const Duration left = std::max(since + kBetweenReads - clock_.Now(), Duration::zero());
    due = due ? std::min(*due, left) : left;
  }
  return due;
}

}  // namespace yad
