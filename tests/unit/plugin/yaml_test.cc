#include "tests/support/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "plugin/manifest/yaml.h"

namespace yad {
namespace {

Json ReadOne(const std::string& text) {
  const auto documents = ReadYaml(text, "test");
  if (!documents || documents->size() != 1) return "not one document of:\n" + text;
  return documents->front();
}

TEST(YamlWriterTest, ObjectsLookAsKubectlPrintsThem) {
  const Json object = {{"apiVersion", "apps/v1"},
                       {"metadata", {{"annotations", Json::object()}, {"name", "web"}}},
                       {"spec",
                        {{"args", {"-v", "--flag=a b", "8080"}},
                         {"containers", {{{"image", "nginx:1.27"}, {"ports", {{{"containerPort", 80}}}}}}},
                         {"empty", Json::array()},
                         {"nested", {{1, 2}, {"a"}}},
                         {"paused", false},
                         {"weight", 0.5}}}};
  EXPECT_EQ(ToYaml(object), R"(apiVersion: apps/v1
metadata:
  annotations: {}
  name: web
spec:
  args:
  - "-v"
  - "--flag=a b"
  - "8080"
  containers:
  - image: nginx:1.27
    ports:
    - containerPort: 80
  empty: []
  nested:
  - - 1
    - 2
  - - a
  paused: false
  weight: 0.5
)");
}

TEST(YamlWriterTest, ATextOfSeveralLinesIsABlockScalar) {
  EXPECT_EQ(ToYaml({{"a", "x: 1\ny\n"}, {"b", "x\n\ny"}}), "a: |\n  x: 1\n  y\nb: |-\n  x\n\n  y\n");
}

TEST(YamlWriterTest, JsonInATextIsSingleQuoted) {
  EXPECT_EQ(ToYaml({{"a", R"({"b":"it's"})"}}), R"(a: '{"b":"it''s"}')"
                                                "\n");
}

TEST(YamlWriterTest, TextsThatYamlWouldReadAsOtherTypesAreQuoted) {
  for (const std::string text :
       {"",           "true",     "no",           "Off",          "y",    "null",  "~",     "1",      "-1",
        "+1",         "1.5",      "1e3",          ".5",           ".inf", "-.INF", ".nan",  "0x1F",   "0o17",
        "0777",       "1_000",    "1:30",         "<<",           "=",    "-",     "- a",   "a: b",   "a #b",
        "#a",         "a:",       "[a",           "{a}",          "*a",   "&a",    "!a",    "|",      ">",
        "'a'",        "\"",       "%a",           "@a",           "`a",   " a",    "a ",    "a\tb",   "\t",
        "2026-11-20", "a\r\n",    "\n",           "\n\n",         "a\n ", "?",     ",",     "x\x7F",  "x\x01",
        "a, b",       "\xC2\x85", "\xE2\x80\xA8", "\xEF\xBB\xBF", "---",  "...",   "a\n\n", "  a\nb", "a \nb"}) {
    const Json value = {{"key", text}, {text, 1}};
    EXPECT_EQ(ReadOne(ToYaml(value)), value) << ToYaml(value);
    // A parser of YAML 1.2 must read the same value.
    EXPECT_EQ(testing::ParseYaml(ToYaml(value)).at(0), value) << ToYaml(value);
  }
}

Json RandomText(std::mt19937& random) {
  static const std::vector<std::string> pieces{"a", "0", "1", "-", ":", " ",  "#",   "\n", "\"", "'",
                                               "{", "]", ",", ".", "e", "\\", "\t",  "é",  "€",  "%",
                                               "&", "*", "!", "|", ">", "~",  "yes", "x",  "_"};
  std::string text;
  for (auto n = random() % 6; n > 0; --n) text += pieces[random() % pieces.size()];
  return text;
}

Json RandomValue(std::mt19937& random, int depth) {
  switch (random() % (depth > 4 ? 5 : 7)) {
    case 0:
      return nullptr;
    case 1:
      return random() % 2 == 0;
    case 2:
      return static_cast<std::int64_t>(random()) - 2'000'000'000;
    case 3:
      return static_cast<double>(random() % 1000) / 8 + 0.0625;
    case 4:
      return RandomText(random);
    case 5: {
      Json list = Json::array();
      for (auto n = random() % 4; n > 0; --n) list.push_back(RandomValue(random, depth + 1));
      return list;
    }
    default: {
      Json object = Json::object();
      for (auto n = random() % 4; n > 0; --n) {
        object[RandomText(random).get<std::string>()] = RandomValue(random, depth + 1);
      }
      return object;
    }
  }
}

TEST(YamlWriterTest, RandomValuesAreParsedBackToTheSameJson) {
  std::mt19937 random(7);
  for (int i = 0; i < 5000; ++i) {
    const Json value = {{"value", RandomValue(random, 0)}};
    ASSERT_EQ(ReadOne(ToYaml(value)), value) << ToYaml(value) << value.dump();
  }
}

TEST(YamlReaderTest, PlainScalarsGetTheSameTypesAsInKubectl) {
  EXPECT_EQ(
      ReadOne(
          "[yes, No, on, ~, null, 0777, 0x1F, 1_000, 1.5, -3, 1e3, 2026-01-01, 1.2.3, nginx:1.27, 'yes', \"1\", +x]"),
      (Json{true, false, true, nullptr, nullptr, 511, 31, 1000, 1.5, -3, 1000.0, "2026-01-01", "1.2.3", "nginx:1.27",
            "yes", "1", "+x"}));
  EXPECT_EQ(ReadOne("[18446744073709551615, -9223372036854775808, !!str 5, .inf]"),
            (Json{18446744073709551615ULL, std::numeric_limits<std::int64_t>::min(), "5", ".inf"}));
}

TEST(YamlReaderTest, AnchorsAndMergesAreResolved) {
  EXPECT_EQ(ReadOne("a: &a {x: 1, y: 2}\nb:\n  <<: *a\n  y: 3\nc: *a\n"),
            R"({"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}, "c": {"x": 1, "y": 2}})"_json);
}

TEST(YamlReaderTest, EmptyDocumentsAreSkipped) {
  const auto documents = ReadYaml("---\n# nothing\n---\na: 1\n---\n---\n{\"b\": 2}\n", "test");
  ASSERT_TRUE(documents);
  EXPECT_THAT(*documents, ::testing::ElementsAre(R"({"a": 1})"_json, R"({"b": 2})"_json));
}

TEST(YamlReaderTest, InvalidYamlIsRejectedWithItsLine) {
  const auto message = [](const std::string& text) { return ReadYaml(text, "f.yaml").error().message; };
  EXPECT_THAT(message("a: 1\nb: [1\nc: 2\n"), ::testing::StartsWith("f.yaml: line "));
  EXPECT_EQ(message("a: 1\nb: 2\na: 3\n"), "f.yaml: line 3: key \"a\" is duplicated");
  EXPECT_THAT(message("? [a]\n: b\n"), ::testing::HasSubstr("a key must be a string"));
  // The "billion laughs" attack: nested aliases.
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int n = 0; n < 9; ++n) bomb += ", " + last;
    bomb += "]\n";
  }
  EXPECT_THAT(message(bomb), ::testing::HasSubstr("too many values"));
}

TEST(YamlReaderTest, AnAliasInsideItsOwnAnchorIsRejected) {
  const auto message = [](const std::string& text) {
    const auto read = ReadYaml(text, "f.yaml");
    return read ? "accepted" : read.error().message;
  };
  for (const char* text :
       {"x: 1\na: &a {b: *a}\n", "x: 1\na: &a [*a]\n", "x: 1\na: &a\n  <<: *a\n", "x: 1\na: {<<: &a [*a]}\n"}) {
    EXPECT_THAT(message(text), ::testing::StartsWith("f.yaml: line ")) << text;
    EXPECT_THAT(message(text), ::testing::EndsWith("the values are nested too deeply: does an alias refer to a value "
                                                   "that contains the alias?"))
        << text;
  }
}

TEST(YamlReaderTest, ManyMergesOfEmptyMapsAreRejected) {
  std::string text = "a0: &a0 {}\n";
  for (int i = 1; i < 9; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " {<<: [" + last;
    for (int n = 0; n < 9; ++n) text += ", " + last;
    text += "]}\n";
  }
  const auto read = ReadYaml(text, "f.yaml");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, ::testing::HasSubstr("too many values"));
}

TEST(YamlReaderTest, ValuesOfTwoHundredLevelsAreRead) {
  const std::string text = std::string(200, '[') + std::string(200, ']');
  EXPECT_EQ(ReadOne(text).dump(), text);
}

}  // namespace
}  // namespace yad
