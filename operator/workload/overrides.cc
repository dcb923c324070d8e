#include "operator/workload/overrides.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/field_error.h"
#include "operator/workload/patch.h"
#include "operator/workload/semantics.h"

namespace yad {
namespace {

// A patch that copies a document into itself doubles it with every operation.
constexpr std::size_t kMaxNodes = 200'000;
constexpr std::size_t kMaxBytes = 4u << 20;  // of names and strings; etcd takes objects of 1.5 MB

tl::unexpected<Error> Invalid(std::string path, const Json& value, std::string detail) {
  constexpr std::size_t kShown = 200;
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
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

void ReplaceVariablesIn(Json& value, const std::string& pool, int depth) {
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    if (text.find(kVariableBegin) != text.npos) value = Replaced(text, pool);
  } else if (value.is_structured() && depth < kMaxDepth) {
    for (Json& member : value) ReplaceVariablesIn(member, pool, depth + 1);
  }
}

Status CheckPatch(const Json& patch, const std::string& path) {
  if (!patch.is_object()) return Invalid(path, patch, "must be a partial workload");
  for (const auto& [key, part] : patch.items()) {
    if (key == "apiVersion" || key == "kind") continue;
    const std::string at = path + "." + key;
    if (key != "metadata" && key != "spec") return Invalid(at, part, "a patch has \"metadata\" and \"spec\" only");
    if (!part.is_object()) return Invalid(at, part, "must be an object");
  }
  return {};
}

// Takes a step.
Status Step(const std::string& path, int& steps) {
  if (--steps >= 0) return {};
  return Invalid(path, nullptr,
                 "more than " + std::to_string(kMaxOverrideSteps) + " entries, images and operations for one pool");
}

Status ApplyImages(const Json& images, const std::string& path, int& steps, Json& workload) {
  if (!images.is_array()) return Invalid(path, images, "must be a list of {name, image}");
  const Json::json_pointer pod("/spec/template/spec");
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::string at = path + "[" + std::to_string(i) + "]";
    if (auto step = Step(at, steps); !step) return step;
    const Json& name = MemberOf(images[i], "name");
    const Json& image = MemberOf(images[i], "image");
    if (!name.is_string()) return Invalid(at + ".name", name, "must name a container");
    if (!image.is_string() || IsZero(image)) return Invalid(at + ".image", image, "must be an image");
    bool found = false;
    for (const char* list : {"initContainers", "containers"}) {
      if (!workload.contains(pod / list)) continue;
      Json& containers = workload[pod / list];
      if (!containers.is_array()) continue;
      for (Json& container : containers) {
        if (MemberOf(container, "name") != name) continue;
        container["image"] = image;
        found = true;
      }
    }
    if (!found) return Invalid(at + ".name", name, "no container and no init container of the template has this name");
  }
  return {};
}

// Adds like RFC 6902. nlohmann's own "add" asserts where the parent is a scalar.
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

bool TooLarge(const Json& value) {
  std::vector<const Json*> open{&value};
  std::size_t bytes = 0;
  for (std::size_t nodes = 0; !open.empty(); ++nodes) {
    if (nodes > kMaxNodes || bytes > kMaxBytes) return true;
    const Json* node = open.back();
    open.pop_back();
    if (node->is_string()) bytes += node->get_ref<const std::string&>().size();
    if (!node->is_structured()) continue;
    for (auto member = node->begin(); member != node->end(); ++member) {
      if (node->is_object()) bytes += member.key().size();
      open.push_back(&*member);
    }
  }
  return false;
}

// Whether it would nest too deep there. Asked before it is copied: nlohmann's copies recurse.
bool TooDeep(const Json& value, const Json::json_pointer& at) {
  const std::string path = at.to_string();
  const auto levels = static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
  return levels >= kMaxJsonDepth || IsDeeperThan(value, kMaxJsonDepth - levels);
}

// Returns what is wrong, or "". Throws what nlohmann throws. Then the workload is of no use any more.
std::string ApplyJsonPatch(const Json& operation, Json& workload) {
  const std::string op = StringAt(operation, {"op"});
  const Json& path = MemberOf(operation, "path");
  if (!path.is_string()) return "path must be a string";
  const Json::json_pointer to(path.get<std::string>());
  constexpr char kTooDeep[] = "the result nests too deep";
  if (TooDeep(MemberOf(operation, "value"), to)) return kTooDeep;
  if (op == "add") {
    if (!operation.contains("value")) return "add needs a value";
    return Add(to, operation.at("value"), workload);
  }
  if (op == "copy" || op == "move") {
    const Json& from = MemberOf(operation, "from");
    if (!from.is_string()) return op + " needs from";
    const Json& source = workload.at(Json::json_pointer(from.get<std::string>()));
    if (TooDeep(source, to)) return kTooDeep;
    Json value = source;
    if (op == "move") {
      const Json removal = {{"op", "remove"}, {"path", from}};
      workload.patch_inplace(Json::array({removal}));
    }
    const std::string wrong = Add(to, std::move(value), workload);
    return wrong.empty() && op == "copy" && TooLarge(workload) ? "the result is too large" : wrong;
  }
  workload.patch_inplace(Json::array({operation}));
  return "";
}

Status ApplyJsonPatches(const Json& patches, const std::string& path, int& steps, Json& workload) {
  if (!patches.is_array()) return Invalid(path, patches, "must be a list of RFC 6902 operations");
  for (std::size_t i = 0; i < patches.size(); ++i) {
    const std::string at = path + "[" + std::to_string(i) + "]";
    if (auto step = Step(at, steps); !step) return step;
    std::string wrong;
    try {
      wrong = ApplyJsonPatch(patches[i], workload);
    } catch (const Json::exception& error) {
      // Without the library's own number of it, "[json.exception.out_of_range.403] ".
      const std::string_view what = error.what();
      wrong = what.substr(what.find("] ") == std::string_view::npos ? 0 : what.find("] ") + 2);
    }
    if (!wrong.empty()) return Invalid(at, patches[i], "does not apply: " + wrong);
  }
  return {};
}

// Whether a text has a variable, or a JSON patch copies.
bool MayMultiply(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().find("{{nodepool") != std::string::npos;
  if (value.is_object() && StringAt(value, {"op"}) == "copy") return true;
  return value.is_structured() && std::any_of(value.begin(), value.end(), MayMultiply);
}

}  // namespace

