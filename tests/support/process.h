// Child processes of a test.
#ifndef TESTS_SUPPORT_PROCESS_H_
#define TESTS_SUPPORT_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace yad::testing {

struct ProcessOptions {
  // The child inherits the environment of the test, with these changes. An empty value removes the variable.
  std::map<std::string, std::string> env;
  std::string stdin_text;
  std::string output_file;  // for stdout and stderr; empty: Output() and Errors() return them
};

// One child process. It is killed when this object is destroyed, and when the test program dies. Not thread-safe.
class Process {
 public:
  explicit Process(const std::vector<std::string>& command, const ProcessOptions& options = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Sends the signal. With SIGSTOP, returns when all threads of the child have stopped.
  void Signal(int signal);
  // Returns the exit code, 128 + the signal that terminated the child, or nullopt while it runs.
  std::optional<int> ExitCode();
  // Throws TestFailure if the child does not exit in time.
  int Wait(std::chrono::milliseconds timeout);
  std::string Output() const;  // stdout
  std::string Errors() const;  // stderr
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::optional<int> exit_code_;
  std::string name_;
};

struct ProcessResult {
  int exit_code = 0;
  std::string out;
  std::string err;
};
// Runs the command until it exits.
ProcessResult RunProcess(const std::vector<std::string>& command, const ProcessOptions& options = {},
                         std::chrono::milliseconds timeout = std::chrono::minutes(10));

std::string ReadFile(const std::string& path);  // "" if the file does not exist
void WriteFile(const std::string& path, const std::string& text);
int FreePort();  // returns a TCP port of 127.0.0.1 that is not in use

struct PlainHttpAnswer {
  int status = 0;  // 0: no response
  std::string body;
};
// Sends GET http://127.0.0.1:port/path.
PlainHttpAnswer HttpGet(int port, const std::string& path);

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_PROCESS_H_
