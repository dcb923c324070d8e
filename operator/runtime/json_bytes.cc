#include "operator/runtime/json_bytes.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

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

// Reads bytes that AppendCbor has written. After other bytes, ok() is false, and the values that were read mean
// nothing.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

  Json Read() {
    const Head head = ReadHead();
    switch (head.major) {
      case Major::kUnsigned:
        return head.argument;
      case Major::kNegative:
        return static_cast<std::int64_t>(~head.argument);
      case Major::kText:
        return std::string(Take(head.argument));
      case Major::kArray:
        return ReadArray(head.argument);
      case Major::kMap:
        return ReadMap(head.argument);
      case Major::kOther:
        return ReadOther(head);
    }
    Fail();
    return nullptr;
  }

  // Adds the next value to `digest`, by the rules of StoredObject::NormalizedDigest.
  void AddNormalized(const std::vector<FieldRule>& rules, std::string_view name, std::uint64_t& digest) {
    const auto add_since = [&](std::string_view begin) {
      digest = Digested(digest, begin.substr(0, begin.size() - rest_.size()));
    };
    const std::string_view value = rest_;
    if (rules.empty() || Reader(rest_).ReadHead().major != Major::kMap) {
      Skip();
      return add_since(value);
    }
    std::uint64_t count = ReadHead().argument;
    add_since(value);
    for (; count > 0 && ok_; --count) {
      const std::string_view member = rest_;
      const std::string_view key = ReadText();
      const auto rule =
          std::find_if(rules.begin(), rules.end(), [key](const FieldRule& one) { return one.key == key; });
      if (rule == rules.end()) {
        Skip();
        add_since(member);
      } else if (rule->treatment == FieldRule::kIgnore) {
        Skip();
      } else {
        add_since(member);
        if (rule->treatment == FieldRule::kSubstituteName && SkipIf(name)) continue;
        AddNormalized(rule->inside, name, digest);
      }
    }
  }

 private:
  struct Head {
    Major major = Major::kOther;
    std::uint8_t info = kNull;  // the lower five bits of the first byte
    std::uint64_t argument = 0;
  };

  void Fail() {
    ok_ = false;
    rest_ = {};
  }

  std::string_view Take(std::uint64_t size) {
    if (size > rest_.size()) Fail();
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(bytes.size());
    return bytes;
  }

  Head ReadHead() {
    const std::string_view first = Take(1);
    if (!ok_) return {};
    Head head{static_cast<Major>(static_cast<std::uint8_t>(first[0]) >> 5), static_cast<std::uint8_t>(first[0] & 0x1f),
              0};
    if (head.info < 24) {
      head.argument = head.info;
    } else if (head.info <= 27) {
      for (const char byte : Take(std::uint64_t{1} << (head.info - 24)))
        head.argument = head.argument << 8 | static_cast<std::uint8_t>(byte);
    } else {
      Fail();
    }
    return head;
  }

  // Reads a string. The result refers to the bytes of the reader.
  std::string_view ReadText() {
    const Head head = ReadHead();
    if (head.major != Major::kText) Fail();
    return Take(ok_ ? head.argument : 0);
  }

  void Skip() {
    const Head head = ReadHead();
    if (head.major == Major::kText) Take(head.argument);
    std::uint64_t values = head.major == Major::kMap     ? 2 * head.argument
                           : head.major == Major::kArray ? head.argument
                                                         : 0;
    for (; values > 0 && ok_; --values) Skip();
  }

  // If the next value is the string `wanted`, skips it and returns true.
  bool SkipIf(std::string_view wanted) {
    Reader next = *this;
    if (next.ReadText() != wanted || !next.ok_) return false;
    *this = next;
    return true;
  }

  Json ReadArray(std::uint64_t count) {
    if (count > rest_.size()) Fail();
    Json::array_t array(ok_ ? count : 0);
    for (Json& item : array) item = Read();
    return Json(std::move(array));
  }

  Json ReadMap(std::uint64_t count) {
    Json::object_t map;
    for (; count > 0 && ok_; --count) {
      const std::string_view key = ReadText();
      map.emplace_hint(map.end(), key, Read());  // Keys are in order, so this key is the last.
    }
    return Json(std::move(map));
  }

  Json ReadOther(const Head& head) {
    if (head.info == kDouble) return std::bit_cast<double>(head.argument);
    if (head.info == kFalse || head.info == kTrue) return head.info == kTrue;
    if (head.info != kNull) Fail();
    return nullptr;
  }

  std::string_view rest_;
  bool ok_ = true;
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
  Reader reader(bytes);
  reader.AddNormalized(rules, name, digest);
  return reader.ok() ? digest : Digested(digest, bytes);
}

Json FromCbor(std::string_view bytes) {
  Reader reader(bytes);
  Json value = reader.Read();
  if (!reader.ok() || !reader.at_end()) return Json(Json::value_t::discarded);
  return value;
}

}  // namespace yad
