#include "operator/capacity/node_rejections.h"

#include <algorithm>
#include <utility>

namespace yad {
namespace {

constexpr Duration kTryRejectedAgain = std::chrono::minutes(10);
constexpr Duration kCompleteReleases = std::chrono::minutes(1);
constexpr int kMany = 3;

}  // namespace

void NodeRejections::SetGeneration(std::int64_t generation) {
  if (std::exchange(generation_, generation) != generation) nodes_.clear();
}

void NodeRejections::Expire(SteadyTime now) {
  std::erase_if(nodes_, [&](const auto& node) { return now - node.second.at >= kTryRejectedAgain; });
}

bool NodeRejections::Add(const std::string& uid, SteadyTime now, std::string message) {
  return nodes_.try_emplace(uid, Rejected{now, std::move(message)}).second;
}

void NodeRejections::Accept() {
  for (auto& [uid, rejected] : nodes_) rejected.in_a_row = false;
}

bool NodeRejections::MayComplete(const std::string& uid, SteadyTime now) const {
  const auto found = nodes_.find(uid);
  return found == nodes_.end() || now - found->second.at < kCompleteReleases;
}

bool NodeRejections::AreMany() const {
  return std::count_if(nodes_.begin(), nodes_.end(), [](const auto& node) { return node.second.in_a_row; }) >= kMany;
}

const NodeRejections::Rejected* NodeRejections::Last() const {
  const Rejected* last = nullptr;
  for (const auto& [uid, rejected] : nodes_) {
    if (rejected.in_a_row && (last == nullptr || last->at < rejected.at)) last = &rejected;
  }
  return last;
}

}  // namespace yad
