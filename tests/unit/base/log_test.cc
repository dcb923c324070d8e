#include "operator/base/log.h"

#include <gtest/gtest.h>

#include <limits>

namespace yad::log {
namespace {

const WallTime kTime = ParseTime("2026-11-20T10:30:43.123Z");

TEST(LogTest, TextIsAMessageAndKeyValuePairs) {
  EXPECT_EQ(FormatLine(Format::kText, kTime, Level::kInfo, "message", {{"key", "value"}, {"n", 3}}),
            "2026-11-20T10:30:43.123Z INFO  message key=\"value\" n=3");
  EXPECT_EQ(FormatLine(Format::kText, kTime, Level::kError, "it broke", {{"ok", false}}),
            "2026-11-20T10:30:43.123Z ERROR it broke ok=false");
}

TEST(LogTest, JsonLineIsOneObject) {
  EXPECT_EQ(FormatLine(Format::kJson, kTime, Level::kWarn, "message",
                       {{"key", "value"}, {"n", -3}, {"error", Error{Reason::kConflict, "old", 409, {}, {}}}}),
            R"({"ts":"2026-11-20T10:30:43.123Z","level":"warn","msg":"message","key":"value","n":-3,)"
            R"("error":"Conflict: old"})");
  EXPECT_EQ(FormatLine(Format::kJson, kTime, Level::kDebug, "", {}),
            R"({"ts":"2026-11-20T10:30:43.123Z","level":"debug","msg":""})");
}

TEST(LogTest, AnyBytesBecomeOneLineOfValidUtf8) {
  struct Case {
    std::string text;
    std::string expected;
  };
  const std::string replaced = "\xEF\xBF\xBD";
  for (const Case& one : {
           Case{"a\"b\\c", R"(a\"b\\c)"},
           Case{"a\nb\r\tc", R"(a\nb\r\tc)"},
           Case{std::string("a\0b", 3), R"(a\u0000b)"},
           Case{"\x1b[31m\x7f", R"(\u001b[31m\u007f)"},
           Case{"\xC2\x80 \xC2\x9B[31m \xC2\x9F \xC2\xA0", "\\u0080 \\u009b[31m \\u009f \xC2\xA0"},
           Case{"Größe 池 \xF0\x9F\x98\x80", "Größe 池 \xF0\x9F\x98\x80"},
           Case{"\xFF", replaced},
           Case{"\xC3", replaced},                                // truncated
           Case{"\xC0\xAF", replaced + replaced},                 // overlong
           Case{"\xED\xA0\x80", replaced + replaced + replaced},  // a surrogate
           Case{"\xF4\x90\x80\x80", replaced + replaced + replaced + replaced},
           Case{"\xE6\xB1"
                "x",
                replaced + replaced + "x"},
       }) {
    EXPECT_EQ(FormatLine(Format::kJson, kTime, Level::kInfo, "m", {{"k", one.text}}),
              R"({"ts":"2026-11-20T10:30:43.123Z","level":"info","msg":"m","k":")" + one.expected + "\"}");
    EXPECT_EQ(FormatLine(Format::kText, kTime, Level::kInfo, "m", {{"k", one.text}}),
              "2026-11-20T10:30:43.123Z INFO  m k=\"" + one.expected + "\"");
  }
}

TEST(LogTest, NumbersThatJsonDoesNotAllowAreQuoted) {
  EXPECT_EQ(FormatLine(Format::kJson, kTime, Level::kInfo, "m", {{"k", std::numeric_limits<double>::infinity()}}),
            R"({"ts":"2026-11-20T10:30:43.123Z","level":"info","msg":"m","k":"inf"})");
}

TEST(LogTest, LinesBelowTheLevelAreNotWritten) {
  Configure(Level::kWarn, Format::kJson);
  testing::internal::CaptureStderr();
  Info("quiet");
  Warn("loud {} %v", {{"k", 1}});
  const std::string written = testing::internal::GetCapturedStderr();
  Configure(Level::kInfo, Format::kText);
  EXPECT_EQ(written.find("quiet"), std::string::npos);
  EXPECT_NE(written.find("\"msg\":\"loud {} %v\",\"k\":1}\n"), std::string::npos) << written;
}

}  // namespace
}  // namespace yad::log
