// Errors from what the apiserver answers: metav1.Status, or whatever stands between sends instead.
#ifndef OPERATOR_CLIENT_STATUS_ERROR_H_
#define OPERATOR_CLIENT_STATUS_ERROR_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/transport.h"

namespace yad {

// `code` is the HTTP status, or 0 where the object itself says it (an ERROR event of a watch).
Error ErrorFromStatus(const Json& status, int code);

// For an answer that is no 2xx. `request` names it in messages: "GET /api/v1/pods".
Error ErrorFromResponse(const HttpResponse& response, const std::string& request);

}  // namespace yad

#endif  // OPERATOR_CLIENT_STATUS_ERROR_H_
