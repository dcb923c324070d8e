#include "plugin/dashboard/browser.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "operator/base/file.h"

extern char** environ;

namespace yad {
namespace {

#ifdef __APPLE__
constexpr char kOpen[] = "open";
#else
constexpr char kOpen[] = "xdg-open";
#endif

Status Failed(const std::string& what, int error) { return Fail(Reason::kConfig, what + ": " + std::strerror(error)); }

// Starts a program that neither reads from nor writes to the terminal. The program has its own session, so that Ctrl-C
// in the terminal does not terminate it.
Status Start(const char* program, const char* argument) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  char* const arguments[] = {const_cast<char*>(program), const_cast<char*>(argument), nullptr};
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, program, &files, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return Failed(program, error);
  std::thread([pid] { waitpid(pid, nullptr, 0); }).detach();
  return {};
}

}  // namespace

bool HasDisplay() {
#ifdef __APPLE__
  return true;
#else
  return !EnvironmentVariable("DISPLAY").empty() || !EnvironmentVariable("WAYLAND_DISPLAY").empty();
#endif
}

AddressFile::~AddressFile() {
  if (!path_.empty()) unlink(path_.c_str());
  if (!directory_.empty()) rmdir(directory_.c_str());
}

Status AddressFile::Write(const std::string& address) {
  std::string parent = EnvironmentVariable("XDG_RUNTIME_DIR");
  if (parent.empty()) parent = EnvironmentVariable("TMPDIR");
  if (parent.empty()) parent = "/tmp";
  std::string name = parent + "/kubectl-yad-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) return Failed("cannot create a folder in " + parent, errno);
  directory_ = name;
  path_ = directory_ + "/dashboard.html";
  const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return Failed("cannot write " + path_, errno);
  const std::string text =
      "<!doctype html><meta charset=\"utf-8\"><title>kubectl yad dashboard</title>"
      "<meta http-equiv=\"refresh\" content=\"0; url=" +
      address + "\">\n";
  const bool whole = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  close(file);
  return whole ? Status() : Failed("cannot write " + path_, error);
}

Status AddressFile::Open(const std::string& address) {
  YAD_TRY_VOID(Write(address));
  return Start(kOpen, path_.c_str());
}

}  // namespace yad
