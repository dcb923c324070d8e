// Where a command reads from and writes to.
#ifndef PLUGIN_CONSOLE_H_
#define PLUGIN_CONSOLE_H_

#include <functional>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace yad {

// A terminal whose lines can be written over.
struct Screen {
  int width = 80;
  int height = 24;
  bool colour = false;
  bool unicode = false;  // the locale's characters are UTF-8
};

// One command's; used by one thread.
struct Console {
  std::ostream& out;
  std::ostream& err;
  std::istream& in;
  // Asked anew for each frame: people resize windows. nullopt: standard output is no such terminal.
  std::function<std::optional<Screen>()> screen;
};

// The process's own standard streams. ANSI sequences only where standard output is a terminal and $TERM is neither
// empty nor "dumb"; colours only where $NO_COLOR is not set.
Console StandardConsole();

// What a cluster says, for a terminal: control characters become spaces, so that no object can move the cursor.
std::string Printable(std::string_view text);

}  // namespace yad

#endif  // PLUGIN_CONSOLE_H_
