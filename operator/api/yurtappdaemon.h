// YurtAppDaemon as the operator reads it. The template itself stays JSON.
#ifndef OPERATOR_API_YURTAPPDAEMON_H_
#define OPERATOR_API_YURTAPPDAEMON_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/api/field_error.h"
#include "operator/api/label_selector.h"
#include "operator/api/nodepool.h"
#include "operator/api/object.h"
#include "operator/api/update_strategy.h"

namespace yad {

enum class WorkloadKind { kDeployment, kStatefulSet };
const ResourceType& TypeOf(WorkloadKind kind);
const char* TemplateField(WorkloadKind kind);  // "deploymentTemplate"

// Which pools a daemon wants. Immutable.
struct PoolSelection {
  std::optional<LabelSelector> selector;
  std::set<std::string> names;
  std::set<std::string> exclude;
  std::string type;  // "", "Edge", "Cloud": filters the selector's pools, not `names`

  bool Selects(const NodePool& pool) const;
};

struct YurtAppDaemon {
  ObjectMeta meta;
  WorkloadKind kind = WorkloadKind::kDeployment;
  Json selector;           // spec.selector as written
  Json workload_template;  // {metadata, spec} of the given kind; the selector defaulted from spec.selector
  Json service_template;   // {metadata, spec} of each pool's Service; null: there is none
  Json overrides;          // an array; may be empty
  PoolSelection pools;
  int revision_history_limit = 10;
  bool paused = false;
  UpdateStrategy strategy;
  Json status;  // as last written; null where there is none
};

// Reads an object that ValidateYurtAppDaemon accepts. Faults come back as kInvalid with causes, so a webhook need not
// exist.
Result<YurtAppDaemon> ParseYurtAppDaemon(const Json& object);
Result<YurtAppDaemon> ParseYurtAppDaemon(Json&& object);  // Takes the status, which is long where there are many pools.
Result<YurtAppDaemon> ParseYurtAppDaemonWithoutStatus(const Json& object);
// Of one in which ValidateYurtAppDaemon has found nothing, and which is not looked through again.
Result<YurtAppDaemon> ParseValidYurtAppDaemon(const Json& object);

// Every fault of the spec that can be told without the cluster, all at once, in Kubernetes' words. Empty: good.
FieldErrors ValidateYurtAppDaemon(const Json& object);
// What an update may not change (selector, kind, what a StatefulSet or a Service can't change in place).
FieldErrors ValidateYurtAppDaemonUpdate(const Json& object, const Json& old_object);

}  // namespace yad

#endif  // OPERATOR_API_YURTAPPDAEMON_H_
