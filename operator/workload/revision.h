// What a revision holds, and how it is named. Pure.
#ifndef OPERATOR_WORKLOAD_REVISION_H_
#define OPERATOR_WORKLOAD_REVISION_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "operator/api/object.h"
#include "operator/api/yurtappdaemon.h"
#include "operator/base/error.h"
#include "operator/workload/overrides.h"

namespace yad {

// The part of a spec that is history: workload template, Service template and overrides.
struct RevisionContent {
  WorkloadKind kind = WorkloadKind::kDeployment;
  Json workload_template;        // {metadata, spec}, selector defaulted, nulls dropped
  Json service_template;         // {metadata, spec}, nulls dropped; null: there is none
  Json overrides;                // array
  OverrideIndex override_index;  // of `overrides`
  std::string digest;  // canonical text of the content without what says nothing (nulls, empty objects): equal
                       // digests are the same revision, with or without a webhook, ours or OpenYurt's
};

RevisionContent ContentOf(const YurtAppDaemon& daemon);
// Reads `data` of a ControllerRevision, ours or OpenYurt's
// ({"spec":{"workloadTemplate":{"$patch":"replace",…},"serviceTemplate":{…},"overrides":[…]}}). kDecode where it is
// none.
Result<RevisionContent> ContentOf(const Json& controller_revision);

// The hash that names the revision: FNV-1a over the digest and, where it is not 0, the collision count; Kubernetes'
// safe alphabet.
std::string RevisionHash(const RevisionContent& content, std::int64_t collision_count);
// `<yad>-<hash>`; a long daemon name is cut so that 253 characters hold it.
std::string RevisionName(const std::string& daemon_name, const std::string& hash);

// The ControllerRevision to POST.
Json MakeControllerRevision(const YurtAppDaemon& daemon, const RevisionContent& content, const std::string& hash,
                            std::int64_t revision);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_REVISION_H_
