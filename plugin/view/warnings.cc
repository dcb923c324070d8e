#include "plugin/view/warnings.h"

#include "plugin/view/console.h"

namespace yad {
namespace {

thread_local std::ostream* warnings_of_thread = nullptr;

}  // namespace

WarningsOfThread::WarningsOfThread(std::ostream& to) : before_(warnings_of_thread) { warnings_of_thread = &to; }

WarningsOfThread::~WarningsOfThread() { warnings_of_thread = before_; }

void PrintWarning(const std::string& text, std::ostream& otherwise) {
  std::ostream& to = warnings_of_thread == nullptr ? otherwise : *warnings_of_thread;
  to << "Warning: " << Printable(text) << "\n";
}

}  // namespace yad
