#include <nlohmann/json.hpp>
#include <set>

#include "operator/api/names.h"
#include "operator/api/update_strategy.h"
#include "operator/api/validation.h"

namespace yad {
namespace {

constexpr std::int64_t kMostPrefetchesAhead = 100;
constexpr std::int64_t kLongestPrefetchSeconds = 7 * 24 * 3600;

// Checks that `entry` has a valid `pools` (a list of pool names) or a valid `nodepoolSelector`, but not both. If both
// are missing, the error lists the fields in `choices`.
void CheckPoolsOrSelector(const JsonField& entry, FieldErrors& errors,
                          const char* choices = "`pools`, `nodepoolSelector`") {
  const JsonField pools = entry.Child("pools");
  const JsonField selector = entry.Child("nodepoolSelector");
  if (!pools.present() && !selector.present()) {
    errors.Add(FieldError::Required(entry.path, std::string("must specify one of: ") + choices));
    return;
  }
  if (pools.present() && selector.present()) {
    errors.Add(FieldError::Forbidden(selector.path, "may not be specified when `pools` is given"));
  }
  CheckNames(pools, errors);
  if (pools.present() && pools.value->is_array() && pools.value->empty()) {
    errors.Add(FieldError::Required(pools.path, "must name at least one pool"));
  }
  if (selector.present()) LabelSelector::Parse(*selector.value, selector.path, errors);
}

// Checks that a group has exactly one of `pools`, `nodepoolSelector` and `percent`.
void CheckPoolsOfGroup(const JsonField& group, FieldErrors& errors) {
  const JsonField percent = group.Child("percent");
  if (!percent.present()) {
    CheckPoolsOrSelector(group, errors, "`pools`, `nodepoolSelector`, `percent`");
    return;
  }
  AsInt(percent, 1, 100, errors);
  for (const char* other : {"pools", "nodepoolSelector"}) {
    if (!group.Child(other).present()) continue;
    errors.Add(FieldError::Forbidden(percent.path, std::string("may not be specified when `") + other + "` is given"));
  }
}

std::string CheckGroupName(std::string_view name) {
  if (name == kDefaultGroup) return "is reserved for the pools that no group selects";
  // CheckLabelValue also rejects '/' and ','. A group's name must not contain them, because the approval of a group has
  // the form "<revision>/<group>,…".
  return CheckLabelValue(name);
}

void CheckGroups(const JsonField& groups, FieldErrors& errors) {
  std::set<std::string> names;
  ForEachObject(groups, errors, [&](const JsonField& group) {
    CheckUniqueName(group.Child("name"), CheckGroupName, names, errors);
    CheckPoolsOfGroup(group, errors);
    CheckIntOrPercent(group.Child("maxUnavailable"), /*positive=*/true, errors);
    CheckIntOrPercent(group.Child("maxFailures"), /*positive=*/false, errors);
    CheckOneOf(group.Child("approval"), {"Automatic", "Manual"}, errors);
  });
}

void CheckPrefetch(const JsonField& prefetch, FieldErrors& errors) {
  if (AsObject(prefetch, errors) == nullptr) return;
  AsInt(prefetch.Child("ahead"), 1, kMostPrefetchesAhead, errors);
  AsInt(prefetch.Child("timeoutSeconds"), 1, kLongestPrefetchSeconds, errors);
  CheckOneOf(prefetch.Child("onTimeout"), {"Update", "Wait"}, errors);
}

void CheckRollingUpdate(const JsonField& rolling, FieldErrors& errors) {
  if (AsObject(rolling, errors) == nullptr) return;
  CheckIntOrPercent(rolling.Child("maxUnavailable"), /*positive=*/true, errors);
  CheckIntOrPercent(rolling.Child("partition"), /*positive=*/false, errors);
  CheckIntOrPercent(rolling.Child("maxFailures"), /*positive=*/false, errors);
  CheckOneOf(rolling.Child("onFailure"), {"Pause", "Rollback"}, errors);

  const JsonField min_ready_field = rolling.Child("minReadySeconds");
  const JsonField deadline_field = rolling.Child("progressDeadlineSeconds");
  const std::optional<std::int64_t> min_ready = AsInt(min_ready_field, 0, kMaxInt32, errors);
  const std::optional<std::int64_t> deadline = AsInt(deadline_field, 0, kMaxInt32, errors);
  const bool both_good =
      min_ready_field.present() == min_ready.has_value() && deadline_field.present() == deadline.has_value();
  const std::int64_t seconds = deadline.value_or(kDefaultProgressDeadlineSeconds);
  if (both_good && seconds <= min_ready.value_or(0)) {
    errors.Add(FieldError::Invalid(deadline_field.path, seconds,
                                   "must be greater than minReadySeconds " + std::to_string(min_ready.value_or(0)) +
                                       ", and not " + std::to_string(seconds) + (deadline ? "" : " (the default)")));
  }
  CheckGroups(rolling.Child("groups"), errors);
  ValidateUpdateWindows(rolling.Child("windows"), errors);
  ValidateChecks(rolling.Child("checks"), errors);
  CheckPrefetch(rolling.Child("prefetch"), errors);
}

// Returns whether `text` is a JSON pointer (RFC 6901): "" or "/...", with 0 or 1 after each "~".
bool IsJsonPointer(const std::string& text) {
  if (!text.empty() && text.front() != '/') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '~' && (i + 1 == text.size() || (text[i + 1] != '0' && text[i + 1] != '1'))) return false;
  }
  return true;
}

