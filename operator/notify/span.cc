#include "operator/notify/span.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "operator/api/object.h"

namespace yad {
namespace {

// SPAN_KIND_INTERNAL and STATUS_CODE_ERROR in OTLP.
constexpr int kInternal = 1;
constexpr int kError = 2;

Json Attribute(const std::string& key, const std::string& value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}

// Returns a string, because OTLP encodes 64-bit integers as strings in JSON.
std::string Nanoseconds(WallTime time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

Json ToJson(const Span& span) {
  Json json = {{"traceId", span.trace_id},
               {"spanId", span.span_id},
               {"name", span.name},
               {"kind", kInternal},
               {"startTimeUnixNano", Nanoseconds(span.start)},
               {"endTimeUnixNano", Nanoseconds(std::max(span.start, span.end))}};
  if (!span.parent_id.empty()) json["parentSpanId"] = span.parent_id;
  for (const auto& [key, value] : span.attributes) json["attributes"].push_back(Attribute(key, value));
  if (!span.error.empty()) json["status"] = {{"code", kError}, {"message", span.error}};
  return json;
}

}  // namespace

std::vector<std::string> ToOtlp(const std::vector<Span>& spans, const std::string& service,
                                const std::string& version) {
  std::vector<std::string> bodies;
  for (std::size_t first = 0; first < spans.size(); first += kMaxSpansOfBatch) {
    Json batch = Json::array();
    for (std::size_t i = first; i < std::min(spans.size(), first + kMaxSpansOfBatch); ++i)
      batch.push_back(ToJson(spans[i]));
    const Json scope = {{"scope", {{"name", service}, {"version", version}}}, {"spans", std::move(batch)}};
    const Json attributes = {Attribute("service.name", service), Attribute("service.version", version)};
    const Json resource = {{"resource", {{"attributes", attributes}}}, {"scopeSpans", Json::array({scope})}};
    const Json request = {{"resourceSpans", Json::array({resource})}};
    bodies.push_back(DumpJson(request));
  }
  return bodies;
}

}  // namespace yad
