#include "operator/prometheus/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/fake_transport.h"

namespace yad::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Json Sample(const Json& value) { return {{"metric", {{"pool", "a"}}}, {"value", {1735787045.123, value}}}; }

HttpResponse Success(const std::string& type, const Json& result) {
  return JsonResponse({{"status", "success"}, {"data", {{"resultType", type}, {"result", result}}}});
}

HttpResponse Vector(std::vector<Json> samples) { return Success("vector", Json(std::move(samples))); }

HttpResponse Rejection(int status, const std::string& type, const std::string& message) {
  return JsonResponse({{"status", "error"}, {"errorType", type}, {"error", message}}, status);
}

Error ErrorOf(const HttpResponse& response) {
  const auto value = ParsePrometheusAnswer(response);
  EXPECT_FALSE(value) << "expected an error, got " << (value && *value ? std::to_string(**value) : "no data");
  return value ? Error{} : value.error();
}

std::optional<double> ValueOf(const HttpResponse& response) {
  const auto value = ParsePrometheusAnswer(response);
  EXPECT_TRUE(value) << value.error().ToString();
  return value ? *value : std::nullopt;
}

TEST(PrometheusAnswerTest, OneSampleOrAScalarIsAValue) {
  EXPECT_EQ(ValueOf(Vector({Sample("0.07")})), 0.07);
  EXPECT_EQ(ValueOf(Success("scalar", {1735787045, "-3"})), -3);
  EXPECT_EQ(ValueOf(Vector({Sample("1e-7")})), 1e-7);
  EXPECT_EQ(ValueOf(Vector({Sample("+Inf")})), kInfinity);
  EXPECT_EQ(ValueOf(Vector({Sample("-Inf")})), -kInfinity);
}

TEST(PrometheusAnswerTest, AnEmptyVectorAndNaNAreNoData) {
  EXPECT_EQ(ValueOf(Success("vector", Json::array())), std::nullopt);
  EXPECT_EQ(ValueOf(Vector({Sample("NaN")})), std::nullopt);
  EXPECT_EQ(ValueOf(Success("scalar", {1, "NaN"})), std::nullopt);
}

TEST(PrometheusAnswerTest, WarningsAndUnknownMembersAreIgnored) {
  HttpResponse response = Vector({Sample("1")});
  Json body = Json::parse(response.body);
  body["warnings"] = {"a partial answer"};
  body["data"]["stats"] = {{"x", 1}};
  response.body = body.dump();
  EXPECT_EQ(ValueOf(response), 1);
}

TEST(PrometheusAnswerTest, SeveralSamplesAreAnErrorThatStatesTheirNumber) {
  const Error error = ErrorOf(Vector({Sample("1"), Sample("2"), Sample("3")}));
  EXPECT_EQ(error.reason, Reason::kBadRequest);
  EXPECT_THAT(error.message, AllOf(HasSubstr("3 samples"), HasSubstr("sum")));
}

TEST(PrometheusAnswerTest, ANativeHistogramIsNotANumber) {
  const Error error = ErrorOf(Vector({{{"metric", {}}, {"histogram", {1, {{"count", "1"}}}}}}));
  EXPECT_EQ(error.reason, Reason::kBadRequest);
  EXPECT_THAT(error.message, HasSubstr("histogram_quantile"));
}

TEST(PrometheusAnswerTest, QueriesThatNeverReturnANumberAreInvalid) {
  const Error range = ErrorOf(Success("matrix", Json::array()));
  EXPECT_EQ(range.reason, Reason::kInvalid);
  EXPECT_THAT(range.message, HasSubstr("range of samples"));
  EXPECT_EQ(ErrorOf(Success("string", {1, "text"})).reason, Reason::kInvalid);
}

TEST(PrometheusAnswerTest, RejectedQueriesAreInvalidWithPrometheusReason) {
  for (const auto& [status, type] : {std::pair{400, "bad_data"}, {422, "execution"}, {422, "422"}, {200, "bad_data"}}) {
    const Error error = ErrorOf(Rejection(status, type, "1:5: parse error: unexpected\nend"));
    EXPECT_EQ(error.reason, Reason::kInvalid) << status << " " << type;
    EXPECT_EQ(error.http_status, status);
    EXPECT_THAT(error.message, AllOf(HasSubstr("rejected the query: 1:5: parse error"), Not(HasSubstr("\n"))));
  }
}

