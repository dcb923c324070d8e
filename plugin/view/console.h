// The input and output streams of a command.
#ifndef PLUGIN_VIEW_CONSOLE_H_
#define PLUGIN_VIEW_CONSOLE_H_

#include <functional>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace yad {

// A terminal whose lines can be overwritten.
struct Screen {
  int width = 80;
  int height = 24;
  bool colour = false;
  bool unicode = false;  // the locale's encoding is UTF-8
};

// The streams of one command. Used by one thread.
struct Console {
  std::ostream& out;
  std::ostream& err;
  std::istream& in;
  // Returns the screen, or nullopt if standard output is not a terminal whose lines can be overwritten. Called for each
  // frame, because users resize windows.
  std::function<std::optional<Screen>()> screen;
};

// Returns the standard streams of the process. `screen` returns a Screen only if standard output is a terminal and
// $TERM is neither empty nor "dumb". The Screen has colours only if $NO_COLOR is unset or empty.
Console StandardConsole();

// Makes text from a cluster safe for a terminal. Control characters become spaces, because they could move the cursor.
std::string Printable(std::string_view text);

}  // namespace yad

#endif  // PLUGIN_VIEW_CONSOLE_H_
