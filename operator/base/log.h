// Structured logging. A line has a constant message and key=value pairs, or is one JSON object. Thread-safe.
#ifndef OPERATOR_BASE_LOG_H_
#define OPERATOR_BASE_LOG_H_

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "operator/base/clock.h"
#include "operator/base/error.h"

namespace yad::log {

enum class Level { kDebug, kInfo, kWarn, kError };
enum class Format { kText, kJson };

// Sets the level and the format of the log, which is written to standard error. Must be called only once, at startup.
// The defaults are kInfo and kText.
void Configure(Level level, Format format);
bool Enabled(Level level);

// The value of a field. The constructors convert it to a string. They are not explicit, so that a Field accepts values
// of these types.
class Value {
 public:
  template <std::convertible_to<std::string_view> Text>
  Value(const Text& text) : text_(std::string_view(text)), quoted_(true) {}
  Value(const Error& error) : text_(error.ToString()), quoted_(true) {}
  Value(bool value) : text_(value ? "true" : "false"), quoted_(false) {}
  template <typename Number>
    requires std::is_arithmetic_v<Number>
  Value(Number number) : text_(std::to_string(number)), quoted_(false) {}

  const std::string& text() const { return text_; }
  bool quoted() const { return quoted_; }

 private:
  std::string text_;
  bool quoted_;
};

struct Field {
  std::string_view key;
  Value value;
};

// Returns one log line without the line break:
//   2026-11-20T10:30:43.123Z INFO  message key="value" n=3
//   {"ts":"2026-11-20T10:30:43.123Z","level":"info","msg":"message","key":"value","n":3}
// The result is always a single line, and its JSON is always valid UTF-8, even if the fields contain other bytes.
std::string FormatLine(Format format, WallTime time, Level level, std::string_view message,
                       std::initializer_list<Field> fields);

void Write(Level level, std::string_view message, std::initializer_list<Field> fields);

inline void Debug(std::string_view message, std::initializer_list<Field> fields = {}) {
  if (Enabled(Level::kDebug)) Write(Level::kDebug, message, fields);
}
inline void Info(std::string_view message, std::initializer_list<Field> fields = {}) {
  if (Enabled(Level::kInfo)) Write(Level::kInfo, message, fields);
}
inline void Warn(std::string_view message, std::initializer_list<Field> fields = {}) {
  Write(Level::kWarn, message, fields);
}
inline void Err(std::string_view message, std::initializer_list<Field> fields = {}) {
  Write(Level::kError, message, fields);
}

}  // namespace yad::log

#endif  // OPERATOR_BASE_LOG_H_
