#include "operator/notify/span.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/object.h"

namespace yad {
namespace {

Span Example() {
  Span span;
  span.trace_id = "0123456789abcdef0123456789abcdef";
  span.span_id = "0123456789abcdef";
  span.name = "update";
  span.start = ParseTime("2026-01-02T03:04:05Z");
  span.end = ParseTime("2026-01-02T03:04:06.5Z");
  return span;
}

TEST(SpanTest, BodyHasTheJsonFormatOfOtlp) {
  Span span = Example();
  span.parent_id = "fedcba9876543210";
  span.attributes = {{"pool", "a"}};
  span.error = "late";
  const auto bodies = ToOtlp({span}, "program", "v1");
  ASSERT_EQ(bodies.size(), 1U);
  const Json expected = Json::parse(R"({"resourceSpans": [{
    "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "program"}},
                                {"key": "service.version", "value": {"stringValue": "v1"}}]},
    "scopeSpans": [{
      "scope": {"name": "program", "version": "v1"},
      "spans": [{"traceId": "0123456789abcdef0123456789abcdef", "spanId": "0123456789abcdef",
                 "parentSpanId": "fedcba9876543210", "name": "update", "kind": 1,
                 "startTimeUnixNano": "1767323045000000000", "endTimeUnixNano": "1767323046500000000",
                 "attributes": [{"key": "pool", "value": {"stringValue": "a"}}],
                 "status": {"code": 2, "message": "late"}}]}]}]})");
  EXPECT_EQ(Json::parse(bodies[0]), expected) << bodies[0];
}

TEST(SpanTest, ASpanWithoutAParentOrAnErrorOmitsThem) {
  const Json body = Json::parse(ToOtlp({Example()}, "program", "v1").at(0));
  const Json& span = body.at(Json::json_pointer("/resourceSpans/0/scopeSpans/0/spans/0"));
  EXPECT_FALSE(span.contains("parentSpanId"));
  EXPECT_FALSE(span.contains("status"));
}

TEST(SpanTest, ASpanDoesNotEndBeforeItStarts) {
  Span span = Example();
  std::swap(span.start, span.end);
  const Json body = Json::parse(ToOtlp({span}, "program", "v1").at(0));
  const Json& json = body.at(Json::json_pointer("/resourceSpans/0/scopeSpans/0/spans/0"));
  EXPECT_EQ(json.at("startTimeUnixNano"), json.at("endTimeUnixNano"));
}

TEST(SpanTest, ManySpansAreSentInSeveralBatches) {
  EXPECT_TRUE(ToOtlp({}, "program", "v1").empty());
  EXPECT_EQ(ToOtlp(std::vector<Span>(256, Example()), "program", "v1").size(), 1U);
  EXPECT_EQ(ToOtlp(std::vector<Span>(257, Example()), "program", "v1").size(), 2U);
}

}  // namespace
}  // namespace yad
