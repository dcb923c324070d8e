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

  // Prints "Warning: " and `text` to `err`, as one line that is safe for a terminal (Printable).
  void Warn(std::string_view text) const;
};

// Returns the standard streams of the process. `screen` returns a Screen only if standard output is a terminal and
// $TERM is neither empty nor "dumb". The Screen has colours only if $NO_COLOR is unset or empty.
Console StandardConsole();

// Makes text from a cluster safe for a terminal. Control characters become spaces, because they could move the cursor.
std::string Printable(std::string_view text);

// While an object of this class exists, PrintWarning prints the warnings of its thread to another stream. The dashboard
// runs several commands at the same time with one Client, and the warnings belong to the output of their command.
class WarningsOfThread {
 public:
  explicit WarningsOfThread(std::ostream& to);
  ~WarningsOfThread();
  WarningsOfThread(const WarningsOfThread&) = delete;
  WarningsOfThread& operator=(const WarningsOfThread&) = delete;

 private:
  std::ostream* const before_;
};

// Prints a warning of the apiserver to the stream of this thread's WarningsOfThread, or to `otherwise` if the thread
// has no WarningsOfThread.
void PrintWarning(const std::string& text, std::ostream& otherwise);

}  // namespace yad

#endif  // PLUGIN_VIEW_CONSOLE_H_
