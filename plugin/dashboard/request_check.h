// Decides which requests the dashboard serves. The address has a secret token. A page of another origin can neither
// guess the token nor use it. Pure, except for NewToken.
#ifndef PLUGIN_DASHBOARD_REQUEST_CHECK_H_
#define PLUGIN_DASHBOARD_REQUEST_CHECK_H_

#include <string>
#include <string_view>

#include "operator/base/error.h"
#include "plugin/dashboard/http_server.h"

namespace yad {

// The address that this server has.
struct OwnAddress {
  int port = 0;
  std::string token;  // 64 hexadecimal digits
};

// Returns 32 random bytes of the kernel as hexadecimal digits.
Result<std::string> NewToken();
// Compares texts of equal length in a time that does not depend on their content.
bool SameSecret(std::string_view a, std::string_view b);

// A request that may be served.
struct CheckedRequest {
  std::string path;   // below the token, without the first slash: "", "api/events"
  std::string query;  // without the question mark
};

// Returns the request, or an Error whose http_status is the status of the answer: 421 for another Host, 403 for another
// Origin, 404 for another token, 405 for another method, 415 for a POST without JSON.
Result<CheckedRequest> CheckRequest(const HttpCall& call, const OwnAddress& address);

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_REQUEST_CHECK_H_
