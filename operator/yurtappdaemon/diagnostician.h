// Looks at the pods of pools that are not healthy: on demand, pool by pool, seldom enough for any number of pools.
#ifndef OPERATOR_YURTAPPDAEMON_DIAGNOSTICIAN_H_
#define OPERATOR_YURTAPPDAEMON_DIAGNOSTICIAN_H_

#include <atomic>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/yurtappdaemon/diagnosis.h"
#include "operator/yurtappdaemon/status.h"
#include "operator/yurtappdaemon/turns.h"

namespace yad {

// Thread-safe.
class Diagnostician {
 public:
  Diagnostician(Client& client, Clock& clock) : client_(client), clock_(clock), turns_(clock) {}

  // What is remembered of one daemon's pools that are not healthy. Losing it costs requests.
  class Memory {
   private:
    friend class Diagnostician;
    struct Pool {
      std::string uid;          // the workload's
      std::uint64_t print = 0;  // of the workload's state at the last look
      bool looked = false;
      SteadyTime last;       // look, or when it was found not healthy
      Duration interval{0};  // from there to the next
      std::optional<Diagnosis> diagnosis;
      SteadyTime Due() const { return last + interval; }
    };
    struct Turn {
      SteadyTime at;
      int pools;
    };
    std::map<std::string, Pool> pools_;  // by name
    std::optional<Turn> turn_;           // taken and not used yet
    SteadyTime not_before_{};            // after a read that failed
  };

  struct Answer {
    Diagnoses diagnoses;            // of the pools that are not healthy, old ones too
    std::optional<Duration> again;  // when to ask again, though nothing happens
  };
  // `pools` after the plan's writes; `previous` is the status that was shown last. A read that fails leaves what was
  // known: no reason for anything else to wait.
  Answer Examine(const YurtAppDaemon& daemon, const std::vector<PoolResult>& pools, const Json& previous,
                 Memory& memory, std::stop_token stop);

 private:
  struct Unwell {
    const PoolResult* pool;
    Memory::Pool* known;
  };
  // The pools that are not healthy, who has waited longest for a look first. What is remembered of others is dropped.
  std::vector<Unwell> Admit(const std::vector<PoolResult>& pools, const Json& previous, Memory& memory) const;
  // Looks at those whose time it is, as far as this daemon's turn allows.
  void LookAtDue(const std::vector<Unwell>& unwell, WorkloadKind kind, Memory& memory, std::stop_token stop);
  // nullopt: the pods could not be read.
  std::optional<Diagnosis> Look(const PoolResult& pool, WorkloadKind kind, std::stop_token stop);
  Result<std::vector<Json>> EventsAbout(const std::string& ns, const std::string& uid, std::stop_token stop);
  // Says once that pods can't be read, and once that they can again.
  void Tell(std::atomic<bool>& failing, const char* what, const Status& read);

  Client& client_;
  Clock& clock_;
  Turns turns_;
  std::atomic<bool> pods_fail_{false};
  std::atomic<bool> events_fail_{false};
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_DIAGNOSTICIAN_H_