void ReplaceVariables(Json& value, const std::string& pool) { ReplaceVariablesIn(value, pool, 0); }

OverrideIndex::OverrideIndex(const Json& overrides) : may_multiply_(MayMultiply(overrides)) {
  if (!overrides.is_array()) return;
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

Status ApplyOverride(const Json& entry, std::size_t index, const std::string& pool, int& steps, Json& workload) {
  const std::string path = "spec.overrides[" + std::to_string(index) + "]";
  if (auto step = Step(path, steps); !step) return step;
  if (!entry.is_object()) return Invalid(path, entry, "must be an object");
  const auto values = [&](const char* key) {
    Json value = MemberOf(entry, key);
    ReplaceVariables(value, pool);
    return value;
  };
  if (const Json& replicas = MemberOf(entry, "replicas"); !replicas.is_null()) {
    if (!replicas.is_number_integer() || replicas < 0)
      return Invalid(path + ".replicas", replicas, "must be 0 or more");
    workload["spec"]["replicas"] = replicas;
  }
  if (const Json images = values("images"); !images.is_null()) {
    if (auto applied = ApplyImages(images, path + ".images", steps, workload); !applied) return applied;
  }
  if (const Json patch = values("patch"); !patch.is_null()) {
    if (auto checked = CheckPatch(patch, path + ".patch"); !checked) return checked;
    ApplyPatch(patch, workload);
  }
  if (const Json patches = values("jsonPatches"); !patches.is_null()) {
    return ApplyJsonPatches(patches, path + ".jsonPatches", steps, workload);
  }
  return {};
}

}  // namespace yad
