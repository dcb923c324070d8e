// Errors from an apiserver's responses: a metav1.Status, or the response of a proxy between this process and the
// apiserver.
#ifndef OPERATOR_CLIENT_STATUS_ERROR_H_
#define OPERATOR_CLIENT_STATUS_ERROR_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/transport/transport.h"

namespace yad {

// `code` is the HTTP status; 0 if only the object contains it (an ERROR event of a watch).
Error ErrorFromStatus(const Json& status, int code);

// Converts a response whose status is not 2xx. `request` identifies the request in messages: "GET /api/v1/pods".
Error ErrorFromResponse(const HttpResponse& response, const std::string& request);

}  // namespace yad

#endif  // OPERATOR_CLIENT_STATUS_ERROR_H_
