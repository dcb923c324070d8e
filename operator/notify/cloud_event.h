// CloudEvents 1.0 in the JSON format.
#ifndef OPERATOR_NOTIFY_CLOUD_EVENT_H_
#define OPERATOR_NOTIFY_CLOUD_EVENT_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "operator/api/object.h"
#include "operator/base/clock.h"

namespace yad {

// An event. A receiver may receive the same event more than once, each time with the same `source` and `id`. Different
// events differ in `source` or `id`.
struct CloudEvent {
  std::string id;
  std::string source;  // URI reference
  std::string type;    // reverse DNS: "io.example.thing.began"
  std::string subject;
  std::optional<WallTime> time;  // nullopt if the time is not known
  Json data;
};

inline constexpr char kCloudEventContentType[] = "application/cloudevents+json";

// Returns the event as one JSON object (the structured mode of CloudEvents). Bytes that are not UTF-8 are replaced.
std::string ToText(const CloudEvent& event);

}  // namespace yad

#endif  // OPERATOR_NOTIFY_CLOUD_EVENT_H_
