#include "operator/api/check.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "operator/api/names.h"
#include "operator/api/quantity.h"
#include "operator/base/number.h"

namespace yad {
namespace {

constexpr int kDefaultTimeoutSeconds = 600;
constexpr int kDefaultIntervalSeconds = 30;
constexpr int kDefaultDurationSeconds = 300;
constexpr int kLongestSeconds = 7 * 24 * 3600;

// Reads a quantity, which is a string or an integer.
std::optional<double> QuantityOf(const Json& value) {
  if (value.is_number_integer()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const auto text = CanonicalQuantity(value.get_ref<const std::string&>());
  return text ? ParseNumber<double>(*text) : std::nullopt;
}

std::optional<double> QuantityAt(const Json& object, std::string_view field) {
  const Json* value = Find(object, {field});
  return value == nullptr ? std::nullopt : QuantityOf(*value);
}

// Returns whether the field has a valid quantity. Adds an error if the quantity is not valid.
bool CheckQuantity(const JsonField& field, FieldErrors& errors) {
  if (!field.present()) return false;
  if (QuantityOf(*field.value)) return true;
  errors.Add(FieldError::Invalid(field.path, *field.value, "must be a quantity, such as 500m, \"0.05\" or 3"));
  return false;
}

void CheckQuery(const JsonField& field, FieldErrors& errors) {
  const std::string* text = AsRequiredText(field, errors);
  if (text != nullptr && text->size() > kMaxQuery) {
    errors.Add(FieldError::Invalid(field.path, text->substr(0, 64) + "...",
                                   "must have at most " + std::to_string(kMaxQuery) + " bytes"));
  }
}

void CheckComparison(const JsonField& compare, FieldErrors& errors) {
  if (AsObject(compare, errors) == nullptr) return;
  CheckQuery(compare.Child("query"), errors);
  const JsonField ratio = compare.Child("maxRatio");
  if (!ratio.present()) {
    errors.Add(FieldError::Required(ratio.path));
  } else if (CheckQuantity(ratio, errors) && *QuantityOf(*ratio.value) <= 0) {
    errors.Add(FieldError::Invalid(ratio.path, *ratio.value, "must be greater than 0"));
  }
}

void CheckPrometheus(const JsonField& prometheus, std::int64_t timeout, FieldErrors& errors) {
  if (AsObject(prometheus, errors) == nullptr) return;
  CheckQuery(prometheus.Child("query"), errors);
  const JsonField max = prometheus.Child("max"), min = prometheus.Child("min"), compare = prometheus.Child("compare");
  const bool has_max = CheckQuantity(max, errors), has_min = CheckQuantity(min, errors);
  if (!max.present() && !min.present() && !compare.present()) {
    errors.Add(FieldError::Required(prometheus.path, "needs max, min or compare"));
  }
  if (has_max && has_min && *QuantityOf(*min.value) > *QuantityOf(*max.value)) {
    errors.Add(FieldError::Invalid(min.path, *min.value, "must not be greater than max"));
  }
  if (compare.present()) CheckComparison(compare, errors);
  AsInt(prometheus.Child("intervalSeconds"), 1, kLongestSeconds, errors);
  AsInt(prometheus.Child("failureLimit"), 0, kMaxInt32, errors);
  const JsonField duration = prometheus.Child("durationSeconds");
  const auto seconds = AsInt(duration, 0, kLongestSeconds, errors);
  if (seconds && *seconds >= timeout)
    errors.Add(FieldError::Invalid(duration.path, *seconds, "must be less than timeoutSeconds of the check"));
}

void ForbidIn(const JsonField& spec, std::string_view field, const char* why, FieldErrors& errors) {
  if (const JsonField set = spec.Child(field); set.present()) errors.Add(FieldError::Forbidden(set.path, why));
}

void ForbidTrueIn(const JsonField& spec, std::string_view field, const char* why, FieldErrors& errors) {
  const JsonField flag = spec.Child(field);
  if (AsBool(flag, errors).value_or(false)) errors.Add(FieldError::Forbidden(flag.path, why));
}

void CheckJob(const JsonField& job, FieldErrors& errors) {
  if (AsObject(job, errors) == nullptr) return;
  const JsonField spec = job.Child("spec");
  if (AsRequiredObject(spec, errors) == nullptr) return;
  ForbidIn(spec, "selector", "the apiserver generates the selector of a Job", errors);
  ForbidTrueIn(spec, "manualSelector", "the apiserver generates the selector of a Job", errors);
  ForbidIn(spec, "ttlSecondsAfterFinished",
           "the operator deletes the Job when the check has a newer Job for the same pool", errors);
  ForbidTrueIn(spec, "suspend", "the check would never end, because a suspended Job does not run", errors);
  const JsonField pod = spec.Child("template").Child("spec");
  if (AsRequiredObject(pod, errors) == nullptr) return;
  AsObject(spec.Child("template").Child("metadata"), errors);
  CheckPodSpec(pod, {"Never", "OnFailure"}, errors);
}

void CheckCondition(const JsonField& condition, FieldErrors& errors) {
  if (AsObject(condition, errors) == nullptr) return;
  const JsonField type = condition.Child("type");
  if (const std::string* text = AsRequiredText(type, errors); text != nullptr)
    errors.AddIfFault(type.path, *type.value, CheckAnnotationKey(*text));
  CheckOneOf(condition.Child("status"), {"True", "False"}, errors);
}

void CheckOne(const JsonField& check, std::set<std::string>& names, FieldErrors& errors) {
  CheckUniqueName(check.Child("name"), CheckDns1123Label, names, errors);
  const JsonField job = check.Child("job"), condition = check.Child("condition");
  const JsonField prometheus = check.Child("prometheus");
  const int kinds = job.present() + condition.present() + prometheus.present();
  if (kinds == 0) errors.Add(FieldError::Required(check.path, "needs one of `job`, `condition` and `prometheus`"));
  if (kinds > 1)
    errors.Add(FieldError::Forbidden(check.path, "may have only one of `job`, `condition` and `prometheus`"));
  const JsonField timeout = check.Child("timeoutSeconds");
  const auto seconds = AsInt(timeout, 1, kLongestSeconds, errors);
  AsBool(check.Child("dryRun"), errors);
  if (job.present()) CheckJob(job, errors);
  if (condition.present()) CheckCondition(condition, errors);
  if (prometheus.present()) CheckPrometheus(prometheus, seconds.value_or(kDefaultTimeoutSeconds), errors);
}

// Returns the value of durationSeconds if the check does not set it. It is less than `timeout`, and leaves time for one
// more query if the last query returns no value.
std::int64_t DefaultDuration(std::int64_t timeout, std::int64_t interval) {
  return timeout > kDefaultDurationSeconds ? kDefaultDurationSeconds : std::max<std::int64_t>(timeout - interval, 0);
}

PrometheusCheck ParsePrometheus(const Json& object, std::int64_t timeout) {
  PrometheusCheck check;
  check.query = StringAt(object, {"query"});
  check.max = QuantityAt(object, "max");
  check.min = QuantityAt(object, "min");
  check.control_query = StringAt(object, {"compare", "query"});
  if (const Json* compare = Find(object, {"compare"}); compare != nullptr)
    check.max_ratio = QuantityAt(*compare, "maxRatio").value_or(0);
  const std::int64_t interval = IntAt(object, {"intervalSeconds"}, kDefaultIntervalSeconds);
  check.interval = std::chrono::seconds(interval);
  check.duration = std::chrono::seconds(IntAt(object, {"durationSeconds"}, DefaultDuration(timeout, interval)));
  check.failure_limit = static_cast<int>(IntAt(object, {"failureLimit"}));
  return check;
}

}  // namespace

bool IsConditionOfControllers(std::string_view type) {
  return type == "Available" || type == "Progressing" || type == "ReplicaFailure";
}

void ValidateChecks(const JsonField& checks, FieldErrors& errors) {
  std::set<std::string> names;
  ForEachObject(
      checks, errors, [&](const JsonField& check) { CheckOne(check, names, errors); }, kMaxChecks);
}

std::vector<Check> ParseChecks(const Json& checks) {
  std::vector<Check> parsed;
  for (const Json& object : checks) {
    Check& check = parsed.emplace_back();
    check.name = StringAt(object, {"name"});
    if (const Json* spec = Find(object, {"job", "spec"}); spec != nullptr) check.job_spec = *spec;
    check.condition = StringAt(object, {"condition", "type"});
    check.condition_status = StringAt(object, {"condition", "status"}, "True");
    const std::int64_t timeout = IntAt(object, {"timeoutSeconds"}, kDefaultTimeoutSeconds);
    check.timeout = std::chrono::seconds(timeout);
    if (const Json* prometheus = Find(object, {"prometheus"}); prometheus != nullptr && prometheus->is_object())
      check.prometheus = ParsePrometheus(*prometheus, timeout);
    check.dry_run = BoolAt(object, {"dryRun"});
  }
  return parsed;
}

}  // namespace yad
