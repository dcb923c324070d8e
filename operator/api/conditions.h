// Reading and writing `status.conditions`.
#ifndef OPERATOR_API_CONDITIONS_H_
#define OPERATOR_API_CONDITIONS_H_

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/clock.h"

namespace yad {

inline constexpr std::size_t kMaxMessage = 1024;  // bytes of a condition's message

// Truncates `text` to `limit` bytes, at a character boundary.
std::string Cut(std::string text, std::size_t limit);
// Joins names and limits their number: "a, b, c, d, e and 4 more".
std::string NameSome(const std::vector<std::string>& names, std::size_t most = 5);

// FindCondition searches `object.status.conditions`, and FindConditionIn searches `status.conditions`. Both return
// nullptr if there is no condition of this type.
const Json* FindCondition(const Json& object, std::string_view type);
const Json* FindConditionIn(const Json& status, std::string_view type);

struct Condition {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;
};

// The conditions of a status, updated one by one. If the status of a condition does not change, its lastTransitionTime
// stays.
class Conditions {
 public:
  Conditions(const Json& old_status, std::int64_t generation, WallTime now);

  // Sets a condition with observedGeneration. With `upstream`, the condition is one of OpenYurt's three, and has no
  // observedGeneration.
  void Set(const Condition& condition, bool upstream = false);
  bool Has(std::string_view type) const;
  void Remove(std::string_view type);
  Json Take() { return std::move(list_); }

 private:
  std::int64_t generation_;
  std::string now_;
  Json list_;
};

}  // namespace yad

#endif  // OPERATOR_API_CONDITIONS_H_
