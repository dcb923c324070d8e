#include "operator/workload/overrides.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/field_error.h"
#include "operator/workload/merge.h"
#include "operator/workload/semantics.h"

namespace yad {
namespace {

// The maximum number of values that "copy" operations of JSON patches may copy for one workload. An operation that
// copies a document into itself doubles its size. The limit for the size of the JSON is not enough, because two bytes
// of JSON may need 150 bytes of memory.
constexpr std::size_t kMaxCopiedValues = 200'000;
constexpr char kTooManyCopies[] = "the copy operations of the overrides copy more than 200,000 values for one pool";
constexpr char kTooLong[] =
    "with this entry, the workload has more than 1.5 MiB of JSON, which is too large for etcd; remove or shorten "
    "overrides";

tl::unexpected<Error> Invalid(std::string path, const Json& value, std::string detail) {
  constexpr std::size_t kShown = 200;
  std::string text = DumpJson(value);
  if (text.size() > kShown) text = text.substr(0, kShown) + "...";
  return Fail(ToError({FieldError{FieldError::Type::kInvalid, std::move(path), std::move(text), std::move(detail)}}));
}

constexpr std::string_view kVariableBegin = "{{nodepool";

std::string Replaced(std::string_view text, const std::string& pool) {
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = text.find(kVariableBegin); at != text.npos; at = text.find(kVariableBegin, at + 1)) {
    for (const std::string_view variable : {"{{nodepool-name}}", "{{nodepool}}"}) {
      if (!text.substr(at).starts_with(variable)) continue;
      result.append(text.substr(done, at - done)).append(pool);
      done = at + variable.size();
    }
  }
  return result.append(text.substr(done));
}

Status CheckPatch(const Json& patch, const std::string& path) {
  if (!patch.is_object()) return Invalid(path, patch, "must be a partial workload");
  for (const auto& [key, part] : patch.items()) {
    if (key == "apiVersion" || key == "kind") continue;
    const std::string at = path + "." + key;
    if (key != "metadata" && key != "spec") return Invalid(at, part, "a patch may have only \"metadata\" and \"spec\"");
    if (!part.is_object()) return Invalid(at, part, "must be an object");
  }
  return {};
}

Status Step(const std::string& path, OverrideBounds& bounds) {
  if (bounds.Step()) return {};
  return Invalid(path, nullptr,
                 "the overrides have more than " + std::to_string(kMaxOverrideSteps) +
                     " entries, images and patch operations for one pool; remove some of them");
}

Status ApplyImages(const Json& images, const std::string& path, OverrideBounds& bounds, Json& workload) {
  if (!images.is_array()) return Invalid(path, images, "must be a list of {name, image}");
  const Json::json_pointer pod("/spec/template/spec");
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::string at = path + "[" + std::to_string(i) + "]";
    YAD_TRY_VOID(Step(at, bounds));
    const Json& name = MemberOf(images[i], "name");
    const Json& image = MemberOf(images[i], "image");
    if (!name.is_string()) return Invalid(at + ".name", name, "must name a container");
    if (!image.is_string() || IsZero(image)) return Invalid(at + ".image", image, "must be an image");
    bool found = false;
    for (const char* list : {"initContainers", "containers"}) {
      if (!workload.contains(pod / list)) continue;
      Json& containers = workload[pod / list];
      if (!containers.is_array()) continue;
      // An apiserver rejects a second container with the same name, so there is at most one.
      const auto container = std::find_if(containers.begin(), containers.end(),
                                          [&](const Json& one) { return MemberOf(one, "name") == name; });
      if (container == containers.end()) continue;
      (*container)["image"] = image;
      found = true;
    }
    if (!found) return Invalid(at + ".name", name, "no container and no init container of the template has this name");
    if (!bounds.Grow(2 * MeasureJson(image).text, workload)) return Invalid(at, images[i], kTooLong);
  }
  return {};
}

