#include "operator/json/json_document.h"

#include <simdjson.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

namespace yad {
namespace {

// The position of a value in an object of the apiserver. managedFields is dropped only from the object's metadata.
enum class Place { kElsewhere, kObject, kMetadata };

Json MakeTree(simdjson::dom::element value, Place place, std::span<const JsonPart> parts) {
  using Type = simdjson::dom::element_type;
  switch (value.type()) {
    case Type::OBJECT: {
      Json object = Json::object();
      for (const auto [key, member] : simdjson::dom::object(value)) {
        if (place == Place::kMetadata && key == kManagedFields) continue;
        const auto part = std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p.key == key; });
        if (part == parts.end() && !parts.empty()) continue;
        const bool is_metadata = place == Place::kObject && key == "metadata";
        object[std::string(key)] = MakeTree(member, is_metadata ? Place::kMetadata : Place::kElsewhere,
                                            parts.empty() ? parts : std::span(part->below));
      }
      return object;
    }
    case Type::ARRAY: {
      const simdjson::dom::array elements(value);
      Json array = Json::array();
      array.get_ref<Json::array_t&>().reserve(elements.size());
      for (const auto element : elements) array.push_back(MakeTree(element, Place::kElsewhere, parts));
      return array;
    }
    case Type::STRING:
      return std::string(std::string_view(value));
    case Type::INT64: {
      const std::int64_t number(value);
      if (number >= 0) return static_cast<std::uint64_t>(number);  // as nlohmann_json does
      return number;
    }
    case Type::UINT64:
      return std::uint64_t(value);
    case Type::DOUBLE:
      return double(value);
    case Type::BOOL:
      return bool(value);
    case Type::NULL_VALUE:
      return nullptr;
  }
  return nullptr;
}

// Returns `text` without the values that are nested deeper than `levels`. Does not parse `text`, because the tree of a
// document with many brackets could need sixty times the memory of the document.
std::string CutBelow(std::string_view text, std::size_t levels) {
  std::string cut;
  std::size_t level = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t begin = i;
    switch (text[i]) {
      case '"':
        while (++i < text.size() && text[i] != '"') i += text[i] == '\\';
        if (level < levels) cut += text.substr(begin, i + 1 - begin);
        break;
      case '[':
      case '{':
        if (++level <= levels) cut += text[i];
        break;
      case ']':
      case '}':
        if (level <= levels) cut += text[i];
        if (level > 0) --level;
        break;
      default:
        if (level < levels) cut += text[i];
    }
  }
  return cut;
}

std::optional<simdjson::dom::element> LastOf(simdjson::dom::element object, std::string_view key) {
  std::optional<simdjson::dom::element> last;
  if (!object.is_object()) return last;
  for (const auto [name, member] : simdjson::dom::object(object)) {
    if (name == key) last = member;
  }
  return last;
}

std::string AsString(simdjson::dom::element value) {
  return value.is_string() ? std::string(std::string_view(value)) : std::string();
}

// Converts an object of strings, such as labels. If its keys are not sorted or not unique, converts it to a tree first,
// because unsorted insertions into a StringMap are slow. The apiserver always sorts the keys.
StringMap AsStringMap(simdjson::dom::element value) {
  StringMap map;
  if (!value.is_object()) return map;
  const simdjson::dom::object members(value);
  map.reserve(members.size());
  std::optional<std::string_view> last;
  for (const auto [key, member] : members) {
    if (last && key <= *last) return StringMapAt(MakeTree(value, Place::kElsewhere, {}), {});
    if (member.is_string()) map.emplace_hint(map.end(), std::string(key), AsString(member));
    last = key;
  }
  return map;
}

std::shared_ptr<const std::vector<OwnerReference>> AsOwners(simdjson::dom::element value) {
  if (!value.is_array() || simdjson::dom::array(value).size() == 0) return nullptr;
  std::vector<OwnerReference> owners;
  for (const auto owner : simdjson::dom::array(value)) {
    if (!owner.is_object()) continue;
    OwnerReference reference;
    for (const auto [key, member] : simdjson::dom::object(owner)) {
      if (key == "apiVersion") reference.api_version = AsString(member);
      if (key == "kind") reference.kind = AsString(member);
      if (key == "name") reference.name = AsString(member);
      if (key == "uid") reference.uid = AsString(member);
      if (key == "controller") reference.controller = member.is_bool() && bool(member);
    }
    owners.push_back(std::move(reference));
  }
  return std::make_shared<const std::vector<OwnerReference>>(std::move(owners));
}

// The depth limit for simdjson. simdjson rejects a document that reaches the limit, unless the innermost array or
// object is empty. Because a document of depth kMaxParseDepth must be accepted, the limit is one higher.
constexpr std::size_t kRejectedDepth = kMaxParseDepth + 1;

// Each thread reuses one parser for documents up to this length, such as watch events. A longer document, such as a
// list, is parsed with a new parser. The buffers of a parser are larger than the document, so a reused parser for long
// documents would hold too much memory.
constexpr std::size_t kLongestKept = 16 * 1024;

}  // namespace

