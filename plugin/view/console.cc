#include "plugin/view/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>

#include "operator/base/file.h"

namespace yad {
namespace {

// Returns whether the locale uses UTF-8. As in setlocale, the first variable that is set decides.
bool IsUtf8Locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = EnvironmentVariable(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

std::optional<Screen> StandardScreen() {
  const std::string term = EnvironmentVariable("TERM");
  if (isatty(STDOUT_FILENO) == 0 || term.empty() || term == "dumb") return std::nullopt;
  Screen screen;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    screen.width = size.ws_col;
    screen.height = size.ws_row;
  }
  screen.colour = EnvironmentVariable("NO_COLOR").empty();
  screen.unicode = IsUtf8Locale();
  return screen;
}

thread_local std::ostream* warnings_of_thread = nullptr;

}  // namespace

void Console::Warn(std::string_view text) const { err << "Warning: " << Printable(text) << "\n"; }

Console StandardConsole() { return {std::cout, std::cerr, std::cin, StandardScreen}; }

std::string Printable(std::string_view text) {
  std::string result(text);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto byte = static_cast<unsigned char>(result[i]);
    if (byte < 0x20 || byte == 0x7F) {
      result[i] = ' ';
    } else if (byte == 0xC2 && i + 1 < result.size() && static_cast<unsigned char>(result[i + 1]) < 0xA0) {
      result.replace(i, 2, " ");  // U+0080 to U+009F are also control characters.
    }
  }
  return result;
}

WarningsOfThread::WarningsOfThread(std::ostream& to) : before_(warnings_of_thread) { warnings_of_thread = &to; }

WarningsOfThread::~WarningsOfThread() { warnings_of_thread = before_; }

void PrintWarning(const std::string& text, std::ostream& otherwise) {
  std::ostream& to = warnings_of_thread == nullptr ? otherwise : *warnings_of_thread;
  to << "Warning: " << Printable(text) << "\n";
}

}  // namespace yad