// Adds a value as in RFC 6902. Returns an error message, or "" if the value was added. Does not use "add" of nlohmann
// for a scalar parent, because that would fail an assertion.
std::string Add(const Json::json_pointer& to, Json value, Json& workload) {
  if (to.empty()) {
    workload = std::move(value);
    return "";
  }
  const Json& parent = workload.at(to.parent_pointer());
  if (!parent.is_structured()) return "the parent of path is neither an object nor a list";
  const Json operation = {{"op", "add"}, {"path", to.to_string()}, {"value", std::move(value)}};
  workload.patch_inplace(Json::array({operation}));
  return "";
}

// Returns whether a copy of `value` at `at` would be nested too deeply. Must be called before the copy: nlohmann copies
// recursively and could overflow the stack.
bool TooDeep(const Json& value, const Json::json_pointer& at) {
  const std::string path = at.to_string();
  const auto levels = static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
  return levels >= kMaxJsonDepth || IsDeeperThan(value, kMaxJsonDepth - levels);
}

// Applies one operation. Returns an error message, or "" if the operation was applied. Throws the exceptions of
// nlohmann. The workload must not be used after an error or an exception.
std::string ApplyJsonPatch(const Json& operation, OverrideBounds& bounds, Json& workload) {
  const std::string op = StringAt(operation, {"op"});
  const Json& path = MemberOf(operation, "path");
  if (!path.is_string()) return "path must be a string";
  const Json::json_pointer to(path.get<std::string>());
  std::size_t grows = MeasureJson(operation).text;
  const auto applied = [&] { return bounds.Grow(grows, workload) ? "" : kTooLong; };
  constexpr char kTooDeep[] = "the result is nested too deeply";
  if (TooDeep(MemberOf(operation, "value"), to)) return kTooDeep;
  Json value;
  if (op == "add") {
    if (!operation.contains("value")) return "add needs a value";
    value = operation.at("value");
  } else if (op == "copy" || op == "move") {
    const Json& from = MemberOf(operation, "from");
    if (!from.is_string()) return "from must be a string";
    const Json& source = workload.at(Json::json_pointer(from.get<std::string>()));
    if (TooDeep(source, to)) return kTooDeep;
    if (op == "copy") {
      const JsonSize copied = MeasureJson(source);
      if (!bounds.Copy(copied.values)) return kTooManyCopies;
      grows += copied.text;
    }
    value = source;
    if (op == "move") {
      const Json removal = {{"op", "remove"}, {"path", from}};
      workload.patch_inplace(Json::array({removal}));
    }
  } else {
    workload.patch_inplace(Json::array({operation}));
    return applied();
  }
  const std::string wrong = Add(to, std::move(value), workload);
  return wrong.empty() ? applied() : wrong;
}

Status ApplyJsonPatches(const Json& patches, const std::string& path, OverrideBounds& bounds, Json& workload) {
  if (!patches.is_array()) return Invalid(path, patches, "must be a list of RFC 6902 operations");
  for (std::size_t i = 0; i < patches.size(); ++i) {
    const std::string at = path + "[" + std::to_string(i) + "]";
    YAD_TRY_VOID(Step(at, bounds));
    std::string wrong;
    try {
      wrong = ApplyJsonPatch(patches[i], bounds, workload);
    } catch (const Json::exception& error) {
      // Removes the library's prefix, such as "[json.exception.out_of_range.403] ".
      const std::string_view what = error.what();
      wrong = what.substr(what.find("] ") == std::string_view::npos ? 0 : what.find("] ") + 2);
    }
    if (!wrong.empty()) return Invalid(at, patches[i], "does not apply: " + wrong);
  }
  return {};
}

bool Copies(const Json& entry) {
  const Json& patches = MemberOf(entry, "jsonPatches");
  return std::any_of(patches.begin(), patches.end(),
                     [](const Json& operation) { return StringAt(operation, {"op"}) == "copy"; });
}

}  // namespace

void ReplaceVariables(Json& value, const std::string& pool, int depth) {
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    if (text.find(kVariableBegin) != text.npos) value = Replaced(text, pool);
  } else if (value.is_structured() && depth < kMaxDepth) {
    for (Json& member : value) ReplaceVariables(member, pool, depth + 1);
  }
}

