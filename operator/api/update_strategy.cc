#include "operator/api/update_strategy.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/names.h"
#include "operator/base/file.h"

namespace yad {
namespace {

constexpr std::int64_t kMostPrefetchesAhead = 100;
constexpr std::int64_t kLongestPrefetchSeconds = 7 * 24 * 3600;

constexpr char kPercentFault[] =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for "
    "validation is '[0-9]+%')";

// Returns the number before the '%', or -1 if `text` is not a percentage. Numbers above 1000 become 1000, so that a
// long number does not overflow.
int ReadPercent(const std::string& text) {
  if (text.size() < 2 || text.back() != '%') return -1;
  int percent = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    percent = std::min(percent * 10 + (text[i] - '0'), 1000);
  }
  return percent;
}

// Reads an integer >= 0, or a percentage from "0%" to "100%". If `positive` is true, 0 and "0%" are errors.
std::optional<IntOrPercent> ReadIntOrPercent(const JsonField& field, bool positive, FieldErrors& errors) {
  if (!field.present()) return std::nullopt;
  IntOrPercent read;
  if (field.value->is_number_integer()) {
    const std::optional<std::int64_t> number = AsInt(field, 0, kMaxInt32, errors);
    if (!number) return std::nullopt;
    read.value = static_cast<int>(*number);
  } else if (field.value->is_string()) {
    read = {ReadPercent(field.value->get_ref<const std::string&>()), true};
    if (read.value < 0) errors.Add(FieldError::Invalid(field.path, *field.value, kPercentFault));
    if (read.value > 100) errors.Add(FieldError::Invalid(field.path, *field.value, "must not be greater than 100%"));
  } else {
    errors.Add(FieldError::TypeInvalid(field.path, *field.value, "must be an integer or percentage (e.g '5%')"));
    return std::nullopt;
  }
  if (positive && read.value == 0) errors.Add(FieldError::Invalid(field.path, *field.value, "cannot be 0"));
  return read;
}

std::string CheckGroupName(std::string_view name) {
  if (name == kDefaultGroup) return "is reserved for the pools that no group selects";
  // CheckLabelValue also rejects '/' and ','. A group's name must not contain them, because the approval of a group has
  // the form "<revision>/<group>,…".
  return CheckLabelValue(name);
}

// Reads the pools of a group, which has exactly one of `pools`, `nodepoolSelector` and `percent`.
RolloutGroup ReadPoolsOfGroup(const JsonField& field, FieldErrors& errors) {
  const JsonField percent = field.Child("percent");
  if (!percent.present()) return ReadPoolsOrSelector(field, errors, "`pools`, `nodepoolSelector`, `percent`");
  RolloutGroup group;
  group.percent = static_cast<int>(AsInt(percent, 1, 100, errors).value_or(0));
  for (const char* other : {"pools", "nodepoolSelector"}) {
    if (!field.Child(other).present()) continue;
    errors.Add(FieldError::Forbidden(percent.path, std::string("may not be specified when `") + other + "` is given"));
  }
  return group;
}

std::vector<RolloutGroup> ReadGroups(const JsonField& groups, FieldErrors& errors) {
  std::vector<RolloutGroup> read;
  std::set<std::string> names;
  ForEachObject(groups, errors, [&](const JsonField& field) {
    std::string name = CheckUniqueName(field.Child("name"), CheckGroupName, names, errors);
    RolloutGroup& group = read.emplace_back(ReadPoolsOfGroup(field, errors));
    group.name = std::move(name);
    group.max_unavailable = ReadIntOrPercent(field.Child("maxUnavailable"), /*positive=*/true, errors);
    group.max_failures = ReadIntOrPercent(field.Child("maxFailures"), /*positive=*/false, errors);
    group.manual = CheckOneOf(field.Child("approval"), {"Automatic", "Manual"}, errors) == "Manual";
  });
  return read;
}

std::optional<Prefetch> ReadPrefetch(const JsonField& field, FieldErrors& errors) {
  if (AsObject(field, errors) == nullptr) return std::nullopt;
  Prefetch prefetch;
  if (const auto ahead = AsInt(field.Child("ahead"), 1, kMostPrefetchesAhead, errors))
    prefetch.ahead = static_cast<std::size_t>(*ahead);
  if (const auto timeout = AsInt(field.Child("timeoutSeconds"), 1, kLongestPrefetchSeconds, errors))
    prefetch.timeout = std::chrono::seconds(*timeout);
  prefetch.waits = CheckOneOf(field.Child("onTimeout"), {"Update", "Wait"}, errors) == "Wait";
  return prefetch;
}

void ReadRollingUpdate(const JsonField& field, RollingUpdate& rolling, FieldErrors& errors) {
  if (AsObject(field, errors) == nullptr) return;
  const auto read = [&](const char* name, bool positive, IntOrPercent& value) {
    value = ReadIntOrPercent(field.Child(name), positive, errors).value_or(value);
  };
  read("maxUnavailable", /*positive=*/true, rolling.max_unavailable);
  read("partition", /*positive=*/false, rolling.partition);
  read("maxFailures", /*positive=*/false, rolling.max_failures);
  rolling.rollback = CheckOneOf(field.Child("onFailure"), {"Pause", "Rollback"}, errors) == "Rollback";

  const JsonField min_ready_field = field.Child("minReadySeconds");
  const JsonField deadline_field = field.Child("progressDeadlineSeconds");
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
  rolling.min_ready = std::chrono::seconds(min_ready.value_or(0));
  rolling.progress_deadline = std::chrono::seconds(seconds);
  rolling.groups = ReadGroups(field.Child("groups"), errors);
  rolling.windows = ReadUpdateWindows(field.Child("windows"), errors);
  rolling.checks = ReadChecks(field.Child("checks"), errors);
  rolling.prefetch = ReadPrefetch(field.Child("prefetch"), errors);
}

}  // namespace

