// The gates that delay updates (update windows and a freeze), and their times.
#ifndef TESTS_MODEL_GATES_H_
#define TESTS_MODEL_GATES_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "operator/base/clock.h"

namespace yad::model {

inline constexpr WallTime kStart{std::chrono::hours(500'000)};  // 2027-01-15T08:00:00Z
// All times below are seconds since the start. The clock jumps from one of these instants to the next.
inline constexpr std::array<std::uint32_t, 4> kInstants = {0, 180, 300, 420};

// The windows are open from 08:02 to 08:04, and from 08:06 on.
inline constexpr std::uint32_t kFirstOpening = 120, kFirstEnd = 240, kSecondOpening = 360;
inline nlohmann::json Windows() {
  return {{{"start", "08:02"}, {"duration", "2m"}}, {{"start", "08:06"}, {"duration", "10h"}}};
}
inline bool InWindow(std::uint32_t clock) {
  return (clock >= kFirstOpening && clock < kFirstEnd) || clock >= kSecondOpening;
}

// A freeze with the field `until` ends at this time.
inline constexpr std::uint32_t kFreezeEnds = 390;
inline constexpr char kFreezeUntil[] = "2027-01-15T08:06:30Z";

// The times at which a gate opens.
inline constexpr std::array<std::uint32_t, 3> kOpenings = {kFirstOpening, kSecondOpening, kFreezeEnds};

inline constexpr std::uint32_t kProgressDeadline = 600;
// By this time, all deadlines have passed, the windows are open, and a freeze with an end is over.
inline constexpr std::uint32_t kEnd = 3600;

}  // namespace yad::model

#endif  // TESTS_MODEL_GATES_H_
