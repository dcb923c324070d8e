#include "tests/support/yaml.h"

#include <yaml-cpp/yaml.h>

#include <charconv>

#include "tests/support/eventually.h"

namespace yad::testing {
namespace {

template <typename Number>
bool ReadNumber(const std::string& text, Json& value) {
  Number number{};
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  value = number;
  return true;
}

Json PlainScalar(const std::string& text) {
  if (text.empty() || text == "~" || text == "null") return nullptr;
  if (text == "true") return true;
  if (text == "false") return false;
  Json value;
  // JSON has no numbers like "inf" and "nan", so they stay strings.
  if (text.find_first_not_of("+-.0123456789eE") == std::string::npos &&
      (ReadNumber<std::int64_t>(text, value) || ReadNumber<double>(text, value))) {
    return value;
  }
  return text;
}

Json ToJson(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Map: {
      Json object = Json::object();
      for (const auto& member : node) object[member.first.Scalar()] = ToJson(member.second);
      return object;
    }
    case YAML::NodeType::Sequence: {
      Json list = Json::array();
      for (const YAML::Node& element : node) list.push_back(ToJson(element));
      return list;
    }
    case YAML::NodeType::Scalar:
      return node.Tag() == "!" ? Json(node.Scalar()) : PlainScalar(node.Scalar());
    case YAML::NodeType::Null:
    case YAML::NodeType::Undefined:
      break;
  }
  return nullptr;
}

}  // namespace

std::vector<Json> ParseYaml(const std::string& text) {
  std::vector<Json> documents;
  try {
    for (const YAML::Node& node : YAML::LoadAll(text)) {
      if (!node.IsNull()) documents.push_back(ToJson(node));
    }
  } catch (const YAML::Exception& error) {
    throw TestFailure(std::string("invalid YAML: ") + error.what());
  }
  return documents;
}

}  // namespace yad::testing