TEST(PrometheusAnswerTest, QueriesThatWereNotEvaluatedMayBeRetried) {
  for (const auto& [status, type] :
       {std::pair{503, "timeout"}, {503, "canceled"}, {500, "internal"}, {503, "unavailable"}, {500, ""}}) {
    const Error error = ErrorOf(Rejection(status, type, "query timed out"));
    EXPECT_TRUE(IsTransient(error)) << type << " " << error.ToString();
    EXPECT_THAT(error.message, HasSubstr("query timed out"));
  }
}

TEST(PrometheusAnswerTest, ResponsesOfAProxyDoNotMakeAQueryInvalid) {
  EXPECT_EQ(ErrorOf({401, {}, "no"}).reason, Reason::kUnauthorized);
  EXPECT_EQ(ErrorOf({403, {}, "no"}).reason, Reason::kForbidden);
  EXPECT_EQ(ErrorOf({404, {}, "404 page not found"}).reason, Reason::kNotFound);
  EXPECT_EQ(ErrorOf({503, {}, "<html>"}).reason, Reason::kServiceUnavailable);
  EXPECT_EQ(ErrorOf({422, {}, "<html>"}).reason, Reason::kUnknown);
  EXPECT_EQ(ErrorOf({400, {}, "Client sent an HTTP request to an HTTPS server.\n"}).reason, Reason::kUnknown);
  EXPECT_EQ(ErrorOf({413, {}, "<html>"}).reason, Reason::kUnknown);
  EXPECT_EQ(ErrorOf(StatusResponse(422, "Invalid", "x")).reason, Reason::kUnknown);
  EXPECT_EQ(ErrorOf({500, {}, R"({"status":"success","data":{"resultType":"scalar","result":[1,"1"]}})"}).reason,
            Reason::kInternalError);
}

TEST(PrometheusAnswerTest, ARedirectIsAnErrorThatNamesItsTarget) {
  const Error error = ErrorOf({302, {{"location", "https://login.example.com\r\n/"}}, ""});
  EXPECT_NE(error.reason, Reason::kInvalid);
  EXPECT_THAT(error.message, AllOf(HasSubstr("to https://login.example.com"), HasSubstr("not followed")));
  EXPECT_THAT(ErrorOf({307, {}, ""}).message, HasSubstr("not followed"));
}

TEST(PrometheusAnswerTest, MalformedResponsesAreDecodeErrors) {
  const std::string head = R"({"status":"success","data":{"resultType":)";
  std::vector<HttpResponse> responses = {
      Success("vector", nullptr),
      Success("vector", "1"),
      Vector({1}),
      Vector({{{"value", {1, 2}}}}),
      Vector({{{"value", Json::array({1})}}}),
      Vector({{{"value", {1, "1", "1"}}}}),
      Vector({{{"value", {"1", "1"}}}}),
      Vector({{{"metric", {}}}}),
      Success("scalar", nullptr),
      Success("scalar", {1, nullptr}),
      Success("", {1, "1"}),
      Success("vectors", {Sample("1")}),
      JsonResponse({{"status", "success"}}),
      JsonResponse({{"status", 1}}),
      JsonResponse(Json::array()),
      {200, {}, ""},
      {200, {}, "<html>login</html>"},
      {200, {}, head + R"("scalar","result":[1,"1"]}})" + "}"},
      {200, {}, head + R"("scalar","result":[1,"1"])"},
      {200, {}, head + "\"\xff\",\"result\":[1,\"1\"]}}"},
      {200, {}, std::string(60'000, '[')},
  };
  for (const char* number :
       {"", " 1", "1 ", "0x10", "inf", "Inf", "nan", "nan(1)", "1e999", "1,5", "--1", "1.2.3", "1e", "+", "١"}) {
    responses.push_back(Success("scalar", {1, number}));
  }
  for (const HttpResponse& response : responses) {
    const Error error = ErrorOf(response);
    EXPECT_EQ(error.reason, Reason::kDecode) << response.body.substr(0, 200) << " " << error.ToString();
    EXPECT_LE(error.message.size(), 1024U);
    EXPECT_EQ(error.message.find('\n'), std::string::npos);
  }
}

TEST(PrometheusAnswerTest, MessagesAreShortWhateverTheServerSends) {
  const std::string text(50'000, 'x');
  for (const HttpResponse& response :
       {Rejection(400, "bad_data", text), Rejection(503, text, text), StatusResponse(403, text, text),
        HttpResponse{502, {}, text}, HttpResponse{302, {{"location", text}}, text}, Success(text, {1, "1"}),
        Success("scalar", {1, text})}) {
    EXPECT_LE(ErrorOf(response).message.size(), 1024U);
  }
}

}  // namespace
}  // namespace yad::testing
