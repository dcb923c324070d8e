// A cache of the dry runs that the cluster has accepted recently, so that the webhook does not send them again. The
// same content often arrives twice within a short time, for example with `kubectl diff` and then with `kubectl apply`.
// - The cache stores no rejections: a request must succeed as soon as the cause of its rejection is gone.
// - An acceptance expires after a short time, because quotas, policies and the version of the cluster change.
#ifndef WEBHOOK_ADMISSION_ACCEPTANCE_CACHE_H_
#define WEBHOOK_ADMISSION_ACCEPTANCE_CACHE_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/clock.h"
#include "operator/base/synchronized.h"

namespace yad {

// Thread-safe.
class AcceptanceCache {
 public:
  explicit AcceptanceCache(Clock& clock, std::size_t capacity = 1024, Duration lifetime = std::chrono::minutes(2))
      : clock_(clock), capacity_(capacity), lifetime_(lifetime) {}

  // Returns the SHA-256 of `content`. With a weaker hash, a client could construct content that has the digest of
  // accepted content.
  static std::string Digest(const std::string& content);

  // Returns the warnings that the apiserver sent when it accepted this content; nullopt if the content is not in the
  // cache.
  std::optional<std::vector<std::string>> Find(const std::string& digest) const;
  void Put(const std::string& digest, std::vector<std::string> warnings);

 private:
  struct Entry {
    SteadyTime until;
    std::vector<std::string> warnings;
  };
  using Entries = std::map<std::string, Entry>;  // by digest

  Clock& clock_;
  const std::size_t capacity_;
  const Duration lifetime_;
  Synchronized<Entries> entries_;
};

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_ACCEPTANCE_CACHE_H_
