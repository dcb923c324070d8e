// Converts failed responses to Errors. A response comes from the apiserver (a metav1.Status), or from a proxy between
// it and the client.
#ifndef OPERATOR_CLIENT_STATUS_ERROR_H_
#define OPERATOR_CLIENT_STATUS_ERROR_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/transport/transport.h"

namespace yad {

// Converts a metav1.Status to an Error. `code` is the HTTP status of the response. If it is 0, as for the ERROR event
// of a watch, the code in `status` is used. Truncates the message to 32 KiB. Keeps at most 100 causes, and at most
// 64 KiB of them.
Error ErrorFromStatus(const Json& status, int code);

// Converts a response whose status is not 2xx. `request` describes the request in messages, such as "GET /api/v1/pods".
Error ErrorFromResponse(const HttpResponse& response, const std::string& request);

// Returns whether an admission webhook denied the request. The webhook may choose any status code for its denial. The
// default is 400.
bool IsDenialOfWebhook(const Error& error);

// Returns whether the apiserver rejected the request because it could not evaluate a ValidatingAdmissionPolicy. This
// can happen shortly after the apiserver has started. The HTTP status is 422.
bool IsPolicyUnavailable(const Error& error);

}  // namespace yad

#endif  // OPERATOR_CLIENT_STATUS_ERROR_H_
