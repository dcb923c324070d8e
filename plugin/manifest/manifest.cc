#include "plugin/manifest/manifest.h"

#include <istream>
#include <nlohmann/json.hpp>

#include "operator/base/file.h"
#include "operator/json/json_document.h"
#include "plugin/manifest/yaml.h"

namespace yad {
namespace {

constexpr std::size_t kMaxSize = 1u << 30;  // enough for all pods of a large cluster

Result<std::vector<Json>> ReadDocuments(const std::string& text, const std::string& source) {
  // Uses the JSON reader only for a List in JSON. A List in JSON is usually kubectl's output for a whole cluster, and
  // the JSON reader is many times faster than the YAML reader. Users usually write the other files by hand, and only
  // the YAML reader reports the line of an error.
  if (text.starts_with('{')) {
    if (auto json = ParseJson(text); json && StringAt(*json, {"kind"}) == "List")
      return std::vector<Json>{*std::move(json)};
  }
  return ReadYaml(text, source);
}

Result<std::string> ReadInput(std::istream& in, std::size_t most) {
  std::string text;
  char chunk[16384];
  for (std::streamsize count; (count = in.rdbuf()->sgetn(chunk, sizeof(chunk))) > 0;) {
    text.append(chunk, static_cast<std::size_t>(count));
    if (text.size() > most) {
      return Fail(Reason::kConfig, "standard input: the text is larger than " + std::to_string(most >> 20) + " MiB");
    }
  }
  return text;
}

// Returns the source and the line of a field, such as "fleet.yaml: line 3". Returns only the source if the file is not
// valid YAML.
std::string PlaceOf(const ManifestFile& file, std::size_t document, const std::string& field) {
  const std::size_t line = LineOfField(file.text, document, field);
  return file.source + (line > 0 ? ": line " + std::to_string(line) : "");
}

// Adds the objects of a document to the file.
Status Split(Json document, std::size_t number, ManifestFile& file) {
  if (!document.is_object())
    return Fail(Reason::kConfig, PlaceOf(file, number, "") + ": a document is not an object with apiVersion and kind");
  const auto items = document.find("items");
  const std::string kind = StringAt(document, {"kind"}), version = StringAt(document, {"apiVersion"});
  if (!kind.ends_with("List") || items == document.end() || !items->is_array()) {
    file.objects.push_back(std::move(document));
    file.places.push_back({number, std::nullopt});
    return {};
  }
  for (std::size_t i = 0; i < items->size(); ++i) {
    Json& item = (*items)[i];
    // The items of a list such as NodeList have no kind and apiVersion.
    if (kind != "List" && item.is_object() && !item.contains("kind")) {
      item["kind"] = kind.substr(0, kind.size() - 4);
      if (!item.contains("apiVersion")) item["apiVersion"] = version;
    }
    file.objects.push_back(std::move(item));
    file.places.push_back({number, i});
  }
  return {};
}

}  // namespace

Error ManifestFile::ErrorAt(std::size_t object, const std::string& field, const std::string& why) const {
  const Place& place = places[object];
  std::string path = place.item ? "items[" + std::to_string(*place.item) + "]" : "";
  if (!field.empty()) path += (path.empty() ? "" : ".") + field;
  const std::string kind = StringAt(objects[object], {"kind"}), name = StringAt(objects[object], {"metadata", "name"});
  std::string message = PlaceOf(*this, place.document, path);
  message += ": " + (kind.empty() ? "object " + std::to_string(object + 1) : kind);
  if (!name.empty()) message += " \"" + name + "\"";
  return Error{Reason::kConfig, message + ": " + (field.empty() ? "" : field + ": ") + why};
}

Result<ManifestFile> ReadManifestFile(const std::string& path, std::size_t most, Console& console) {
  ManifestFile file;
  file.source = path == "-" ? "standard input" : path;
  if (path == "-") {
    YAD_TRY(file.text, ReadInput(console.in, most));
  } else {
    YAD_TRY(file.text, ReadSmallFile(path, most));
  }
  YAD_TRY(auto documents, ReadDocuments(file.text, file.source));
  for (std::size_t i = 0; i < documents.size(); ++i) YAD_TRY_VOID(Split(std::move(documents[i]), i, file));
  return file;
}

Result<std::vector<Json>> ReadManifests(const std::string& path, Console& console) {
  YAD_TRY(auto file, ReadManifestFile(path, kMaxSize, console));
  return std::move(file.objects);
}

bool IsOfType(const Json& object, const ResourceType& type) {
  const std::string version = StringAt(object, {"apiVersion"});
  return StringAt(object, {"kind"}) == type.kind &&
         (type.group.empty() ? version == "v1" : version.starts_with(type.group + "/"));
}

Result<std::vector<Json>> ReadManifestsOf(const ResourceType& type, const std::string& path, Console& console,
                                          std::size_t* skipped) {
  YAD_TRY(auto objects, ReadManifests(path, console));
  const std::size_t all = objects.size();
  std::erase_if(objects, [&](const Json& object) { return !IsOfType(object, type); });
  if (skipped != nullptr) *skipped = all - objects.size();
  const std::string source = path == "-" ? "standard input" : path;
  for (const Json& object : objects) {
    if (StringAt(object, {"metadata", "name"}).empty())
      return Fail(Reason::kConfig, source + ": metadata.name is missing");
  }
  if (!objects.empty()) return objects;
  return Fail(Reason::kConfig,
              source + " has no " + type.kind + " (apiVersion " + type.group + "/..., kind " + type.kind + ")");
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
