#include <nlohmann/json.hpp>
#include <set>

#include "operator/api/names.h"
#include "operator/api/update_strategy.h"
#include "operator/api/validation.h"

namespace yad {
namespace {

constexpr std::int64_t kMostPrefetchesAhead = 100;
constexpr std::int64_t kLongestPrefetchSeconds = 7 * 24 * 3600;

void CheckOneOf(const JsonField& field, std::initializer_list<std::string_view> supported, FieldErrors& errors) {
  const std::string* text = AsText(field, errors);
  if (text == nullptr) return;
  for (std::string_view one : supported) {
    if (*text == one) return;
  }
  errors.Add(FieldError::NotSupported(field.path, *field.value, supported));
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

void CheckGroups(const JsonField& groups, FieldErrors& errors) {
  const Json* list = AsArray(groups, errors);
  if (list == nullptr) return;
  std::set<std::string> names;
  for (std::size_t i = 0; i < list->size() && !errors.full(); ++i) {
    const JsonField group = groups.Element(i);
    if (AsObject(group, errors) == nullptr) continue;
    const JsonField name = group.Child("name");
    if (const std::string* text = AsRequiredText(name, errors); text != nullptr) {
      // CheckLabelValue also rejects '/' and ','. A group's name must not contain them, because the approval of a group
      // has the form "<revision>/<group>,…".
      if (std::string fault = CheckLabelValue(*text); !fault.empty()) {
        errors.Add(FieldError::Invalid(name.path, *name.value, fault));
      } else if (*text == kDefaultGroup) {
        errors.Add(FieldError::Invalid(name.path, *name.value, "is reserved for the pools that no group selects"));
      } else if (!names.insert(*text).second) {
        errors.Add(FieldError::Duplicate(name.path, *name.value));
      }
    }
    CheckPoolsOfGroup(group, errors);
    CheckIntOrPercent(group.Child("maxUnavailable"), /*positive=*/true, errors);
    CheckIntOrPercent(group.Child("maxFailures"), /*positive=*/false, errors);
    CheckOneOf(group.Child("approval"), {"Automatic", "Manual"}, errors);
  }
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
  if (both_good && deadline.value_or(kDefaultProgressDeadlineSeconds) <= min_ready.value_or(0)) {
    errors.Add(FieldError::Invalid(deadline_field.path, deadline.value_or(kDefaultProgressDeadlineSeconds),
                                   "must be greater than minReadySeconds"));
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
  const Json* list = AsArray(patches, errors);
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size() && !errors.full(); ++i) {
    const JsonField patch = patches.Element(i);
    if (AsObject(patch, errors) == nullptr) continue;
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
  }
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
    errors.Add(FieldError::Forbidden(rolling.path, "may not be specified when strategy `type` is '" + type + "'"));
  }
  CheckRollingUpdate(rolling, errors);
}

void ValidateOverrides(const JsonField& overrides, FieldErrors& errors) {
  const Json* list = AsArray(overrides, errors);
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size() && !errors.full(); ++i) {
    const JsonField entry = overrides.Element(i);
    if (AsObject(entry, errors) == nullptr) continue;
    CheckPoolsOrSelector(entry, errors);
    AsInt(entry.Child("replicas"), 0, kMaxInt32, errors);
    const JsonField images = entry.Child("images");
    if (const Json* image_list = AsArray(images, errors); image_list != nullptr) {
      for (std::size_t j = 0; j < image_list->size() && !errors.full(); ++j) {
        const JsonField image = images.Element(j);
        if (AsObject(image, errors) == nullptr) continue;
        AsRequiredText(image.Child("name"), errors);
        AsRequiredText(image.Child("image"), errors);
      }
    }
    AsObject(entry.Child("patch"), errors);
    CheckJsonPatches(entry.Child("jsonPatches"), errors);
  }
}

}  // namespace yad
