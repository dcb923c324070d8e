// Checks the requests to the dashboard. The address of the dashboard contains a secret token, so that other users and
// pages from other origins can't use the dashboard. Pure, except for NewToken.
#ifndef PLUGIN_DASHBOARD_REQUEST_CHECK_H_
#define PLUGIN_DASHBOARD_REQUEST_CHECK_H_

#include <string>

#include "operator/base/error.h"
#include "plugin/dashboard/http_server.h"

namespace yad {

// The address of this server.
struct OwnAddress {
  int port = 0;
  std::string token;  // 64 hexadecimal digits
};

// Returns 32 random bytes from the kernel as hexadecimal digits.
Result<std::string> NewToken();

// A request that has passed the checks.
struct CheckedRequest {
  std::string path;   // below the token, without the first slash: "", "api/events"
  std::string query;  // without the question mark
};

// Returns the request if it passes the checks. Otherwise, returns an Error with the status of the response as
// http_status:
// - 421 for a wrong Host;
// - 403 for a wrong Origin, or for a POST without Origin;
// - 404 for a wrong token;
// - 405 for a method other than GET and POST;
// - 415 for a POST without JSON.
Result<CheckedRequest> CheckRequest(const HttpCall& call, const OwnAddress& address);

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_REQUEST_CHECK_H_
