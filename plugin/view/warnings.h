// Prints the warnings that an apiserver sends with its responses.
#ifndef PLUGIN_VIEW_WARNINGS_H_
#define PLUGIN_VIEW_WARNINGS_H_

#include <ostream>
#include <string>

namespace yad {

// Redirects the warnings of this thread to another stream as long as it exists. The dashboard runs several commands at
// the same time with one Client, and the warnings belong to the output of their command.
class WarningsOfThread {
 public:
  explicit WarningsOfThread(std::ostream& to);
  ~WarningsOfThread();
  WarningsOfThread(const WarningsOfThread&) = delete;
  WarningsOfThread& operator=(const WarningsOfThread&) = delete;

 private:
  std::ostream* const before_;
};

// Prints a warning of the apiserver: to the stream of this thread's WarningsOfThread, or to `otherwise` if there is
// none.
void PrintWarning(const std::string& text, std::ostream& otherwise);

}  // namespace yad

#endif  // PLUGIN_VIEW_WARNINGS_H_