struct JsonDocument::State {
  // Returns false if simdjson rejects the document, or if there is not enough memory.
  bool Parse(std::string_view text) {
    thread_local simdjson::dom::parser kept;
    if (text.size() <= kLongestKept) return ParseBy(kept, text);
    simdjson::dom::parser own;
    return ParseBy(own, text);
  }
  bool ParseBy(simdjson::dom::parser& parser, std::string_view text) {
    const bool is_ready = parser.max_depth() == kRejectedDepth && parser.capacity() >= text.size();
    if (!is_ready && parser.allocate(text.size(), kRejectedDepth)) return false;
    return !parser.parse_into_document(document, text.data(), text.size()).get(value);
  }

  simdjson::dom::document document;
  simdjson::dom::element value;
};

JsonDocument::JsonDocument(std::unique_ptr<State> state) : state_(std::move(state)) {}
JsonDocument::~JsonDocument() = default;
JsonDocument::JsonDocument(JsonDocument&& other) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&& other) noexcept = default;

// simdjson rejects some valid documents: those with deep nesting or with very large numbers. nlohmann_json parses these
// documents.
Result<JsonDocument> JsonDocument::Parse(std::string_view text) {
  auto state = std::make_unique<State>();
  if (state->Parse(text)) return JsonDocument(std::move(state));
  state.reset();
  const Json tree = Json::parse(CutBelow(text, kMaxParseDepth), nullptr, /*allow_exceptions=*/false);
  if (!tree.is_discarded()) {
    const std::string again = DumpJson(tree);
    state = std::make_unique<State>();
    if (state->Parse(again)) return JsonDocument(std::move(state));
  }
  return Fail(Reason::kDecode,
              text.empty() ? "an empty text where JSON was expected" : "not valid JSON: " + Excerpt(text));
}

const simdjson::dom::element& JsonDocument::value() const { return state_->value; }

bool JsonDocument::is_object() const { return state_->value.is_object(); }

std::string_view JsonDocument::TextAt(std::string_view key) const {
  const auto member = LastOf(state_->value, key);
  return member && member->is_string() ? std::string_view(*member) : std::string_view();
}

bool JsonDocument::Enter(std::string_view key) {
  const auto member = LastOf(state_->value, key);
  if (member) state_->value = *member;
  return member.has_value();
}

Json JsonDocument::Tree() const { return MakeTree(state_->value, Place::kElsewhere, {}); }

Json JsonDocument::TreeOfObject(const JsonParts& parts) const { return MakeTree(state_->value, Place::kObject, parts); }

ObjectMeta ParseMeta(const JsonDocument& object) {
  ObjectMeta meta;
  const auto metadata = LastOf(object.value(), "metadata");
  if (!metadata || !metadata->is_object()) return meta;
  for (const auto [key, value] : simdjson::dom::object(*metadata)) {
    if (key == "namespace") meta.key.ns = AsString(value);
    if (key == "name") meta.key.name = AsString(value);
    if (key == "uid") meta.uid = AsString(value);
    if (key == "resourceVersion") meta.resource_version = AsString(value);
    if (key == "generation") meta.generation = value.is_int64() ? std::int64_t(value) : 0;
    if (key == "creationTimestamp") meta.creation_timestamp = AsString(value);
    if (key == "deletionTimestamp") meta.deletion_timestamp = AsString(value);
    if (key == "labels") meta.labels = AsStringMap(value);
    if (key == "annotations") meta.annotations = AsStringMap(value);
    if (key == "ownerReferences") meta.owners = AsOwners(value);
  }
  return meta;
}

Result<Json> ParseJson(std::string_view text) {
  YAD_TRY(const JsonDocument document, JsonDocument::Parse(text));
  return document.Tree();
}

std::string DumpJsonAsGo(const Json& value) {
  const std::string text = DumpJson(value);
  std::string escaped;
  std::size_t copied = 0;
  // Replaces characters without regard to JSON's syntax. This is safe, because these characters can occur only inside
  // strings.
  for (std::size_t at = text.find_first_of("<>&\xe2"); at != std::string::npos;
       at = text.find_first_of("<>&\xe2", at)) {
    constexpr std::string_view kSeparators[] = {"\u2028", "\u2029"};
    std::string_view escape = text[at] == '<' ? "\\u003c" : text[at] == '>' ? "\\u003e" : "\\u0026";
    std::size_t size = 1;
    if (text[at] == '\xe2') {
      const std::string_view here = std::string_view(text).substr(at, kSeparators[0].size());
      if (here != kSeparators[0] && here != kSeparators[1]) {
        ++at;
        continue;
      }
      escape = here == kSeparators[0] ? "\\u2028" : "\\u2029";
      size = here.size();
    }
    escaped.append(text, copied, at - copied).append(escape);
    at = copied = at + size;
  }
  return copied == 0 ? text : escaped.append(text, copied);
}

std::string Excerpt(std::string_view text, std::size_t limit) {
  std::string out;
  for (const char c : text) {
    if (out.size() >= limit) {
      out += "...";
      break;
    }
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\t' || c == '\r') {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      out += byte < 0x20 || byte >= 0x7f ? '?' : c;
    }
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

}  // namespace yad
