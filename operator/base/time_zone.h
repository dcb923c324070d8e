// Time zones of the system's time zone database, by their IANA names.
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

// A time zone. Thread-safe, and cheap to copy.
class TimeZone {
 public:
  // Finds a zone by its name. "UTC" does not need the database.
  // - Fails with kInvalid if the database does not have the zone.
  // - Fails with kInternalError if the database does not exist (yet), or if the zone's file is damaged or lacks later
  //   clock changes. A retry succeeds after the database has been installed.
  static Result<TimeZone> Find(const std::string& name);

  // Returns the local date at `time`, in days since 1970-01-01.
  std::chrono::days DateOf(WallTime time) const;
  // Returns the time at which local clocks show `time_of_day` on `date`. If the clocks change on this date:
  // - If they show `time_of_day` twice, returns the first time.
  // - If they skip it, returns the time of the change.
  WallTime InstantOf(std::chrono::days date, std::chrono::minutes time_of_day) const;
  // Returns the local time, such as "Wed 22:00".
  std::string Show(WallTime time) const;

 private:
  explicit TimeZone(const date::time_zone* zone) : zone_(zone) {}

  const date::time_zone* zone_;  // nullptr: UTC; the library never frees a zone
};

}  // namespace yad

#endif  // OPERATOR_BASE_TIME_ZONE_H_
