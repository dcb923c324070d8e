#include "operator/yurtappdaemon/rollout/update_record.h"

#include <nlohmann/json.hpp>

#include "operator/api/well_known.h"

namespace yad {

std::string UpdateRecord::ToAnnotation() const {
  Json record = {{"at", FormatTime(at)}, {"revision", revision}};
  if (!pods_revision.empty()) record["podsRevision"] = pods_revision;
  if (online) record["online"] = true;
  if (created) record["created"] = true;
  if (joining) record["joining"] = true;
  return DumpJson(record);
}

std::optional<UpdateRecord> UpdateRecordOf(const ObjectMeta& workload) {
  constexpr std::size_t kLongest = 1024;  // Other clients can write the annotation.
  const std::string& annotation = workload.Annotation(kUpdateRecordAnnotation);
  if (annotation.empty() || annotation.size() > kLongest) return std::nullopt;
  const Json record = Json::parse(annotation, nullptr, false);
  if (!record.is_object()) return std::nullopt;
  UpdateRecord parsed;
  parsed.revision = StringAt(record, {"revision"});
  parsed.pods_revision = StringAt(record, {"podsRevision"});
  parsed.at = ParseTime(StringAt(record, {"at"}));
  parsed.online = BoolAt(record, {"online"});
  parsed.created = BoolAt(record, {"created"});
  parsed.joining = BoolAt(record, {"joining"});
  if (parsed.revision.empty() || parsed.revision != workload.Label(kRevisionLabel)) return std::nullopt;
  return parsed;
}

}  // namespace yad
