// Reads and writes `status.conditions`.
#ifndef OPERATOR_API_CONDITIONS_H_
#define OPERATOR_API_CONDITIONS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/clock.h"

namespace yad {

inline constexpr std::size_t kMaxMessage = 1024;  // maximum length of a condition's message, in bytes

// Truncate `text` to `limit` bytes, at a character boundary. A string that Cut has truncated ends with "...".
std::string Utf8Prefix(std::string text, std::size_t limit);
std::string Cut(std::string text, std::size_t limit);
// Joins at most `most` names, and states how many names are left out: "a, b, c, d, e and 4 more".
std::string NameSome(const std::vector<std::string>& names, std::size_t most = 5);

// Return the condition of this type, or nullptr. The first function takes a whole object, the second function only its
// status.
const Json* FindCondition(const Json& object, std::string_view type);
const Json* FindConditionIn(const Json& status, std::string_view type);

// Returns whether the condition, a result of FindCondition, exists and has status True.
bool IsTrue(const Json* condition);

struct Condition {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;
};

// Builds the new conditions of a status. A condition keeps its lastTransitionTime if its status does not change.
class Conditions {
 public:
  Conditions(const Json& old_status, std::int64_t generation, WallTime now);

  // Adds or replaces a condition, with observedGeneration. If `upstream` is true, omits observedGeneration, because the
  // conditions that OpenYurt defines do not have this field.
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
