#include "operator/runtime/json_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "operator/json/json_document.h"
#include "operator/runtime/store.h"

namespace yad {
namespace {

std::string Cbor(const Json& value) {
  std::string bytes;
  AppendCbor(value, bytes);
  return bytes;
}

Json RandomValue(std::mt19937& random, int depth) {
  // Only a few strings are long, because a value may have thousands of strings.
  static constexpr std::size_t kSizes[] = {0, 1, 23, 24, 255, 256, 65'535, 65'536};
  const bool may_be_long = depth == 0 && random() % 50 == 0;
  switch (random() % (depth > 0 ? 8 : 6)) {
    case 0:
      return nullptr;
    case 1:
      return random() % 2 == 0;
    case 2:
      return std::uint64_t{random()} << (random() % 33);
    case 3:
      return -static_cast<std::int64_t>(std::uint64_t{random()} << (random() % 31));
    case 4:
      return std::string(kSizes[random() % (may_be_long ? 8 : 6)], static_cast<char>(random()));
    case 5:
      return std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 64) - 32);
    case 6: {
      Json array = Json::array();
      for (std::size_t i = random() % 30; i > 0; --i) array.push_back(RandomValue(random, depth - 1));
      return array;
    }
    default: {
      Json object = Json::object();
      for (std::size_t i = random() % 30; i > 0; --i)
        object[std::to_string(random() % 100)] = RandomValue(random, depth - 1);
      return object;
    }
  }
}

TEST(JsonBytesTest, WrittenBytesAreReadBackAndAreValidCbor) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const Json value = RandomValue(random, 3);
    const std::string bytes = Cbor(value);
    const Json read = FromCbor(bytes);
    ASSERT_EQ(read, value) << round;
    ASSERT_EQ(read.type(), value.type()) << round;
    ASSERT_EQ(Json::from_cbor(bytes), value) << round;
  }
}

// Prints the value with its keys in a random order. An apiserver may use any order.
std::string Shuffled(const Json& value, std::mt19937& random) {
  std::vector<std::string> parts;
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) parts.push_back(Json(key).dump() + ":" + Shuffled(member, random));
    std::shuffle(parts.begin(), parts.end(), random);
  } else if (value.is_array()) {
    for (const Json& item : value) parts.push_back(Shuffled(item, random));
  } else {
    return value.dump();
  }
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

TEST(JsonBytesTest, ATextAndItsTreeGiveTheSameBytes) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const Json value = Json::parse(Json(RandomValue(random, 3)).dump(-1, ' ', false, Json::error_handler_t::replace));
    std::string bytes;
    AppendCbor(JsonDocument::Parse(Shuffled(value, random))->value(), bytes);
    ASSERT_EQ(bytes, Cbor(value)) << round;
  }
}

TEST(JsonBytesTest, LastMemberOfADuplicateKeyIsWritten) {
  std::string bytes;
  AppendCbor(JsonDocument::Parse(R"({"b":1,"a":2,"b":{"c":1,"c":3},"a":4,"b":5})")->value(), bytes);
  EXPECT_EQ(FromCbor(bytes).dump(), R"({"a":4,"b":5})");
}

TEST(JsonBytesTest, NumbersAtTheLimitsOfTheirTypesAreKept) {
  for (const Json& number :
       {Json(std::numeric_limits<std::uint64_t>::max()), Json(std::numeric_limits<std::int64_t>::min()), Json(-1),
        Json(-24), Json(-25), Json(0), Json(0.1), Json(-1e300), Json(1e-300)}) {
    EXPECT_EQ(FromCbor(Cbor(number)), number) << number;
    EXPECT_EQ(Json::from_cbor(Cbor(number)), number) << number;
  }
}

TEST(JsonBytesTest, TruncatedOrExtendedBytesAreDiscarded) {
  const std::string bytes = Cbor(
      Json::parse(R"({"a": [1, -2, 300, true, null, 0.5, "text"], "b": {"c": "a text of more than 23 characters"}})"));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_TRUE(FromCbor(std::string_view(bytes).substr(0, size)).is_discarded()) << size;
  EXPECT_TRUE(FromCbor(bytes + '\0').is_discarded());
}

TEST(JsonBytesTest, RandomBytesNeverCrash) {
  std::mt19937 random(2);
  const std::string good = Cbor(RandomValue(random, 3));
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = round % 2 == 0 ? good : std::string(random() % 40, '\0');
    for (int i = 0; i < 8 && !bytes.empty(); ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    FromCbor(bytes);
    NormalizedDigestOfCbor(bytes, {{"a", FieldRule::kIgnore, {}}}, "name");
  }
}

// ---- NormalizedDigest

// The rules ignore "b". In "c", the member "mine" is the owner's name.
std::uint64_t NormalizedDigestOf(const Json& value, std::string_view name) {
  static const std::vector<FieldRule> rules = {{"b", FieldRule::kIgnore, {}},
                                               {"c", FieldRule::kDescend, {{"mine", FieldRule::kSubstituteName, {}}}}};
  return NormalizedDigestOfCbor(Cbor(value), rules, name);
}

TEST(NormalizedDigestTest, OnlyFieldsOfTheRulesMayDiffer) {
  const Json one = R"({"a":{"x":[1,2]},"b":1,"c":{"mine":"one","other":"one","mine2":{}}})"_json;
  const std::uint64_t digest = NormalizedDigestOf(one, "one");
  const auto with = [&](const char* path, const Json& value) {
    Json other = one;
    other[Json::json_pointer(path)] = value;
    return other;
  };
  EXPECT_EQ(NormalizedDigestOf(with("/c/mine", "another"), "another"), digest);
  EXPECT_EQ(NormalizedDigestOf(with("/b", {{"any", "thing"}}), "one"), digest);
  for (const Json& other :
       {with("/c/mine", "another"), with("/c/mine", nullptr), with("/c/mine", "on"), with("/c/mine", "one2"),
        with("/c/mine", Json::array({"one"})), with("/c/other", "another"), with("/a/mine", "one"), with("/a/x/1", 3),
        with("/a/x", Json::array({1})), with("/a", "x"), with("/c", nullptr), with("/c", "mine"), with("/d", 1),
        with("/c/mine2/b", 1), Json("one"), Json::object()}) {
    EXPECT_NE(NormalizedDigestOf(other, "one"), digest) << other;
  }
  EXPECT_NE(NormalizedDigestOf(with("/c/other", "another"), "another"), digest)
      << "/c/mine does not have the owner's name";
}

TEST(NormalizedDigestTest, DigestsOfRandomValuesAreEqualOnlyForEqualValues) {
  std::mt19937 random(4);
  std::map<std::uint64_t, Json> known;
  for (int round = 0; round < 300; ++round) {
    Json value = RandomValue(random, 3);
    if (value.is_object()) value.erase("b");
    const auto [at, added] = known.emplace(NormalizedDigestOf(value, ""), value);
    EXPECT_EQ(at->second, value);
  }
}

}  // namespace
}  // namespace yad
