#include "operator/client/status_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/fake_transport.h"

namespace yad {
namespace {

using testing::StatusResponse;

Error Parse(const HttpResponse& response) { return ErrorFromResponse(response, "GET /x"); }

TEST(StatusErrorTest, ReasonOfTheStatusObjectIsUsed) {
  const struct {
    const char* name;
    int code;
    Reason reason;
  } cases[] = {
      {"NotFound", 404, Reason::kNotFound},
      {"AlreadyExists", 409, Reason::kAlreadyExists},
      {"Conflict", 409, Reason::kConflict},
      {"Expired", 410, Reason::kExpired},
      {"Gone", 410, Reason::kExpired},
      {"Invalid", 422, Reason::kInvalid},
      {"BadRequest", 400, Reason::kBadRequest},
      {"Forbidden", 403, Reason::kForbidden},
      {"Unauthorized", 401, Reason::kUnauthorized},
      {"TooManyRequests", 429, Reason::kTooManyRequests},
      {"ServerTimeout", 500, Reason::kServerTimeout},
      {"Timeout", 504, Reason::kServerTimeout},
      {"ServiceUnavailable", 503, Reason::kServiceUnavailable},
      {"MethodNotAllowed", 405, Reason::kMethodNotAllowed},
      {"UnsupportedMediaType", 415, Reason::kUnsupportedMediaType},
      {"InternalError", 500, Reason::kInternalError},
      {"RequestEntityTooLarge", 413, Reason::kBadRequest},
      {"SomethingNew", 409, Reason::kConflict},
      {"SomethingNew", 418, Reason::kUnknown},
  };
  for (const auto& c : cases) {
    const Error error = Parse(StatusResponse(c.code, c.name, "why"));
    EXPECT_EQ(error.reason, c.reason) << c.name;
    EXPECT_EQ(error.http_status, c.code);
    EXPECT_EQ(error.message, "why");
  }
}

TEST(StatusErrorTest, ForbiddenOfAStartingApiserverIsUnavailability) {
  const std::string message = "pods \"a\" is forbidden: not yet ready to handle request";
  const Error error = Parse(StatusResponse(403, "Forbidden", message));
  EXPECT_EQ(error.reason, Reason::kServiceUnavailable);
  EXPECT_EQ(error.http_status, 403);
  EXPECT_EQ(error.message, message);
}

TEST(StatusErrorTest, HttpStatusIsUsedIfTheBodyIsNotAStatus) {
  const std::pair<int, Reason> cases[] = {
      {400, Reason::kBadRequest}, {401, Reason::kUnauthorized},       {403, Reason::kForbidden},
      {404, Reason::kNotFound},   {409, Reason::kConflict},           {410, Reason::kExpired},
      {422, Reason::kInvalid},    {429, Reason::kTooManyRequests},    {500, Reason::kInternalError},
      {502, Reason::kUnknown},    {503, Reason::kServiceUnavailable}, {504, Reason::kServerTimeout},
      {302, Reason::kUnknown}};
  for (const auto& [code, reason] : cases) {
    const Error error = Parse({code, {}, "<html>\nBad Gateway</html>"});
    EXPECT_EQ(error.reason, reason) << code;
    EXPECT_EQ(error.message,
              "the server returned HTTP " + std::to_string(code) + " to GET /x: <html> Bad Gateway</html>");
  }
}

TEST(StatusErrorTest, LongBodyThatIsNotAStatusIsTruncated) {
  EXPECT_LT(Parse({502, {}, std::string(100'000, 'x')}).message.size(), 400u);
}

TEST(StatusErrorTest, CausesAndRetryAfterAreRead) {
  const Error error = ErrorFromStatus(
      Json::parse(R"({"kind":"Status","code":422,"reason":"Invalid","message":"m","details":{"retryAfterSeconds":7,
        "causes":[{"reason":"FieldValueInvalid","message":"too long","field":"spec.name"},{"field":"b"}]}})"),
      0);
  EXPECT_EQ(error.http_status, 422);
  EXPECT_EQ(error.retry_after, std::chrono::seconds(7));
  ASSERT_EQ(error.causes.size(), 2u);
  EXPECT_EQ(error.causes[0].field, "spec.name");
  EXPECT_EQ(error.causes[0].reason, "FieldValueInvalid");
  EXPECT_EQ(error.causes[0].message, "too long");
}

// The apiserver quotes invalid values in full, once in the message and once in a cause.
TEST(StatusErrorTest, LongTextsOfAStatusAreTruncated) {
  const std::string value(1'400'000, 's');
  const Error error = ErrorFromStatus(
      {{"reason", "Invalid"},
       {"message", "web is invalid: spec.dnsPolicy: Unsupported value: " + value},
       {"details",
        {{"causes", {{{"field", "spec." + value}, {"reason", value}, {"message", "Invalid value: " + value}}}}}}},
      422);
  EXPECT_EQ(error.message.size(), 32U * 1024);
  EXPECT_THAT(error.message, ::testing::StartsWith("web is invalid: spec.dnsPolicy: Unsupported value: sss"));
  EXPECT_THAT(error.message, ::testing::EndsWith("sss..."));
  ASSERT_EQ(error.causes.size(), 1U);
  EXPECT_EQ(error.causes[0].field.size(), 512U);
  EXPECT_LE(error.causes[0].reason.size(), 512U);
  EXPECT_EQ(error.causes[0].message.size(), 3U * 1024);
}

TEST(StatusErrorTest, AllCausesOfAStatusHaveALimit) {
  Json causes = Json::array();
  for (int i = 0; i < 100; ++i) causes.push_back({{"field", "spec"}, {"message", std::string(3000, 'x')}});
  const Error error = ErrorFromStatus({{"details", {{"causes", causes}}}}, 422);
  EXPECT_EQ(error.causes.size(), 21U) << "64 KiB of fields and messages";
}

TEST(StatusErrorTest, RetryAfterHeaderIsUsedIfTheBodyHasNone) {
  HttpResponse response = StatusResponse(429, "TooManyRequests", "slow down");
  response.headers["retry-after"] = "3";
  EXPECT_EQ(Parse(response).retry_after, std::chrono::seconds(3));
  for (const char* text : {"", "-3", "0", "3x", "Wed, 21 Oct 2015 07:28:00 GMT", "99999999999999999999"}) {
    response.headers["retry-after"] = text;
    EXPECT_EQ(Parse(response).retry_after, std::nullopt) << text;
  }
  response.headers["retry-after"] = "999999999";
  EXPECT_EQ(Parse(response).retry_after, std::chrono::minutes(2));
}

TEST(StatusErrorTest, ValuesOfWrongTypesInAStatusAreIgnored) {
  for (const char* text : {R"({"kind":"Status","code":"x","reason":5,"message":[],"details":3})",
                           R"({"kind":"Status","details":{"causes":[1,null,{"field":{}}],"retryAfterSeconds":"soon"}})",
                           R"({"kind":"Status","details":{"causes":{},"retryAfterSeconds":-9223372036854775808}})"}) {
    const Error error = Parse({500, {}, text});
    EXPECT_EQ(error.reason, Reason::kInternalError);
    EXPECT_EQ(error.message, "HTTP status 500");
    EXPECT_EQ(error.retry_after, std::nullopt);
  }
}

}  // namespace
}  // namespace yad