void CheckPointer(const JsonField& field, FieldErrors& errors) {
  if (!field.present()) {
    errors.Add(FieldError::Required(field.path));
    return;
  }
  const std::string* text = AsText(field, errors);
  if (text != nullptr && !IsJsonPointer(*text)) {
    errors.Add(
        FieldError::Invalid(field.path, *field.value,
                            "must be a JSON pointer (RFC 6901): begin with '/', and escape '~' as '~0', '/' as '~1'"));
  }
}

void CheckJsonPatches(const JsonField& patches, FieldErrors& errors) {
  ForEachObject(patches, errors, [&](const JsonField& patch) {
    const JsonField op_field = patch.Child("op");
    if (!op_field.present()) errors.Add(FieldError::Required(op_field.path));
    CheckOneOf(op_field, {"add", "remove", "replace", "move", "copy", "test"}, errors);
    CheckPointer(patch.Child("path"), errors);
    const std::string op = StringAt(*patch.value, {"op"});
    // `value` may be null here. So `contains` is called, because Child would treat null as absent.
    if ((op == "add" || op == "replace" || op == "test") && !patch.value->contains("value")) {
      errors.Add(FieldError::Required(patch.path + ".value", "must be specified when `op` is '" + op + "'"));
    }
    if (op == "move" || op == "copy") CheckPointer(patch.Child("from"), errors);
  });
}

}  // namespace

void ValidateUpdateStrategy(const JsonField& strategy, FieldErrors& errors) {
  if (AsObject(strategy, errors) == nullptr) return;
  const JsonField type_field = strategy.Child("type");
  CheckOneOf(type_field, {"All", "RollingUpdate", "OnDelete"}, errors);
  const JsonField rolling = strategy.Child("rollingUpdate");
  if (!rolling.present()) return;
  const std::string type = StringAt(*strategy.value, {"type"}, "All");
  if (type == "All" || type == "OnDelete") {
    errors.Add(FieldError::Forbidden(rolling.path, "may not be specified when strategy `type` is '" + type +
                                                       "': set type to RollingUpdate, or remove rollingUpdate"));
  }
  CheckRollingUpdate(rolling, errors);
}

void ValidateOverrides(const JsonField& overrides, FieldErrors& errors) {
  ForEachObject(overrides, errors, [&](const JsonField& entry) {
    CheckPoolsOrSelector(entry, errors);
    AsInt(entry.Child("replicas"), 0, kMaxInt32, errors);
    ForEachObject(entry.Child("images"), errors, [&](const JsonField& image) {
      AsRequiredText(image.Child("name"), errors);
      AsRequiredText(image.Child("image"), errors);
    });
    AsObject(entry.Child("patch"), errors);
    CheckJsonPatches(entry.Child("jsonPatches"), errors);
  });
}

}  // namespace yad
