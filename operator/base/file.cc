#include "operator/base/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace yad {

Result<std::string> ReadSmallFile(const std::string& path, std::size_t most) {
  const auto fail = [&path](const std::string& why) { return Fail(Reason::kConfig, path + ": " + why); };
  // Without O_NONBLOCK, open would block forever for a FIFO without a writer.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return fail(std::strerror(errno));
  std::string text;
  int error = 0;
  bool too_large = false;
  char chunk[16384];
  for (;;) {
    const ssize_t count = read(file, chunk, sizeof(chunk));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) error = errno;
    if (count <= 0) break;
    text.append(chunk, static_cast<std::size_t>(count));
    if ((too_large = text.size() > most)) break;
  }
  close(file);
  if (error != 0) return fail(std::strerror(error));
  if (too_large) return fail("the file is larger than " + std::to_string(most >> 20) + " MiB");
  return text;
}

Result<std::string> ReadNonEmptyFile(const std::string& path) {
  Result<std::string> text = ReadSmallFile(path);
  if (text && Trim(*text).empty()) text = Fail(Reason::kConfig, path + ": the file is empty");
  return text;
}

std::string Trim(const std::string& text) {
  constexpr const char* kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::string EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace yad
