// Parses the responses of Prometheus' HTTP API. A response may be malformed, because the server is not trusted.
#ifndef OPERATOR_PROMETHEUS_ANSWER_H_
#define OPERATOR_PROMETHEUS_ANSWER_H_

#include <optional>

#include "operator/base/error.h"
#include "operator/client/transport/transport.h"

namespace yad {

// Returns the one number in the response to an instant query: a scalar, or the only sample of a vector. Returns nullopt
// for an empty vector and for NaN. The number may be infinite. Error messages are one line of at most 1 KiB.
//
// Fails with
// - kInvalid if Prometheus rejected the query, or if the result has a type that is never one number (matrix, string);
// - kBadRequest if the data was not one number this time: a vector of several samples, or a native histogram;
// - kDecode if the body does not have the format of Prometheus' API;
// - another reason, by the HTTP status, if Prometheus did not evaluate the query.
Result<std::optional<double>> ParsePrometheusAnswer(const HttpResponse& response);

}  // namespace yad

#endif  // OPERATOR_PROMETHEUS_ANSWER_H_
