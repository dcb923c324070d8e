#include "operator/client/auth/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "operator/base/file.h"
#include "operator/json/json_document.h"

namespace yad {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMaxOutput = 4u << 20;
constexpr std::size_t kErrorTail = 1024;

// A file descriptor. The destructor closes it.
class Descriptor {
 public:
  Descriptor() = default;
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  void Set(int value) { value_ = value; }
  void Close() {
    if (value_ >= 0) close(value_);
    value_ = -1;
  }

 private:
  int value_ = -1;
};

bool MakePipe(Descriptor& read_end, Descriptor& write_end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  read_end.Set(ends[0]);
  write_end.Set(ends[1]);
  return true;
}

int MillisecondsUntil(SteadyClock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, 60'000));
}

// Reads the available bytes. Returns false at the end of the stream.
bool Drain(Descriptor& from, std::string& to) {
  char chunk[16384];
  const ssize_t count = read(from.get(), chunk, sizeof(chunk));
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  to.append(chunk, static_cast<std::size_t>(count));
  return count > 0;
}

std::vector<std::string> Environment(const Subprocess& program) {
  std::map<std::string, std::string> merged;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) merged[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : program.env) merged[name] = value;
  std::vector<std::string> out;
  for (const auto& [name, value] : merged) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// Reads the program's standard output and standard error to the end. Returns false if the deadline passes first, if the
// standard output is too long, or if the eventfd `stopped` is signalled.
bool Collect(Descriptor& output, Descriptor& errors, const Descriptor& stopped, SteadyClock::time_point deadline,
             SubprocessResult& result) {
  while (output.get() >= 0 || errors.get() >= 0) {
    pollfd waits[3] = {{output.get(), POLLIN, 0}, {errors.get(), POLLIN, 0}, {stopped.get(), POLLIN, 0}};
    const int ready = poll(waits, 3, MillisecondsUntil(deadline));
    if (ready < 0 && errno != EINTR) return false;
    if (ready == 0 && SteadyClock::now() >= deadline) return false;
    if (ready <= 0) continue;
    if (waits[2].revents != 0) return false;
    if (waits[0].revents != 0 && !Drain(output, result.output)) output.Close();
    if (waits[1].revents != 0 && !Drain(errors, result.error_tail)) errors.Close();
    if (result.output.size() > kMaxOutput) return false;
    if (result.error_tail.size() > 2 * kErrorTail) {
      result.error_tail.erase(0, result.error_tail.size() - kErrorTail);
    }
  }
  return true;
}

// Waits until the process has exited. Returns false if the deadline passes or `stop` fires first.
bool Reap(pid_t pid, SteadyClock::time_point deadline, const std::stop_token& stop, int& status) {
  for (;;) {
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid) return true;
    if (ended < 0 && errno != EINTR) {  // If SIGCHLD is ignored, the status is lost.
      status = 0;
      return true;
    }
    if (SteadyClock::now() >= deadline || stop.stop_requested()) return false;
    poll(nullptr, 0, 5);
  }
}

Error WhyKilled(const Subprocess& program, const SubprocessResult& result, const std::stop_token& stop) {
  const auto error = [&](Reason reason, const std::string& what) {
    return Error{reason, "\"" + program.command + "\" " + what};
  };
  if (stop.stop_requested()) return error(Reason::kCancelled, "was stopped");
  if (result.output.size() > kMaxOutput) return error(Reason::kTransport, "wrote more than 4 MiB");
  const std::string tail = Trim(result.error_tail);  // may contain a hint for the user, such as "open this page ..."
  return error(Reason::kTransport, "did not end within " + std::to_string(program.timeout.count() / 1000) + " s" +
                                       (tail.empty() ? "" : ": " + Excerpt(tail, kErrorTail)));
}

}  // namespace

Result<SubprocessResult> RunSubprocess(const Subprocess& program, const std::stop_token& stop) {
  const auto deadline = SteadyClock::now() + program.timeout;
  Descriptor output, output_child, errors, errors_child, stopped;
  stopped.Set(eventfd(0, EFD_CLOEXEC));
  if (stopped.get() < 0 || !MakePipe(output, output_child) || !MakePipe(errors, errors_child)) {
    return Fail(Reason::kConfig, std::string("cannot create a pipe: ") + std::strerror(errno));
  }

  std::vector<std::string> args{program.command};
  args.insert(args.end(), program.args.begin(), program.args.end());
  std::vector<std::string> env = Environment(program);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output_child.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors_child.get(), STDERR_FILENO);
  // Some sockets of this process have no close-on-exec flag, and the program must not inherit them.
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // The program has its own process group, so that its children can be killed with it. Its signal mask is empty,
  // because this process blocks some signals.
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  pid_t pid = -1;
  const int failed =
      posix_spawnp(&pid, program.command.c_str(), &actions, &attributes, Pointers(args).data(), Pointers(env).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  output_child.Close();
  errors_child.Close();
  if (failed != 0) {
    return Fail(failed == ENOENT ? Reason::kNotFound : Reason::kConfig,
                "\"" + program.command + "\" cannot be run: " + std::strerror(failed));
  }

  SubprocessResult result;
  int status = 0;
  const std::stop_callback on_stop(stop, [&] { eventfd_write(stopped.get(), 1); });
  const bool complete = Collect(output, errors, stopped, deadline, result);
  if (result.error_tail.size() > kErrorTail) result.error_tail.erase(0, result.error_tail.size() - kErrorTail);
  if (!complete || !Reap(pid, deadline, stop, status)) {
    kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return Fail(WhyKilled(program, result, stop));
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace yad
