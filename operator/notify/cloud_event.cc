#include "operator/notify/cloud_event.h"

namespace yad {

std::string ToText(const CloudEvent& event) {
  Json text = {{"specversion", "1.0"}, {"id", event.id},           {"source", event.source},
               {"type", event.type},   {"subject", event.subject}, {"datacontenttype", "application/json"},
               {"data", event.data}};
  if (event.time) text["time"] = FormatTime(*event.time);
  return DumpJson(text);
}

}  // namespace yad
