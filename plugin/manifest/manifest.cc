#include "plugin/manifest/manifest.h"

#include <iterator>
#include <nlohmann/json.hpp>

#include "operator/base/file.h"
#include "operator/json/json_codec.h"
#include "plugin/manifest/yaml_reader.h"

namespace yad {
namespace {

constexpr std::size_t kMaxSize = 1u << 30;  // enough for all pods of a large cluster

Result<std::vector<Json>> ReadDocuments(const std::string& text, const std::string& source) {
  // kubectl prints a whole cluster as a List, which the JSON reader reads many times faster than the YAML reader. Users
  // write their files in YAML, and only the YAML reader reports the line of an error.
  if (text.starts_with('{')) {
    if (auto json = ParseJson(text); json && StringAt(*json, {"kind"}) == "List")
      return std::vector<Json>{*std::move(json)};
  }
  return ReadYaml(text, source);
}

}  // namespace

Result<std::vector<Json>> ReadManifests(const std::string& path, Console& console) {
  std::string text;
  if (path == "-") {
    text.assign(std::istreambuf_iterator<char>(console.in), {});
  } else {
    YAD_TRY(text, ReadSmallFile(path, kMaxSize));
  }
  const std::string source = path == "-" ? "standard input" : path;
  YAD_TRY(auto documents, ReadDocuments(text, source));
  std::vector<Json> objects;
  for (Json& document : documents) {
    if (!document.is_object())
      return Fail(Reason::kConfig, source + ": a document is not an object with apiVersion and kind");
    const auto items = document.find("items");
    if (StringAt(document, {"kind"}).ends_with("List") && items != document.end() && items->is_array()) {
      // The items of a NodeList have no kind and apiVersion of their own.
      const std::string kind = StringAt(document, {"kind"}), version = StringAt(document, {"apiVersion"});
      for (Json& item : *items) {
        if (kind != "List" && item.is_object() && !item.contains("kind")) {
          item["kind"] = kind.substr(0, kind.size() - 4);
          if (!item.contains("apiVersion")) item["apiVersion"] = version;
        }
        objects.push_back(std::move(item));
      }
    } else {
      objects.push_back(std::move(document));
    }
  }
  return objects;
}

Result<std::vector<Json>> ReadManifestsOf(const ResourceType& type, const std::string& path, Console& console,
                                          std::size_t& left_out) {
  YAD_TRY(auto objects, ReadManifests(path, console));
  const std::size_t all = objects.size();
  std::erase_if(objects, [&](const Json& object) {
    return StringAt(object, {"kind"}) != type.kind || !StringAt(object, {"apiVersion"}).starts_with(type.group + "/");
  });
  left_out = all - objects.size();
  if (!objects.empty()) return objects;
  return Fail(Reason::kConfig, (path == "-" ? "standard input" : path) + " has no " + type.kind + " (apiVersion " +
                                   type.group + "/..., kind " + type.kind + ")");
}

Status SettleNamespace(Json& object, const std::string& flag, const std::string& fallback) {
  const std::string own = StringAt(object, {"metadata", "namespace"});
  if (own.empty()) {
    object["metadata"]["namespace"] = flag.empty() ? fallback : flag;
  } else if (!flag.empty() && own != flag) {
    return Fail(Reason::kBadRequest, "the namespace from the provided object \"" + own +
                                         "\" does not match the namespace \"" + flag + "\": give --namespace=" + own);
  }
  return {};
}

}  // namespace yad
