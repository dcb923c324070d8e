// Finds out why pools are unhealthy. Reads the pods of these pools at a limited rate.
#ifndef OPERATOR_YURTAPPDAEMON_DIAGNOSE_POD_DIAGNOSER_H_
#define OPERATOR_YURTAPPDAEMON_DIAGNOSE_POD_DIAGNOSER_H_

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/base/failure_log.h"
#include "operator/client/client.h"
#include "operator/client/rate_limiter.h"
#include "operator/yurtappdaemon/diagnose/diagnosis.h"
#include "operator/yurtappdaemon/plan/outcome.h"

namespace yad {

// Thread-safe.
class PodDiagnoser {
 public:
  PodDiagnoser(Client& client, Clock& clock) : client_(client), clock_(clock) {}

  // The record of one daemon's unhealthy pools. If it is lost, their pods are read again.
  struct Memory {
    struct Pool {
      std::string uid;                     // of the workload
      std::optional<std::uint64_t> print;  // FingerprintOf the workload's state at the last read; nullopt: not read yet
      SteadyTime last;                     // the last read, or the time at which the pool was found unhealthy
      Duration interval{0};                // from `last` to the next read
      std::optional<Diagnosis> diagnosis;
      SteadyTime Due() const { return last + interval; }
    };
    // The reads that are reserved in the request budget.
    struct Batch {
      SteadyTime at;  // the earliest time of the first read
      int pools;      // the maximum number of pools
    };
    std::map<std::string, Pool> pools;  // by name
    std::optional<Batch> batch;         // nullopt: no reads are reserved
    SteadyTime not_before{};            // after a failed or slow read: the earliest time of the next read
  };

  struct Findings {
    Diagnoses diagnoses;            // of the unhealthy pools, from this call or an earlier call
    std::optional<Duration> again;  // the time until Examine must be called again; nullopt: not before an event
  };
  // Diagnoses the unhealthy pools among `pools`. `previous` is the last status. After a failed read, the earlier
  // diagnoses stay.
  Findings Examine(const YurtAppDaemon& daemon, const std::vector<PoolOutcome>& pools, const Json& previous,
                   Memory& memory, std::stop_token stop);

 private:
  struct UnhealthyPool {
    const PoolOutcome* pool;
    Memory::Pool* known;
  };
  // Returns the unhealthy pools, sorted by the time at which their next read is due. Drops all other pools from
  // `memory`.
  std::vector<UnhealthyPool> FindUnhealthy(const std::vector<PoolOutcome>& pools, const Json& previous,
                                           Memory& memory) const;
  // Reads the pods of the pools whose next read is due, as far as the reserved batch in `memory` allows. Reserves a
  // batch if `memory` has none.
  void DiagnoseDue(const std::vector<UnhealthyPool>& unhealthy, WorkloadKind kind, Memory& memory,
                   std::stop_token stop);
  // Returns nullopt if the pods can't be read. Does not read a further page after `end`.
  std::optional<Diagnosis> DiagnosePool(const PoolOutcome& pool, WorkloadKind kind, SteadyTime end,
                                        std::stop_token stop);

  Client& client_;
  Clock& clock_;
  RateLimiter budget_{/*qps=*/5, /*burst=*/10, clock_};  // for all daemons together
  FailureLog pods_log_{"pods can't be read: status may lack the reasons why pools are not ready",
                       "pods can be read again"};
  FailureLog events_log_{"the events of pods can't be read: status may lack the reasons why pools are not ready",
                         "the events of pods can be read again"};
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_DIAGNOSE_POD_DIAGNOSER_H_
