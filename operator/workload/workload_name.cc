#include <algorithm>

#include "operator/api/names.h"
#include "operator/workload/render.h"
#include "operator/workload/safe_encode.h"

namespace yad {
namespace {

constexpr std::size_t kHashSize = 5;

std::size_t LimitOf(WorkloadKind kind) {
  // A StatefulSet's name, a dash and a hash of up to 10 characters make a label value.
  return kind == WorkloadKind::kStatefulSet ? 52 : 63;
}

std::string PoolHash(const std::string& uid, const std::string& pool) {
  // Neither holds a slash, so no two pairs give the same text.
  std::uint64_t hash = Fnv1a64(uid + "/" + pool);
  std::string text;
  for (std::size_t i = 0; i < kHashSize; ++i, hash /= kSafeAlphabet.size())
    text += kSafeAlphabet[hash % kSafeAlphabet.size()];
  return text;
}

}  // namespace

std::string WorkloadName(const std::string& daemon_name, const std::string& daemon_uid, const std::string& pool,
                         WorkloadKind kind) {
  std::string base = daemon_name + "-" + pool;
  std::replace(base.begin(), base.end(), '.', '-');
  const std::size_t room = LimitOf(kind) - kHashSize - 1;
  if (base.size() > room) {
    const std::size_t head = room / 2;
    base = base.substr(0, head) + base.substr(base.size() - (room - head));
  }
  return base + "-" + PoolHash(daemon_uid, pool);
}

std::string RevisionLabelValue(const std::string& revision_name, const std::string& revision_hash) {
  return CheckLabelValue(revision_name).empty() ? revision_name : revision_hash;
}

}  // namespace yad