std::size_t IntOrPercent::Of(std::size_t total) const {
  const auto number = static_cast<std::size_t>(value);
  return percent ? (total * number + 99) / 100 : number;
}

std::string IntOrPercent::ToString() const { return std::to_string(value) + (percent ? "%" : ""); }

bool RolloutGroup::Selects(const NodePool& pool) const {
  return pools.contains(pool.name) || (selector && selector->Matches(pool.labels));
}

std::size_t RollingUpdate::GroupOf(const NodePool& pool) const {
  std::size_t index = 0;
  while (index + 1 < groups.size() && !groups[index].Selects(pool)) ++index;
  return index;
}

RolloutGroup ReadPoolsOrSelector(const JsonField& entry, FieldErrors& errors, const char* choices) {
  RolloutGroup group;
  const JsonField pools = entry.Child("pools");
  const JsonField selector = entry.Child("nodepoolSelector");
  if (!pools.present() && !selector.present()) {
    errors.Add(FieldError::Required(entry.path, std::string("must specify one of: ") + choices));
    return group;
  }
  if (pools.present() && selector.present()) {
    errors.Add(FieldError::Forbidden(selector.path, "may not be specified when `pools` is given"));
  }
  group.pools = CheckNames(pools, errors);
  if (pools.present() && pools.value->is_array() && pools.value->empty()) {
    errors.Add(FieldError::Required(pools.path, "must name at least one pool"));
  }
  if (selector.present()) group.selector = LabelSelector::Parse(*selector.value, selector.path, errors);
  return group;
}

UpdateStrategy ReadUpdateStrategy(const JsonField& strategy, FieldErrors& errors) {
  UpdateStrategy read;
  AsObject(strategy, errors);
  CheckOneOf(strategy.Child("type"), {"All", "RollingUpdate", "OnDelete"}, errors);
  const std::string type = strategy.present() ? StringAt(*strategy.value, {"type"}, "All") : "All";
  if (type == "RollingUpdate") read.type = UpdateStrategyType::kRollingUpdate;
  if (type == "OnDelete") read.type = UpdateStrategyType::kOnDelete;
  const JsonField rolling = strategy.Child("rollingUpdate");
  if (rolling.present() && (type == "All" || type == "OnDelete")) {
    errors.Add(FieldError::Forbidden(rolling.path, "may not be specified when strategy `type` is '" + type +
                                                       "': set type to RollingUpdate, or remove rollingUpdate"));
  }
  ReadRollingUpdate(rolling, read.rolling, errors);
  read.rolling.groups.push_back({});
  read.rolling.groups.back().name = kDefaultGroup;
  return read;
}

std::vector<std::string> ApprovalEntries(const std::string& annotation) {
  std::vector<std::string> entries;
  for (std::size_t begin = 0; begin <= annotation.size();) {
    const std::size_t end = std::min(annotation.find(',', begin), annotation.size());
    entries.push_back(Trim(annotation.substr(begin, end - begin)));
    begin = end + 1;
  }
  return entries;
}

}  // namespace yad
