// Time zones of the system's database, by their IANA names.
#ifndef OPERATOR_BASE_TIME_ZONE_H_
#define OPERATOR_BASE_TIME_ZONE_H_

#include <chrono>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/error.h"

namespace date {
class time_zone;
}

namespace yad {

// One time zone. Thread-safe, and cheap to copy.
class TimeZone {
 public:
  // The zone "UTC" needs no database. Fails with kInvalid if the database has no such zone, and with kInternalError if
  // there is no database, or if the zone's file is damaged. If the database is installed after a failed call, the next
  // call finds it.
  static Result<TimeZone> Find(const std::string& name);

  // Returns the local date at `time`, in days since 1970-01-01.
  std::chrono::days DateOf(WallTime time) const;
  // Returns the instant at which a local clock shows `time_of_day` on `date`. If it shows that time twice, because the
  // clock is set back, the first instant counts. If it never does, because the clock is set forward, the instant of the
  // change counts.
  WallTime InstantOf(std::chrono::days date, std::chrono::minutes time_of_day) const;
  // Returns the local time, such as "Wed 22:00".
  std::string Show(WallTime time) const;

 private:
  explicit TimeZone(const date::time_zone* zone) : zone_(zone) {}

  const date::time_zone* zone_;  // nullptr: UTC. The database is never unloaded.
};

}  // namespace yad

#endif  // OPERATOR_BASE_TIME_ZONE_H_
