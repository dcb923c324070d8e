#include "operator/yurtappdaemon/apply/short_error.h"

#include <set>
#include <string>

#include "operator/api/conditions.h"

namespace yad {
namespace {

constexpr std::size_t kMaxShortMessage = 4 * 1024;

}  // namespace

Error ShortError(const Error& error) {
  Error result{error.reason, Cut(error.message, kMaxShortMessage), error.http_status, error.retry_after, {}};
  std::set<std::string> reasons;
  for (const Cause& cause : error.causes) reasons.insert(cause.reason);
  for (const std::string& reason : reasons) result.causes.push_back({"", reason, ""});
  return result;
}

}  // namespace yad