OverrideIndex::OverrideIndex(const Json& overrides) {
  if (!overrides.is_array()) return;
  copies_ = std::any_of(overrides.begin(), overrides.end(), Copies);
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const int index = static_cast<int>(i);
    if (const Json& selector = MemberOf(overrides[i], "nodepoolSelector"); selector.is_object()) {
      if (auto parsed = LabelSelector::Parse(selector, "nodepoolSelector")) {
        open_.push_back({index, *std::move(parsed), {}});
      }
    } else if (const Json& pools = MemberOf(overrides[i], "pools"); pools.is_array() && !pools.empty()) {
      AddPools(index, pools);
    }
  }
}

void OverrideIndex::AddPools(int index, const Json& pools) {
  std::set<std::string> named, excluded;
  bool only_exclusions = true;
  for (const Json& item : pools) {
    std::string name = item.is_string() ? item.get<std::string>() : "";
    if (name.starts_with('-')) {
      excluded.insert(name.substr(1));
    } else {
      only_exclusions = false;
      named.insert(std::move(name));
    }
  }
  if (only_exclusions || named.contains("*")) {
    open_.push_back({index, std::nullopt, std::move(excluded)});
    return;
  }
  for (const std::string& name : named) {
    if (!name.empty() && !excluded.contains(name)) by_name_[name].push_back(index);
  }
}

std::vector<int> OverrideIndex::Of(const NodePool& pool) const {
  std::vector<int> indices;
  if (const auto named = by_name_.find(pool.name); named != by_name_.end()) indices = named->second;
  for (const Open& entry : open_) {
    if (entry.selector ? entry.selector->Matches(pool.labels) : !entry.excluded.contains(pool.name)) {
      indices.push_back(entry.index);
    }
  }
  std::sort(indices.begin(), indices.end());
  return indices;
}

bool OverrideBounds::Copy(std::size_t values) {
  copied_values_ += values;
  return copied_values_ <= kMaxCopiedValues;
}

bool OverrideBounds::Grow(std::size_t text, const Json& workload) {
  text_ += text;
  if (text_ > kMaxRenderedText)
    text_ = MeasureJson(workload).text;  // the sum is too high if the new values have replaced other values
  return text_ <= kMaxRenderedText;
}

Status ApplyOverride(const Json& entry, std::size_t index, const std::string& pool, int rules, OverrideBounds& bounds,
                     Json& workload) {
  const std::string path = "spec.overrides[" + std::to_string(index) + "]";
  YAD_TRY_VOID(Step(path, bounds));
  if (!entry.is_object()) return Invalid(path, entry, "must be an object");
  const auto values = [&](const char* key) {
    Json value = MemberOf(entry, key);
    ReplaceVariables(value, pool);
    return value;
  };
  if (const Json& replicas = MemberOf(entry, "replicas"); !replicas.is_null()) {
    if (!replicas.is_number_integer() || replicas < 0)
      return Invalid(path + ".replicas", replicas, "must be 0 or more");
    if (!MemberOf(workload, "spec").is_object())
      return Invalid(
          path + ".replicas", replicas,
          "an earlier entry has removed the workload's spec, or replaced it with a value that is not an object");
    workload["spec"]["replicas"] = replicas;
  }
  if (const Json images = values("images"); !images.is_null()) {
    YAD_TRY_VOID(ApplyImages(images, path + ".images", bounds, workload));
  }
  if (const Json patch = values("patch"); !patch.is_null()) {
    YAD_TRY_VOID(CheckPatch(patch, path + ".patch"));
    ApplyPatch(patch, /*merges_duplicates=*/rules > 1, workload);
    // The patch may add up to twice its size, because serviceAccountName is also written to the deprecated
    // serviceAccount.
    if (!bounds.Grow(2 * MeasureJson(patch).text, workload)) return Invalid(path + ".patch", patch, kTooLong);
  }
  if (const Json patches = values("jsonPatches"); !patches.is_null()) {
    return ApplyJsonPatches(patches, path + ".jsonPatches", bounds, workload);
  }
  return {};
}

}  // namespace yad
