#include "operator/client/watch_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/support/fake_transport.h"

namespace yad {
namespace {

using testing::FakeStream;
using testing::FakeTransport;
using ::testing::HasSubstr;

std::string Line(const std::string& type, const std::string& name) {
  return Json{{"type", type}, {"object", {{"kind", "Pod"}, {"metadata", {{"name", name}}}}}}.dump() + "\n";
}

// Returns the type and name of each event, and then "end" or the reason of the error: "A:a M:b end".
std::string ReadAll(Watch& watch) {
  std::string out;
  for (;;) {
    const Result<std::optional<WatchEvent>> event = watch.Next();
    if (!event) return out + std::string(ToString(event.error().reason));
    if (!*event) return out + "end";
    out += "AMDB"[static_cast<int>((*event)->type)];
    out += ":" + StringAt((*event)->object.TreeOfObject(), {"metadata", "name"}) + " ";
  }
}

std::unique_ptr<Watch> WatchOf(const std::vector<std::string>& chunks, bool breaks = false) {
  FakeTransport transport;
  auto stream = transport.Open({}, {});
  auto test_end = transport.TakeStream();
  for (const std::string& chunk : chunks) test_end->Push(chunk);
  if (breaks) {
    test_end->Fail(Error{Reason::kTransport, "broke", 0, {}, {}});
  } else {
    test_end->End();
  }
  return std::make_unique<Watch>(std::move(*stream));
}

std::string Decode(const std::vector<std::string>& chunks, bool breaks = false) {
  return ReadAll(*WatchOf(chunks, breaks));
}

const std::string kText = Line("ADDED", "a") + Line("MODIFIED", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") + "\r\n\n" +
                          Line("DELETED", "c") + Line("BOOKMARK", "");
const char kEvents[] = "A:a M:\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 D:c B: end";

TEST(WatchStreamTest, EventsOfAllTypesAreRead) { EXPECT_EQ(Decode({kText}), kEvents); }

TEST(WatchStreamTest, ChunksMayBeSplitAtAnyByte) {
  for (std::size_t cut = 0; cut <= kText.size(); ++cut) {
    EXPECT_EQ(Decode({kText.substr(0, cut), kText.substr(cut)}), kEvents) << "cut at " << cut;
  }
  std::vector<std::string> bytes;
  for (const char c : kText) bytes.emplace_back(1, c);
  EXPECT_EQ(Decode(bytes), kEvents);
}

TEST(WatchStreamTest, EventsOfALongStreamAreTheSameForRandomChunkSizes) {
  std::string text, expected;
  for (int i = 0; i < 300; ++i) {
    text += Line("ADDED", "n" + std::to_string(i) + std::string(static_cast<std::size_t>(i), 'x'));
    expected += "A:n" + std::to_string(i) + std::string(static_cast<std::size_t>(i), 'x') + " ";
  }
  expected += "end";
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::string> chunks;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random() % (1u << random() % 14);
      chunks.push_back(text.substr(at, size));
      at += size;
    }
    ASSERT_EQ(Decode(chunks), expected) << "round " << round;
  }
}

TEST(WatchStreamTest, StreamThatEndsInTheMiddleOfALineIsATransportError) {
  const std::string line = Line("ADDED", "b");
  for (std::size_t cut = 1; cut < line.size(); ++cut) {
    EXPECT_EQ(Decode({Line("ADDED", "a") + line.substr(0, cut)}), "A:a Transport") << cut;
  }
}

TEST(WatchStreamTest, BrokenStreamIsAnErrorAfterTheReceivedEvents) {
  EXPECT_EQ(Decode({Line("ADDED", "a"), "{\"type\""}, /*breaks=*/true), "A:a Transport");
}

TEST(WatchStreamTest, ErrorEventIsReturnedAsTheErrorThatItDescribes) {
  const auto error = [](const std::string& status) {
    const auto event = WatchOf({"{\"type\":\"ERROR\",\"object\":" + status + "}\n"})->Next();
    EXPECT_FALSE(event);
    return event ? Error{} : event.error();
  };
  const Error expired =
      error(R"({"kind":"Status","code":410,"reason":"Expired","message":"too old resource version: 1"})");
  EXPECT_EQ(expired.reason, Reason::kExpired);
  EXPECT_EQ(expired.http_status, 410);
  EXPECT_THAT(expired.message, HasSubstr("too old"));
  EXPECT_EQ(error(R"({"kind":"Status","code":410,"reason":"Gone"})").reason, Reason::kExpired);
  EXPECT_EQ(error(R"({"kind":"Status","code":410})").reason, Reason::kExpired);
  EXPECT_EQ(error(R"({"kind":"Status","code":500,"reason":"InternalError"})").reason, Reason::kInternalError);
  EXPECT_EQ(error(R"({})").reason, Reason::kUnknown);
}

TEST(WatchStreamTest, MalformedTextIsADecodeErrorAndNoCrash) {
  for (const std::string line :
       {"garbage", "null", "[]", "1", "\"x\"", "{}", R"({"type":"ADDED"})", R"({"type":"ADDED","object":[]})",
        R"({"type":"ADDED","object":null})", R"({"type":1,"object":{}})", R"({"type":"NEW","object":{}})",
        R"({"type":"ERROR"})", R"({"type":"ADDED","object":{}}{"type":"ADDED","object":{}})", "\xff\xfe",
        "{\"type\":\"\xc3\"}"}) {
    EXPECT_EQ(Decode({Line("ADDED", "a") + line + "\n" + Line("ADDED", "b")}), "A:a Decode") << line;
  }
  EXPECT_EQ(Decode({std::string("\0\0\0\n", 4)}), "Decode");
}

TEST(WatchStreamTest, AnObjectWithAHundredThousandLevelsBlocksNoOtherObject) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(
      Decode({R"({"type":"ADDED","object":{"metadata":{"name":"deep"},"spec":)" + deep + "}}\n" + Line("ADDED", "b")}),
      "A:deep A:b end");
}

TEST(WatchStreamTest, RandomBytesNeverCrash) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::string text = kText;
    for (int i = 0; i < 5; ++i) text[random() % text.size()] = static_cast<char>(random());
    const std::string result = Decode({text});
    EXPECT_TRUE(result.ends_with("end") || result.ends_with("Decode") || result.ends_with("Transport") ||
                result.ends_with("Unknown"))
        << result;
  }
}

TEST(WatchStreamTest, LineOfSeveralMegabytesIsRead) {
  const std::string name(5 << 20, 'x');
  const std::string line = Line("ADDED", name);
  std::vector<std::string> chunks;
  for (std::size_t at = 0; at < line.size(); at += 65536) chunks.push_back(line.substr(at, 65536));
  EXPECT_EQ(Decode(chunks).size(), name.size() + 6);
}

TEST(WatchStreamTest, LineBeyondTheLimitIsRejectedBeforeItEnds) {
  const std::vector<std::string> chunks(300, std::string(65536, 'x'));
  const auto watch = WatchOf(chunks);
  const auto event = watch->Next();
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().reason, Reason::kDecode);
  EXPECT_THAT(event.error().message, HasSubstr("16 MiB"));
}

}  // namespace
}  // namespace yad
