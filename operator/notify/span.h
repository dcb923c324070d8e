// OpenTelemetry spans, and their JSON encoding for OTLP/HTTP.
#ifndef OPERATOR_NOTIFY_SPAN_H_
#define OPERATOR_NOTIFY_SPAN_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "operator/base/clock.h"

namespace yad {

struct Span {
  std::string trace_id;   // 32 hexadecimal digits
  std::string span_id;    // 16 hexadecimal digits
  std::string parent_id;  // "" for the root span of a trace
  std::string name;
  WallTime start;
  WallTime end;
  std::map<std::string, std::string> attributes;
  std::string error;  // "" if there is no error
};

inline constexpr std::size_t kMaxSpansOfBatch = 256;
inline constexpr char kOtlpContentType[] = "application/json";

// Returns the bodies of the requests (ExportTraceServiceRequest) for these spans. Each body has at most
// kMaxSpansOfBatch spans. `service` and `version` are the name and the version of the program. Bytes that are not UTF-8
// are replaced.
std::vector<std::string> ToOtlp(const std::vector<Span>& spans, const std::string& service, const std::string& version);

}  // namespace yad

#endif  // OPERATOR_NOTIFY_SPAN_H_
