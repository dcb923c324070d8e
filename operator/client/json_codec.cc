#include "operator/client/json_codec.h"

#include <simdjson.h>

#include <bit>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "operator/base/guarded.h"

namespace yad {
namespace {

constexpr std::string_view kManagedFields = "managedFields";

// How an answer's managedFields are reached: from its root, one step each.
enum class Place { kElsewhere, kRoot, kItems, kObject, kMetadata };

Place Below(Place place, std::string_view key) {
  switch (place) {
    case Place::kRoot:
      if (key == "items") return Place::kItems;
      if (key == "object") return Place::kObject;
      [[fallthrough]];
    case Place::kObject:
      return key == "metadata" ? Place::kMetadata : Place::kElsewhere;
    default:
      return Place::kElsewhere;
  }
}

Json MakeTree(simdjson::dom::element value, Place place) {
  using Type = simdjson::dom::element_type;
  switch (value.type()) {
    case Type::OBJECT: {
      Json object = Json::object();
      for (const auto [key, member] : simdjson::dom::object(value)) {
        if (place == Place::kMetadata && key == kManagedFields) continue;
        object[std::string(key)] = MakeTree(member, Below(place, key));  // Of two with one key, the last counts.
      }
      return object;
    }
    case Type::ARRAY: {
      const simdjson::dom::array elements(value);
      Json array = Json::array();
      array.get_ref<Json::array_t&>().reserve(elements.size());
      for (const auto element : elements) {
        array.push_back(MakeTree(element, place == Place::kItems ? Place::kObject : Place::kElsewhere));
      }
      return array;
    }
    case Type::STRING:
      return std::string(std::string_view(value));
    case Type::INT64: {
      const std::int64_t number(value);
      if (number >= 0) return static_cast<std::uint64_t>(number);  // As nlohmann_json parses it.
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

void DropManagedFields(Json& value, Place place) {
  if (place == Place::kItems && value.is_array()) {
    for (Json& item : value) DropManagedFields(item, Place::kObject);
  }
  if (!value.is_object()) return;
  if (place == Place::kMetadata) value.erase(kManagedFields);
  for (auto& [key, member] : value.items()) {
    if (const Place below = Below(place, key); below != Place::kElsewhere) DropManagedFields(member, below);
  }
}

// A parser's buffers are some fourteen times its text. To allocate and free them for each event costs as much as the
// parsing, so a few are kept: of texts as long as events are, and not of lists.
class Parsers {
 public:
  // Gives it back when it goes.
  class Lease {
   public:
    Lease(Parsers& from, std::size_t size) : from_(from), kept_(size <= kLongestKept) {
      if (kept_) parser_ = from_.Take();
      if (parser_ == nullptr) parser_ = std::make_unique<simdjson::dom::parser>();
      if (parser_->max_depth() == kMaxParseDepth && parser_->capacity() >= size) return;
      has_room_ = !parser_->allocate(kept_ ? std::bit_ceil(size) : size, kMaxParseDepth);
    }
    ~Lease() {
      if (kept_ && has_room_) from_.Return(std::move(parser_));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    // False: there is no memory for it.
    bool has_room() const { return has_room_; }
    simdjson::dom::parser& operator*() { return *parser_; }

   private:
    Parsers& from_;
    const bool kept_;
    bool has_room_ = true;
    std::unique_ptr<simdjson::dom::parser> parser_;
  };

 private:
  using Parser = std::unique_ptr<simdjson::dom::parser>;
  static constexpr std::size_t kLongestKept = 16 * 1024;
  static constexpr std::size_t kMostKept = 2;

  Parser Take() {
    return idle_.With([](std::vector<Parser>& idle) -> Parser {
      if (idle.empty()) return nullptr;
      Parser parser = std::move(idle.back());
      idle.pop_back();
      return parser;
    });
  }
  void Return(Parser parser) {
    idle_.With([&](std::vector<Parser>& idle) {
      if (idle.size() < kMostKept) idle.push_back(std::move(parser));
    });
  }

  Guarded<std::vector<Parser>> idle_;
};

Parsers& AllParsers() {
  static Parsers& parsers = *new Parsers;  // Never destroyed: threads may parse while the process ends.
  return parsers;
}

// simdjson is two to three times as fast. What it refuses, for being no JSON, nested too deeply, or of numbers that are
// too large for it, nlohmann_json has the last word of.
Result<Json> Parse(std::string_view text, Place root) {
  {
    Parsers::Lease parser(AllParsers(), text.size());
    simdjson::dom::element value;
    if (parser.has_room() && !(*parser).parse(text.data(), text.size()).get(value)) {
      return MakeTree(value, root);
    }
  }
  const Json::parser_callback_t shallow = [](int depth, Json::parse_event_t event, Json&) {
    const bool begins = event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    return !begins || depth < kMaxParseDepth;
  };
  Json value = Json::parse(text, shallow, /*allow_exceptions=*/false);
  if (value.is_discarded()) {
    return Fail(Reason::kDecode,
                text.empty() ? "an empty text where JSON was expected" : "no valid JSON: " + Excerpt(text));
  }
  DropManagedFields(value, root);
  return value;
}

}  // namespace

Result<Json> ParseJson(std::string_view text) { return Parse(text, Place::kElsewhere); }

Result<Json> ParseAnswer(std::string_view text) { return Parse(text, Place::kRoot); }

std::string DumpJson(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

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
