#include "webhook/admission/defaulting.h"

#include "operator/api/label_selector.h"
#include "operator/api/yurtappdaemon.h"

namespace yad {
namespace {

constexpr int kRevisionHistoryLimit = 10;

bool Missing(const Json* value) { return value == nullptr || value->is_null(); }

void Add(const std::string& path, Json value, Json& patch) {
  // "add" replaces an existing value, including null.
  Json& entry = patch.emplace_back(Json::object());
  entry["op"] = "add";
  entry["path"] = path;
  entry["value"] = std::move(value);
}

// Returns whether the selector in the workload template means the same as spec.selector, even if it is written
// differently. The webhook then does not replace it.
bool Alike(const Json& own, const LabelSelector& selector) {
  const auto parsed = LabelSelector::Parse(own, "");
  return parsed && parsed->ToString() == selector.ToString();
}

}  // namespace

Defaulting DefaultYurtAppDaemon(const Json& object, const Json& old_object) {
  Defaulting result;
  const Json* spec = Find(object, {"spec"});
  if (spec == nullptr || !spec->is_object() || IsDeeperThan(*spec, kMaxJsonDepth)) return result;
  if (!StringAt(object, {"metadata", "deletionTimestamp"}).empty()) return result;

  if (Missing(Find(*spec, {"revisionHistoryLimit"}))) {
    Add("/spec/revisionHistoryLimit", kRevisionHistoryLimit, result.patch);
  }
  const Json* selector = Find(*spec, {"selector"});
  if (selector == nullptr || !selector->is_object()) return result;
  // An invalid selector is not copied, because validation would then report each error twice.
  const auto parsed = LabelSelector::Parse(*selector, "spec.selector");
  if (!parsed) return result;
  for (const WorkloadKind kind : {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet}) {
    const Json* workload = Find(*spec, {"workloadTemplate", TemplateField(kind), "spec"});
    if (workload == nullptr || !workload->is_object()) continue;
    const Json* own = Find(*workload, {"selector"});
    if (!Missing(own) && (!own->is_object() || Alike(*own, *parsed))) continue;
    Add(std::string("/spec/workloadTemplate/") + TemplateField(kind) + "/spec/selector", *selector, result.patch);
    // No warning if the stored object has the same selector: the webhook has set it, and not the user.
    const Json* stored = Find(old_object, {"spec", "workloadTemplate", TemplateField(kind), "spec", "selector"});
    const bool written = !Missing(own) && !own->empty() && (stored == nullptr || *stored != *own);
    if (written) {
      result.warnings.push_back(
          TemplatePath(kind) +
          ".spec.selector: the webhook replaces this selector with spec.selector; remove this field");
    }
  }
  return result;
}

}  // namespace yad
