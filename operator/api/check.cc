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

// Returns the quantity, or nullopt if it is absent or not valid. Adds an error if it is not valid.
std::optional<double> ReadQuantity(const JsonField& field, FieldErrors& errors) {
  if (!field.present()) return std::nullopt;
  const auto quantity = QuantityOf(*field.value);
  if (!quantity)
    errors.Add(FieldError::Invalid(field.path, *field.value, "must be a quantity, such as 500m, \"0.05\" or 3"));
  return quantity;
}

std::string ReadQuery(const JsonField& field, FieldErrors& errors) {
  const std::string* text = AsRequiredText(field, errors);
  if (text == nullptr) return "";
  if (text->size() > kMaxQuery) {
    errors.Add(FieldError::Invalid(field.path, text->substr(0, 64) + "...",
                                   "must have at most " + std::to_string(kMaxQuery) + " bytes"));
  }
  return *text;
}

void ReadComparison(const JsonField& compare, PrometheusCheck& check, FieldErrors& errors) {
  if (AsObject(compare, errors) == nullptr) return;
  check.control_query = ReadQuery(compare.Child("query"), errors);
  const JsonField ratio = compare.Child("maxRatio");
  if (!ratio.present()) errors.Add(FieldError::Required(ratio.path));
  const auto quantity = ReadQuantity(ratio, errors);
  check.max_ratio = quantity.value_or(0);
  if (quantity && *quantity <= 0) errors.Add(FieldError::Invalid(ratio.path, *ratio.value, "must be greater than 0"));
}

// Returns the value of durationSeconds if the check does not set it. It is less than `timeout`, and leaves time for one
// more query if the last query returns no value.
std::int64_t DefaultDuration(std::int64_t timeout, std::int64_t interval) {
  return timeout > kDefaultDurationSeconds ? kDefaultDurationSeconds : std::max<std::int64_t>(timeout - interval, 0);
}

std::optional<PrometheusCheck> ReadPrometheus(const JsonField& field, std::int64_t timeout, FieldErrors& errors) {
  if (AsObject(field, errors) == nullptr) return std::nullopt;
  PrometheusCheck check;
  check.query = ReadQuery(field.Child("query"), errors);
  const JsonField max = field.Child("max"), min = field.Child("min"), compare = field.Child("compare");
  check.max = ReadQuantity(max, errors);
  check.min = ReadQuantity(min, errors);
  if (!max.present() && !min.present() && !compare.present()) {
    errors.Add(FieldError::Required(field.path, "needs max, min or compare"));
  }
  if (check.max && check.min && *check.min > *check.max) {
    errors.Add(FieldError::Invalid(min.path, *min.value, "must not be greater than max"));
  }
  ReadComparison(compare, check, errors);
  const auto interval =
      AsInt(field.Child("intervalSeconds"), 1, kLongestSeconds, errors).value_or(kDefaultIntervalSeconds);
  check.failure_limit = static_cast<int>(AsInt(field.Child("failureLimit"), 0, kMaxInt32, errors).value_or(0));
  const JsonField duration = field.Child("durationSeconds");
  const auto seconds = AsInt(duration, 0, kLongestSeconds, errors);
  if (seconds && *seconds >= timeout)
    errors.Add(FieldError::Invalid(duration.path, *seconds, "must be less than timeoutSeconds of the check"));
  check.interval = std::chrono::seconds(interval);
  check.duration = std::chrono::seconds(seconds.value_or(DefaultDuration(timeout, interval)));
  return check;
}

void ForbidIn(const JsonField& spec, std::string_view field, const char* why, FieldErrors& errors) {
  if (const JsonField set = spec.Child(field); set.present()) errors.Add(FieldError::Forbidden(set.path, why));
}

void ForbidTrueIn(const JsonField& spec, std::string_view field, const char* why, FieldErrors& errors) {
  const JsonField flag = spec.Child(field);
  if (AsBool(flag, errors).value_or(false)) errors.Add(FieldError::Forbidden(flag.path, why));
}

// Returns the JobSpec; null if it is absent.
Json ReadJob(const JsonField& job, FieldErrors& errors) {
  if (AsObject(job, errors) == nullptr) return nullptr;
  const JsonField spec = job.Child("spec");
  if (AsRequiredObject(spec, errors) == nullptr) return nullptr;
  ForbidIn(spec, "selector", "the apiserver generates the selector of a Job", errors);
  ForbidTrueIn(spec, "manualSelector", "the apiserver generates the selector of a Job", errors);
  ForbidIn(spec, "ttlSecondsAfterFinished",
           "the operator deletes the Job when the check has a newer Job for the same pool", errors);
  ForbidTrueIn(spec, "suspend", "the check would never end, because a suspended Job does not run", errors);
  const JsonField pod = spec.Child("template").Child("spec");
  if (AsRequiredObject(pod, errors) == nullptr) return nullptr;
  AsObject(spec.Child("template").Child("metadata"), errors);
  CheckPodSpec(pod, {"Never", "OnFailure"}, errors);
  return *spec.value;
}

void ReadCondition(const JsonField& condition, Check& check, FieldErrors& errors) {
  if (AsObject(condition, errors) == nullptr) return;
  const JsonField type = condition.Child("type");
  if (const std::string* text = AsRequiredText(type, errors); text != nullptr) {
    errors.AddIfFault(type.path, *text, CheckAnnotationKey(*text));
    check.condition = *text;
  }
  if (CheckOneOf(condition.Child("status"), {"True", "False"}, errors) == "False") check.condition_status = "False";
}

Check ReadCheck(const JsonField& field, std::set<std::string>& names, FieldErrors& errors) {
  Check check;
  check.name = CheckUniqueName(field.Child("name"), CheckDns1123Label, names, errors);
  const JsonField job = field.Child("job"), condition = field.Child("condition");
  const JsonField prometheus = field.Child("prometheus");
  const int kinds = job.present() + condition.present() + prometheus.present();
  if (kinds == 0) errors.Add(FieldError::Required(field.path, "needs one of `job`, `condition` and `prometheus`"));
  if (kinds > 1)
    errors.Add(FieldError::Forbidden(field.path, "may have only one of `job`, `condition` and `prometheus`"));
  const auto timeout =
      AsInt(field.Child("timeoutSeconds"), 1, kLongestSeconds, errors).value_or(kDefaultTimeoutSeconds);
  check.timeout = std::chrono::seconds(timeout);
  check.dry_run = AsBool(field.Child("dryRun"), errors).value_or(false);
  check.job_spec = ReadJob(job, errors);
  ReadCondition(condition, check, errors);
  check.prometheus = ReadPrometheus(prometheus, timeout, errors);
  return check;
}

}  // namespace

bool IsConditionOfControllers(std::string_view type) {
  return type == "Available" || type == "Progressing" || type == "ReplicaFailure";
}

std::vector<Check> ReadChecks(const JsonField& checks, FieldErrors& errors) {
  std::vector<Check> read;
  std::set<std::string> names;
  ForEachObject(
      checks, errors, [&](const JsonField& check) { read.push_back(ReadCheck(check, names, errors)); }, kMaxChecks);
  return read;
}

}  // namespace yad
