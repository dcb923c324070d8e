#include <algorithm>

#include "operator/api/names.h"
#include "operator/workload/render.h"
#include "operator/workload/safe_encode.h"

namespace yad {
namespace {

constexpr std::size_t kHashSize = 5;
// The size of the hash in a name whose middle is removed. The names of thousands of numbered sites may differ only in
// the middle. Then only the hash distinguishes them, and 5 characters are too few.
constexpr std::size_t kLongHashSize = 10;

std::size_t LimitOf(WorkloadKind kind) {
  // The StatefulSet's name, a dash and a hash of up to 10 characters must fit into a label value.
  return kind == WorkloadKind::kStatefulSet ? 52 : 63;
}

// Returns the part of the name before the hash, including the dash. Removes the middle if the hash would not fit.
std::string Prefix(const std::string& daemon_name, const std::string& pool, WorkloadKind kind, std::size_t hash_size) {
  std::string base = daemon_name + "-" + pool;
  std::replace(base.begin(), base.end(), '.', '-');
  return WithoutMiddle(base, LimitOf(kind) - hash_size - 1) + "-";
}

std::size_t HashSize(const std::string& daemon_name, const std::string& pool, WorkloadKind kind) {
  const std::size_t whole = daemon_name.size() + 1 + pool.size();
  return whole + 1 + kHashSize > LimitOf(kind) ? kLongHashSize : kHashSize;
}

std::string PoolHash(const std::string& uid, const std::string& pool, std::size_t size) {
  // Neither the uid nor the name of a pool contains a slash, so different inputs result in different strings.
  return SafeEncode(Fnv1a64(uid + "/" + pool), size);
}

}  // namespace

std::string WorkloadName(const std::string& daemon_name, const std::string& daemon_uid, const std::string& pool,
                         WorkloadKind kind) {
  const std::size_t hash_size = HashSize(daemon_name, pool, kind);
  return Prefix(daemon_name, pool, kind, hash_size) + PoolHash(daemon_uid, pool, hash_size);
}

std::string NameOfOlderVersion(const std::string& daemon_name, const std::string& daemon_uid, const std::string& pool,
                               WorkloadKind kind) {
  return Prefix(daemon_name, pool, kind, kHashSize) + PoolHash(daemon_uid, pool, kHashSize);
}

bool IsNamedFor(const std::string& workload_name, const std::string& daemon_name, const std::string& pool,
                WorkloadKind kind) {
  // OpenYurt creates workloads with generateName. The apiserver truncates it to this length, and appends 5 random
  // characters.
  constexpr std::size_t kMaxGenerateName = 58;
  const std::string generate_name = (daemon_name + "-" + pool + "-").substr(0, kMaxGenerateName);
  return workload_name.starts_with(Prefix(daemon_name, pool, kind, HashSize(daemon_name, pool, kind))) ||
         workload_name.starts_with(Prefix(daemon_name, pool, kind, kHashSize)) ||
         workload_name.starts_with(generate_name);
}

std::string RevisionLabelValue(const std::string& revision_name, const std::string& revision_hash) {
  return CheckLabelValue(revision_name).empty() ? revision_name : revision_hash;
}

}  // namespace yad
