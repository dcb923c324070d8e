#include "operator/prometheus/answer.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "operator/base/number.h"
#include "operator/client/status_error.h"
#include "operator/json/json_document.h"

namespace yad {
namespace {

constexpr std::size_t kMaxErrorText = 500;

using Value = Result<std::optional<double>>;

// Converts an error response of Prometheus.
Error ErrorOf(const Json& answer, int http_status) {
  const std::string type = StringAt(answer, {"errorType"});
  const std::string message = Excerpt(StringAt(answer, {"error"}), kMaxErrorText);
  Error error;
  error.http_status = http_status;
  // Other servers with Prometheus' API (see client.h) use other error types, but the same HTTP status. So a matching
  // status is enough.
  const bool rejected = type == "bad_data" || type == "execution" || http_status == 400 || http_status == 422;
  error.reason = rejected ? Reason::kInvalid : Reason::kServiceUnavailable;
  error.message = rejected ? "Prometheus rejected the query" : "Prometheus could not evaluate the query";
  error.message += message.empty() ? " and gave no reason" : ": " + message;
  return error;
}

// Converts a response that is not from Prometheus, such as a redirect or the error of a proxy.
Error ErrorOfHttp(const HttpResponse& response) {
  if (response.status / 100 == 3) {
    const auto location = response.headers.find("location");
    const std::string target = location == response.headers.end() ? "" : " to " + Excerpt(location->second);
    return {Reason::kUnknown,
            "Prometheus' address redirects" + target + ": redirects are not followed; use the final address",
            response.status};
  }
  Error error = ErrorFromResponse(response, "POST /api/v1/query");
  // For callers, kInvalid and kBadRequest mean responses of Prometheus itself, so this error must have another reason.
  if (error.reason == Reason::kInvalid || error.reason == Reason::kBadRequest) error.reason = Reason::kUnknown;
  error.message = Excerpt(error.message, kMaxErrorText);
  error.causes.clear();
  return error;
}

Value Malformed(const std::string& what) {
  return Fail(Reason::kDecode, "the response does not have the format of Prometheus: " + what);
}

// Parses a number as Prometheus writes it.
Value ParseValue(const std::string& text) {
  if (text == "NaN") return std::nullopt;
  if (text == "+Inf") return std::numeric_limits<double>::infinity();
  if (text == "-Inf") return -std::numeric_limits<double>::infinity();
  // ParseNumber also accepts "inf" and "nan(…)".
  const bool plain = text.find_first_not_of("0123456789.eE+-") == std::string::npos;
  const auto number = plain ? ParseNumber<double>(text) : std::nullopt;
  if (!number) return Malformed("\"" + Excerpt(text, 40) + "\" is not a number");
  return number;
}

// Parses [time, "number"].
Value ParseSample(const Json* sample) {
  const bool complete = sample != nullptr && sample->is_array() && sample->size() == 2 && sample->at(0).is_number() &&
                        sample->at(1).is_string();
  if (!complete) return Malformed("a sample is not a pair of a time and a string");
  return ParseValue(sample->at(1).get<std::string>());
}

Value ParseVector(const Json* result) {
  if (result == nullptr || !result->is_array()) return Malformed("the vector is missing");
  if (result->empty()) return std::nullopt;
  if (result->size() > 1) {
    return Fail(Reason::kBadRequest, "the query returned " + std::to_string(result->size()) +
                                         " samples: it must return one (use sum, max or another aggregation)");
  }
  const Json& series = result->at(0);
  if (Find(series, {"histogram"}) != nullptr && Find(series, {"value"}) == nullptr) {
    return Fail(Reason::kBadRequest,
                "the query returned a native histogram: it must return a number (use histogram_quantile)");
  }
  return ParseSample(Find(series, {"value"}));
}

}  // namespace

Value ParsePrometheusAnswer(const HttpResponse& response) {
  const Result<Json> answer = ParseJson(response.body);
  const std::string status = answer ? StringAt(*answer, {"status"}) : "";
  if (status == "error") return Fail(ErrorOf(*answer, response.status));
  if (response.status != 200) return Fail(ErrorOfHttp(response));
  if (status != "success") return Malformed(Excerpt(response.body));
  const std::string type = StringAt(*answer, {"data", "resultType"});
  const Json* result = Find(*answer, {"data", "result"});
  if (type == "scalar") return ParseSample(result);
  if (type == "vector") return ParseVector(result);
  if (type == "matrix" || type == "string") {
    return Fail(Reason::kInvalid, "the query returns a " + (type == "matrix" ? std::string("range of samples") : type) +
                                      ": it must return one number");
  }
  return Malformed("unknown resultType \"" + Excerpt(type, 40) + "\"");
}

}  // namespace yad
