// Typed view of a YurtAppDaemon, which the code also calls a daemon. The workload template stays JSON.
#ifndef OPERATOR_API_YURTAPPDAEMON_H_
#define OPERATOR_API_YURTAPPDAEMON_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "operator/api/field_error.h"
#include "operator/api/label_selector.h"
#include "operator/api/nodepool.h"
#include "operator/api/object.h"
#include "operator/api/update_strategy.h"

namespace yad {

enum class WorkloadKind { kDeployment, kStatefulSet };
const ResourceType& TypeOf(WorkloadKind kind);
// Returns the kind of the workloads of a YurtAppDaemon.
WorkloadKind KindOf(const Json& daemon);
const char* TemplateField(WorkloadKind kind);  // "deploymentTemplate"
std::string TemplatePath(WorkloadKind kind);   // "spec.workloadTemplate.deploymentTemplate"

// The fields of a YurtAppDaemon's spec that select its pools.
struct PoolSelection {
  std::optional<LabelSelector> selector;
  std::set<std::string> names;
  std::set<std::string> exclude;
  std::string type;  // "Edge", "Cloud" or "" (any); limits `selector`, but not `names`

  bool Selects(const NodePool& pool) const;
};

struct YurtAppDaemon {
  ObjectMeta meta;
  WorkloadKind kind = WorkloadKind::kDeployment;
  Json selector;           // spec.selector, not parsed
  Json workload_template;  // {metadata, spec} of the kind; its spec.selector is `selector`
  Json service_template;   // {metadata, spec} of each pool's Service; null: no Services
  Json overrides;          // an array; may be empty
  PoolSelection pools;
  int revision_history_limit = 10;
  bool paused = false;
  UpdateStrategy strategy;
  Json status;  // the last written status; null if it was never written
};

// Validates and parses an object. If it is invalid, fails with kInvalid; the causes are the errors of
// ValidateYurtAppDaemon. The operator also works without the webhook, because it validates here.
Result<YurtAppDaemon> ParseYurtAppDaemon(const Json& object);
Result<YurtAppDaemon> ParseYurtAppDaemon(Json&& object);  // moves the status instead of copying it
Result<YurtAppDaemon> ParseYurtAppDaemonWithoutStatus(const Json& object);
// Reads an object without its status, and adds an error for each field that can be found invalid without reading from
// the cluster. The messages are Kubernetes'. The result is usable only if no error was added. `errors` must be empty.
YurtAppDaemon ReadYurtAppDaemon(const Json& object, FieldErrors& errors);

// Replaces each null label and annotation of a template, and of its pod template, with "", because the apiserver and
// OpenYurt treat null as "". Does nothing if the template is not an object.
void ReplaceNullTexts(Json& object);

// Returns the errors that ReadYurtAppDaemon adds.
FieldErrors ValidateYurtAppDaemon(const Json& object);
// Returns an error for each change that is not allowed:
// - of the selector or the kind;
// - of a field that a StatefulSet or a Service cannot change in place.
FieldErrors ValidateYurtAppDaemonUpdate(const Json& object, const Json& old_object);

}  // namespace yad

#endif  // OPERATOR_API_YURTAPPDAEMON_H_
