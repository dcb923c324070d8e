#include "operator/runtime/json_bytes.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>

namespace yad {
namespace {

// CBOR's major types: the upper three bits of the first byte of a value (RFC 8949, section 3).
enum class Major : std::uint8_t { kUnsigned = 0, kNegative = 1, kText = 3, kArray = 4, kMap = 5, kOther = 7 };

constexpr std::uint8_t kFalse = 20;  // values of Major::kOther
constexpr std::uint8_t kTrue = 21;
constexpr std::uint8_t kNull = 22;
constexpr std::uint8_t kDouble = 27;

// Appends the head of a value: its major type, and its argument in 2^log bytes.
void AppendLongHead(Major major, unsigned log, std::uint64_t argument, std::string& out) {
  char bytes[9] = {static_cast<char>(static_cast<unsigned>(major) << 5 | (24 + log))};
  const std::size_t count = std::size_t{1} << log;
  for (std::size_t i = 0; i < count; ++i) bytes[1 + i] = static_cast<char>(argument >> (8 * (count - 1 - i)));
  out.append(bytes, 1 + count);
}

void AppendHead(Major major, std::uint64_t argument, std::string& out) {
  if (argument < 24) {
    out += static_cast<char>(static_cast<unsigned>(major) << 5 | argument);
    return;
  }
  AppendLongHead(major,
                 argument <= UINT8_MAX    ? 0
                 : argument <= UINT16_MAX ? 1
                 : argument <= UINT32_MAX ? 2
                                          : 3,
                 argument, out);
}

void AppendText(std::string_view text, std::string& out) {
  AppendHead(Major::kText, text.size(), out);
  out += text;
}

void AppendInteger(std::int64_t number, std::string& out) {
  const auto bits = static_cast<std::uint64_t>(number);
  return number < 0 ? AppendHead(Major::kNegative, ~bits, out) : AppendHead(Major::kUnsigned, bits, out);
}

void AppendDouble(double number, std::string& out) {
  AppendLongHead(Major::kOther, kDouble - 24, std::bit_cast<std::uint64_t>(number), out);
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  // Returns false for bytes that AppendCbor cannot have written.
  bool Read(Json& value) {
    if (rest_.empty()) return false;
    const auto first = static_cast<std::uint8_t>(rest_[0]);
    const auto major = static_cast<Major>(first >> 5);
    std::uint64_t argument = 0;
    if (!ReadHead(argument)) return false;
    switch (major) {
      case Major::kUnsigned:
        value = argument;
        return true;
      case Major::kNegative:
        value = static_cast<std::int64_t>(~argument);
        return true;
      case Major::kText: {
        std::string_view text;
        if (!Take(argument, text)) return false;
        value = std::string(text);
        return true;
      }
      case Major::kArray:
        return ReadArray(argument, value);
      case Major::kMap:
        return ReadMap(argument, value);
      case Major::kOther:
        return ReadOther(first & 0x1f, argument, value);
    }
    return false;
  }
  bool at_end() const { return rest_.empty(); }

  bool Skip() {
    if (rest_.empty()) return false;
    const auto major = static_cast<Major>(static_cast<std::uint8_t>(rest_[0]) >> 5);
    std::uint64_t argument = 0;
    if (!ReadHead(argument)) return false;
    if (major == Major::kText) {
      if (argument > rest_.size()) return false;
      rest_.remove_prefix(argument);
    } else if (major == Major::kArray || major == Major::kMap) {
      for (std::uint64_t left = major == Major::kMap ? 2 * argument : argument; left > 0; --left) {
        if (!Skip()) return false;
      }
    }
    return true;
  }

  // Adds the next value to `digest`, by the rules of StoredObject::NormalizedDigest.
  bool AddNormalized(const std::vector<FieldRule>& rules, std::string_view name, std::uint64_t& digest) {
    const std::string_view value = rest_;
    if (rules.empty() || !IsNext(Major::kMap)) {
      if (!Skip()) return false;
      digest = Digested(digest, value.substr(0, value.size() - rest_.size()));
      return true;
    }
    std::uint64_t count = 0;
    if (!ReadHead(count)) return false;
    digest = Digested(digest, value.substr(0, value.size() - rest_.size()));
    for (; count > 0; --count) {
      const std::string_view member = rest_;
      std::string_view key;
      if (!ReadText(key)) return false;
      const auto rule =
          std::find_if(rules.begin(), rules.end(), [key](const FieldRule& one) { return one.key == key; });
      if (rule == rules.end()) {
        if (!Skip()) return false;
        digest = Digested(digest, member.substr(0, member.size() - rest_.size()));
      } else if (rule->treatment == FieldRule::kIgnore) {
        if (!Skip()) return false;
      } else {
        digest = Digested(digest, member.substr(0, member.size() - rest_.size()));
        if (rule->treatment == FieldRule::kSubstituteName && SkipIf(name)) continue;
        if (!AddNormalized(rule->inside, name, digest)) return false;
      }
    }
    return true;
  }

 private:
  bool IsNext(Major major) const {
    return !rest_.empty() && static_cast<Major>(static_cast<std::uint8_t>(rest_[0]) >> 5) == major;
  }

  // Reads a string. `text` refers to the bytes of the reader.
  bool ReadText(std::string_view& text) {
    std::uint64_t size = 0;
    return IsNext(Major::kText) && ReadHead(size) && Take(size, text);
  }

  // If the next value is the string `wanted`, skips it and returns true.
  bool SkipIf(std::string_view wanted) {
    const std::string_view before = rest_;
    std::string_view text;
    if (ReadText(text) && text == wanted) return true;
    rest_ = before;
    return false;
  }

  bool ReadHead(std::uint64_t& argument) {
    const std::uint8_t info = static_cast<std::uint8_t>(rest_[0]) & 0x1f;
    rest_.remove_prefix(1);
    if (info < 24) {
      argument = info;
      return true;
    }
    if (info > 27) return false;
    const std::size_t count = std::size_t{1} << (info - 24);
    if (rest_.size() < count) return false;
    argument = 0;
    for (std::size_t i = 0; i < count; ++i) argument = argument << 8 | static_cast<std::uint8_t>(rest_[i]);
    rest_.remove_prefix(count);
    return true;
  }

  bool Take(std::uint64_t size, std::string_view& bytes) {
    if (size > rest_.size()) return false;
    bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

  bool ReadArray(std::uint64_t count, Json& value) {
    if (count > rest_.size()) return false;
    value = Json::array();
    auto& array = value.get_ref<Json::array_t&>();
    array.resize(count);
    return std::all_of(array.begin(), array.end(), [&](Json& item) { return Read(item); });
  }

  bool ReadMap(std::uint64_t count, Json& value) {
    value = Json::object();
    auto& map = value.get_ref<Json::object_t&>();
    for (std::uint64_t i = 0; i < count; ++i) {
      std::string_view key;
      if (!ReadText(key)) return false;
      const auto member = map.emplace_hint(map.end(), key, nullptr);  // Keys are in order, so this key is the last.
      if (!Read(member->second)) return false;
    }
    return true;
  }

  static bool ReadOther(std::uint8_t info, std::uint64_t argument, Json& value) {
    switch (info) {
      case kFalse:
      case kTrue:
        value = info == kTrue;
        return true;
      case kNull:
        value = nullptr;
        return true;
      case kDouble:
        value = std::bit_cast<double>(argument);
        return true;
      default:
        return false;
    }
  }

  std::string_view rest_;
};

}  // namespace

void AppendCborObject(std::size_t members, std::string& out) { AppendHead(Major::kMap, members, out); }

void AppendCborKey(std::string_view key, std::string& out) { AppendText(key, out); }

const Json::object_t& MembersInOrder(const Json& object) { return object.get_ref<const Json::object_t&>(); }

TextMembers MembersInOrder(const simdjson::dom::element& object) {
  TextMembers members;
  for (const auto [key, member] : simdjson::dom::object(object)) members.emplace_back(key, member);
  const auto by_key = [](const auto& a, const auto& b) { return a.first < b.first; };
  const auto same_key = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (!std::is_sorted(members.begin(), members.end(), by_key)) {
    std::stable_sort(members.begin(), members.end(), by_key);
  }
  if (std::adjacent_find(members.begin(), members.end(), same_key) != members.end()) {
    const auto kept = std::unique(members.rbegin(), members.rend(), same_key);
    members.erase(members.begin(), kept.base());
  }
  return members;
}

void AppendCbor(const Json& value, std::string& out) {
  switch (value.type()) {
    case Json::value_t::object: {
      const auto& map = value.get_ref<const Json::object_t&>();
      AppendCborObject(map.size(), out);
      for (const auto& [key, member] : map) {
        AppendText(key, out);
        AppendCbor(member, out);
      }
      return;
    }
    case Json::value_t::array: {
      const auto& array = value.get_ref<const Json::array_t&>();
      AppendHead(Major::kArray, array.size(), out);
      for (const Json& item : array) AppendCbor(item, out);
      return;
    }
    case Json::value_t::string:
      return AppendText(value.get_ref<const std::string&>(), out);
    case Json::value_t::number_unsigned:
      return AppendHead(Major::kUnsigned, value.get<std::uint64_t>(), out);
    case Json::value_t::number_integer:
      return AppendInteger(value.get<std::int64_t>(), out);
    case Json::value_t::number_float:
      return AppendDouble(value.get<double>(), out);
    case Json::value_t::boolean:
      return AppendHead(Major::kOther, value.get<bool>() ? kTrue : kFalse, out);
    default:
      return AppendHead(Major::kOther, kNull, out);
  }
}

void AppendCbor(const simdjson::dom::element& value, std::string& out) {
  using Type = simdjson::dom::element_type;
  switch (value.type()) {
    case Type::OBJECT: {
      const auto members = MembersInOrder(value);
      AppendCborObject(members.size(), out);
      for (const auto& [key, member] : members) {
        AppendText(key, out);
        AppendCbor(member, out);
      }
      return;
    }
    case Type::ARRAY: {
      const simdjson::dom::array array(value);
      std::size_t size = 0;
      for ([[maybe_unused]] const auto item : array) ++size;
      AppendHead(Major::kArray, size, out);
      for (const auto item : array) AppendCbor(item, out);
      return;
    }
    case Type::STRING:
      return AppendText(std::string_view(value), out);
    case Type::INT64:
      return AppendInteger(std::int64_t(value), out);
    case Type::UINT64:
      return AppendHead(Major::kUnsigned, std::uint64_t(value), out);
    case Type::DOUBLE:
      return AppendDouble(double(value), out);
    case Type::BOOL:
      return AppendHead(Major::kOther, bool(value) ? kTrue : kFalse, out);
    case Type::NULL_VALUE:
      return AppendHead(Major::kOther, kNull, out);
  }
}

std::uint64_t Digested(std::uint64_t digest, std::string_view bytes) {
  digest = (digest ^ std::hash<std::string_view>{}(bytes)) * 0x9e3779b97f4a7c15ULL;
  return digest ^ digest >> 32;
}

std::uint64_t NormalizedDigestOfCbor(std::string_view bytes, const std::vector<FieldRule>& rules,
                                     std::string_view name) {
  std::uint64_t digest = 0;
  return Reader(bytes).AddNormalized(rules, name, digest) ? digest : Digested(digest, bytes);
}

Json FromCbor(std::string_view bytes) {
  Reader reader(bytes);
  Json value;
  if (!reader.Read(value) || !reader.at_end()) return Json(Json::value_t::discarded);
  return value;
}

}  // namespace yad
