// Typed view of a YurtAppDaemon. The workload template stays JSON.
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
std::string TemplatePath(WorkloadKind kind);   // "spec.workloadTemplate.deploymentTemplate"

// The fields of a YurtAppDaemon's spec that select its pools. Any thread may read them.
struct PoolSelection {
  std::optional<LabelSelector> selector;
  std::set<std::string> names;
  std::set<std::string> exclude;
  std::string type;  // "", "Edge" or "Cloud"; applies to the pools of `selector`, not to `names`

  bool Selects(const NodePool& pool) const;
};

struct YurtAppDaemon {
  ObjectMeta meta;
  WorkloadKind kind = WorkloadKind::kDeployment;
  Json selector;           // spec.selector as it was written
  Json workload_template;  // {metadata, spec} of the given kind; its selector is spec.selector
  Json service_template;   // {metadata, spec} of each pool's Service; null if there is none
  Json overrides;          // an array; may be empty
  PoolSelection pools;
  int revision_history_limit = 10;
  bool paused = false;
  UpdateStrategy strategy;
  Json status;  // the last written status; null if there is none
};

// Parses an object that ValidateYurtAppDaemon accepts. Fails with kInvalid and causes for any other object, so the
// operator does not depend on the webhook.
Result<YurtAppDaemon> ParseYurtAppDaemon(const Json& object);
Result<YurtAppDaemon> ParseYurtAppDaemon(Json&& object);  // moves the status, which is long if there are many pools
Result<YurtAppDaemon> ParseYurtAppDaemonWithoutStatus(const Json& object);
// Parses an object that ValidateYurtAppDaemon has accepted, without validating it again.
Result<YurtAppDaemon> ParseValidYurtAppDaemon(const Json& object);

// Returns all faults of the spec that can be found without the cluster, in Kubernetes' words.
FieldErrors ValidateYurtAppDaemon(const Json& object);
// Returns the changes that an update must not make: of the selector, of the kind, and of fields that a StatefulSet or a
// Service cannot change in place.
FieldErrors ValidateYurtAppDaemonUpdate(const Json& object, const Json& old_object);

}  // namespace yad

#endif  // OPERATOR_API_YURTAPPDAEMON_H_
