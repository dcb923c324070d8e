#include "operator/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <cstdio>

namespace yad::log {
namespace {

std::atomic<Level> g_level{Level::kInfo};
std::atomic<Format> g_format{Format::kText};

spdlog::logger& Logger() {
  // Never destroyed, because threads may log while the process exits.
  static spdlog::logger* logger = [] {
    auto* made = new spdlog::logger("", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    made->set_level(spdlog::level::trace);
    return made;
  }();
  return *logger;
}

// Returns the length of the first character of `text`, or 0 if it is not valid UTF-8.
std::size_t Utf8Length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and code points above U+10FFFF are not valid.
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) || (first == 0xF0 && byte(1) < 0x90) ||
      (first == 0xF4 && byte(1) > 0x8F)) {
    return 0;
  }
  return length;
}

void AppendControl(std::string& out, unsigned char code) {
  char escape[8];
  std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(code));
  out += escape;
}

// Appends `text` with the escapes of JSON, without quotation marks. Escapes all control characters, including DEL and
// U+0080 to U+009F, because a terminal would interpret them.
void AppendEscaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const char c = text.front();
    std::size_t length = 1;
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      AppendControl(out, static_cast<unsigned char>(c));
    } else if ((length = Utf8Length(text)) == 0) {
      length = 1;
      out += "\xEF\xBF\xBD";  // U+FFFD, the replacement character
    } else if (c == '\xC2' && static_cast<unsigned char>(text[1]) < 0xA0) {
      AppendControl(out, static_cast<unsigned char>(text[1]));  // U+0080 to U+009F
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
}

void AppendQuoted(std::string& out, std::string_view text) {
  out.push_back('"');
  AppendEscaped(out, text);
  out.push_back('"');
}

// Returns true if the value does not need quotes. NaN and infinity need quotes, because they are not numbers in JSON.
bool IsBare(const Value& value) {
  if (value.quoted() || value.text().empty()) return false;
  const char last = value.text().back();
  return (last >= '0' && last <= '9') || value.text() == "true" || value.text() == "false";
}

void AppendValue(std::string& out, const Value& value) {
  if (IsBare(value)) {
    out += value.text();
  } else {
    AppendQuoted(out, value.text());
  }
}

std::string Timestamp(WallTime time) {
  std::string text = FormatMicroTime(time);
  text.erase(text.size() - 4, 3);  // keeps three of the six digits
  return text;
}

constexpr const char* kTextNames[] = {"DEBUG", "INFO ", "WARN ", "ERROR"};
constexpr const char* kJsonNames[] = {"debug", "info", "warn", "error"};

}  // namespace

void Configure(Level level, Format format) {
  g_level.store(level, std::memory_order_relaxed);
  g_format.store(format, std::memory_order_relaxed);
}

bool Enabled(Level level) { return level >= g_level.load(std::memory_order_relaxed); }

std::string FormatLine(Format format, WallTime time, Level level, std::string_view message,
                       std::initializer_list<Field> fields) {
  const auto index = static_cast<std::size_t>(level);
  std::string line;
  line.reserve(128);
  if (format == Format::kText) {
    line.append(Timestamp(time)).append(" ").append(kTextNames[index]).append(" ");
    AppendEscaped(line, message);
    for (const Field& field : fields) {
      line.push_back(' ');
      AppendEscaped(line, field.key);
      line.push_back('=');
      AppendValue(line, field.value);
    }
    return line;
  }
  line.append("{\"ts\":\"").append(Timestamp(time)).append("\",\"level\":\"").append(kJsonNames[index]);
  line += "\",\"msg\":";
  AppendQuoted(line, message);
  for (const Field& field : fields) {
    line.push_back(',');
    AppendQuoted(line, field.key);
    line.push_back(':');
    AppendValue(line, field.value);
  }
  line.push_back('}');
  return line;
}

void Write(Level level, std::string_view message, std::initializer_list<Field> fields) {
  if (!Enabled(level)) return;
  const std::string line =
      FormatLine(g_format.load(std::memory_order_relaxed), Clock::Real().WallNow(), level, message, fields);
  Logger().log(spdlog::level::info, spdlog::string_view_t(line));
}

}  // namespace yad::log
