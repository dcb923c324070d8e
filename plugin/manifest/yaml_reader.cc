#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "operator/api/object.h"
#include "operator/base/number.h"
#include "operator/json/json_document.h"
#include "plugin/manifest/yaml.h"

namespace yad {
namespace {

// The maximum number of values in a document. Otherwise, a short document with nested aliases could become a very large
// tree.
constexpr std::size_t kMaxYamlNodes = 2'000'000;

struct Unreadable : std::exception {
  Unreadable(YAML::Mark the_mark, std::string the_why) : mark(the_mark), why(std::move(the_why)) {}
  const char* what() const noexcept override { return why.c_str(); }
  YAML::Mark mark;
  std::string why;
};

bool ReadInteger(std::string text, Json& value) {
  std::erase(text, '_');
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.erase(0, 1);
  int base = 10;
  for (const auto& [prefix, of_prefix] : {std::pair{"0x", 16}, {"0b", 2}, {"0o", 8}}) {
    if (base == 10 && text.starts_with(prefix)) {
      base = of_prefix;
      text.erase(0, 2);
    }
  }
  if (base == 10 && text.size() > 1 && text.front() == '0') base = 8;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return false;
  constexpr std::uint64_t kLowest = std::uint64_t{1} << 63;
  if (negative && number > kLowest) return false;
  if (negative) {
    value = number == kLowest ? std::numeric_limits<std::int64_t>::min() : -static_cast<std::int64_t>(number);
  } else {
    value = number;
  }
  return true;
}

bool ReadFloat(std::string text, Json& value) {
  std::erase(text, '_');
  if (text.starts_with('+')) text.erase(0, 1);
  if (text.find_first_not_of("-+.0123456789eE") != std::string::npos ||
      text.find_first_of("0123456789") == std::string::npos)
    return false;
  const auto number = ParseNumber<double>(text);
  if (!number || !std::isfinite(*number)) return false;
  value = *number;
  return true;
}

Json Plain(const std::string& text) {
  static const std::set<std::string_view> nulls{"", "~", "null", "Null", "NULL"};
  static const std::set<std::string_view> yes{"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};
  static const std::set<std::string_view> no{"n",     "N",     "no",  "No",  "NO", "false",
                                             "False", "FALSE", "off", "Off", "OFF"};
  if (nulls.contains(text)) return nullptr;
  if (yes.contains(text)) return true;
  if (no.contains(text)) return false;
  Json value;
  if (std::string_view("+-.0123456789").find(text.front()) != std::string_view::npos &&
      (ReadInteger(text, value) || ReadFloat(text, value))) {
    return value;
  }
  return text;
}

class Converter {
 public:
  Json Convert(const YAML::Node& node) {
    const Level level(*this, node);
    switch (node.Type()) {
      case YAML::NodeType::Map:
        return Map(node);
      case YAML::NodeType::Sequence: {
        Json list = Json::array();
        for (const YAML::Node& element : node) list.push_back(Convert(element));
        return list;
      }
      case YAML::NodeType::Scalar:
        // The library sets tag "!" for quoted scalars and "?" for plain scalars.
        return node.Tag() == "?" || node.Tag().empty() ? Plain(node.Scalar()) : Json(node.Scalar());
      case YAML::NodeType::Null:
      case YAML::NodeType::Undefined:
        break;
    }
    return nullptr;
  }

 private:
  // Counts one value. While this object exists, also counts one level, because a value that contains an alias of itself
  // has no end.
  class Level {
   public:
    Level(Converter& converter, const YAML::Node& node) : depth_(converter.depth_) {
      if (++converter.nodes_ > kMaxYamlNodes) throw Unreadable(node.Mark(), "the document has too many values");
      if (depth_ == kMaxJsonDepth) {
        throw Unreadable(node.Mark(),
                         "the values are nested too deeply: does an alias refer to a value that contains the alias?");
      }
      ++depth_;
    }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    std::size_t& depth_;
  };

  Json Map(const YAML::Node& node) {
    Json object = Json::object();
    std::vector<YAML::Node> merged;
    for (const auto& member : node) {
      if (!member.first.IsScalar()) throw Unreadable(member.first.Mark(), "a key must be a string");
      const std::string& key = member.first.Scalar();
      if (key == "<<" && member.first.Tag() != "!") {
        merged.push_back(member.second);
      } else if (!object.emplace(key, Convert(member.second)).second) {
        throw Unreadable(member.first.Mark(), "key \"" + Excerpt(key, 60) + "\" is duplicated");
      }
    }
    for (const YAML::Node& from : merged) Merge(from, object);
    return object;
  }

  // Adds the members of `<<: *anchor`, or of a list of anchors. A member of the map itself takes precedence, and an
  // earlier anchor takes precedence over a later anchor.
  void Merge(const YAML::Node& from, Json& object) {
    const Level level(*this, from);
    if (from.IsSequence()) {
      for (const YAML::Node& element : from) Merge(element, object);
    } else if (from.IsMap()) {
      const Json more = Map(from);
      for (const auto& [key, value] : more.items()) object.emplace(key, value);
    } else {
      throw Unreadable(from.Mark(), "<< needs a map, or a list of maps");
    }
  }

  std::size_t nodes_ = 0;
  std::size_t depth_ = 0;
};

tl::unexpected<Error> SyntaxError(const std::string& source, const YAML::Mark& mark, const std::string& why) {
  const std::string line = mark.is_null() ? "" : ": line " + std::to_string(mark.line + 1);
  return Fail(Reason::kConfig, source + line + ": " + why);
}

// Splits "a.b[2][c.d]" into "a", "b", "2" and "c.d".
std::vector<std::string> PartsOf(const std::string& field) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < field.size();) {
    const bool bracket = field[at] == '[';
    if (bracket || field[at] == '.') ++at;
    const std::size_t end = std::min(field.find_first_of(bracket ? "]" : ".[", at), field.size());
    if (end > at) parts.push_back(field.substr(at, end - at));
    at = bracket ? end + 1 : end;
  }
  return parts;
}

// Returns the position in the file of the value at a path. `parts` has the names of the path, and the first `depth` of
// them lead to `node`, whose position is `mark`. If the path does not exist, returns the position of its last part that
// exists.
YAML::Mark MarkOf(const YAML::Node& node, const std::vector<std::string>& parts, std::size_t depth, YAML::Mark mark) {
  if (depth == parts.size()) return mark;
  const std::string& part = parts[depth];
  if (node.IsMap()) {
    for (const auto& member : node) {
      if (member.first.IsScalar() && member.first.Scalar() == part)
        return MarkOf(member.second, parts, depth + 1, member.first.Mark());
    }
  } else if (node.IsSequence()) {
    auto index = ParseNumber<std::size_t>(part);
    if (!index) return mark;
    for (const YAML::Node& element : node) {
      if ((*index)-- == 0) return MarkOf(element, parts, depth + 1, element.Mark());
    }
  }
  return mark;
}

}  // namespace

std::size_t LineOfField(const std::string& text, std::size_t document, const std::string& field) {
  try {
    for (const YAML::Node& node : YAML::LoadAll(text)) {
      const bool empty = !node.IsMap() && !node.IsSequence() && Converter().Convert(node).is_null();
      if (empty || document-- > 0) continue;
      const YAML::Mark mark = MarkOf(node, PartsOf(field), 0, node.Mark());
      return mark.is_null() ? 0 : static_cast<std::size_t>(mark.line) + 1;
    }
  } catch (const std::exception&) {
    return 0;
  }
  return 0;
}

Result<std::vector<Json>> ReadYaml(const std::string& text, const std::string& source) {
  std::vector<Json> documents;
  try {
    for (const YAML::Node& node : YAML::LoadAll(text)) {
      Json document = Converter().Convert(node);
      if (!document.is_null()) documents.push_back(std::move(document));
    }
  } catch (const YAML::Exception& error) {
    return SyntaxError(source, error.mark, error.msg);
  } catch (const Unreadable& error) {
    return SyntaxError(source, error.mark, error.why);
  } catch (const std::exception& error) {
    return Fail(Reason::kConfig, source + ": " + error.what());
  }
  return documents;
}

}  // namespace yad
