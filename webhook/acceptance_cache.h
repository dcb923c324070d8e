// What the cluster has accepted lately, by content, so that asking again costs nothing.
//
// The same content comes often within a short time: `kubectl diff`, then `kubectl apply`; a pipeline that tries before
// it writes; a GitOps controller that compares by a dry run every few minutes; a retry after a conflict. Only
// acceptances are kept: a refusal must end as soon as its cause ends. And not for long: quotas, policies and the
// cluster's version change.
#ifndef WEBHOOK_ACCEPTANCE_CACHE_H_
#define WEBHOOK_ACCEPTANCE_CACHE_H_

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/clock.h"
#include "operator/base/guarded.h"

namespace yad {

// Thread-safe.
class AcceptanceCache {
 public:
  explicit AcceptanceCache(Clock& clock, std::size_t capacity = 1024, Duration lifetime = std::chrono::minutes(2))
      : clock_(clock), capacity_(capacity), lifetime_(lifetime) {}

  // SHA-256: nobody can make up another content that counts as accepted.
  static std::string Digest(const std::string& content);

  // The warnings that came with the acceptance; nullopt: not known to be accepted.
  std::optional<std::vector<std::string>> Find(const std::string& digest) const;
  void Put(const std::string& digest, std::vector<std::string> warnings);

 private:
  struct Entry {
    SteadyTime until;
    std::vector<std::string> warnings;
  };
  struct State {
    std::map<std::string, Entry> entries;
    std::deque<std::string> by_age;  // the oldest first; each once
  };

  Clock& clock_;
  const std::size_t capacity_;
  const Duration lifetime_;
  Guarded<State> state_;
};

}  // namespace yad

#endif  // WEBHOOK_ACCEPTANCE_CACHE_H_
