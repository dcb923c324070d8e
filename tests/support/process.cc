#include "tests/support/process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>

#include "tests/support/eventually.h"

namespace yad::testing {
namespace {

std::string ReadDescriptor(int fd) {
  std::string text;
  if (fd < 0) return text;
  char buffer[65536];
  off_t offset = 0;
  ssize_t got;
  while ((got = pread(fd, buffer, sizeof buffer, offset)) > 0) {
    text.append(buffer, static_cast<std::size_t>(got));
    offset += got;
  }
  return text;
}

std::vector<std::string> Environment(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (changes.count(text.substr(0, text.find('='))) == 0) entries.push_back(text);
  }
  for (const auto& [name, value] : changes) {
    if (!value.empty()) entries.push_back(name + "=" + value);
  }
  return entries;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Process::Process(const std::vector<std::string>& command, const ProcessOptions& options) : name_(command.at(0)) {
  // Everything that allocates comes before the fork, because other threads may hold the allocator's lock.
  std::vector<std::string> arguments = command;
  std::vector<std::string> environment = Environment(options.env);
  const std::vector<char*> argv = Pointers(arguments);
  const std::vector<char*> envp = Pointers(environment);
  const int in = memfd_create("stdin", MFD_CLOEXEC);
  if (!options.stdin_text.empty()) {
    if (write(in, options.stdin_text.data(), options.stdin_text.size()) < 0) throw TestFailure("cannot write stdin");
    lseek(in, 0, SEEK_SET);
  }
  if (options.output_file.empty()) {
    out_ = memfd_create("stdout", MFD_CLOEXEC);
    err_ = memfd_create("stderr", MFD_CLOEXEC);
  } else {
    out_ = open(options.output_file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    err_ = dup(out_);
  }
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    dup2(in, 0);
    dup2(out_, 1);
    dup2(err_, 2);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execvpe(argv[0], argv.data(), envp.data());
    _exit(127);
  }
  close(in);
  if (pid_ < 0) throw TestFailure("cannot fork for " + name_ + ": " + std::strerror(errno));
}

Process::~Process() {
  if (!ExitCode().has_value()) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(out_);
  close(err_);
}

void Process::Signal(int signal) {
  if (ExitCode().has_value()) return;
  kill(pid_, signal);
  siginfo_t stopped = {};
  if (signal == SIGSTOP) waitid(P_PID, static_cast<id_t>(pid_), &stopped, WSTOPPED | WEXITED | WNOWAIT);
}

std::optional<int> Process::ExitCode() {
  int status = 0;
  if (!exit_code_.has_value() && waitpid(pid_, &status, WNOHANG) == pid_) {
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return exit_code_;
}

int Process::Wait(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!ExitCode().has_value()) {
    if (std::chrono::steady_clock::now() >= deadline) {
      throw TestFailure(name_ + " did not exit within " + std::to_string(timeout.count()) + " ms");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return *exit_code_;
}

std::string Process::Output() const { return ReadDescriptor(out_); }
std::string Process::Errors() const { return ReadDescriptor(err_); }

ProcessResult RunProcess(const std::vector<std::string>& command, const ProcessOptions& options,
                         std::chrono::milliseconds timeout) {
  Process process(command, options);
  ProcessResult result;
  result.exit_code = process.Wait(timeout);
  result.out = process.Output();
  result.err = process.Errors();
  return result;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  if (!file.flush()) throw TestFailure("cannot write " + path);
}

namespace {

// Binds a socket of `type` to the port; -1 if the port is in use.
int BindTo(int type, int port) {
  const int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

int FreePort() {
  // The range is below the ephemeral ports, which outgoing connections could take before the program listens. Test
  // programs that run at the same time use different blocks of ports: a program holds the UDP port of the block's first
  // number until it ends.
  constexpr int kFirst = 10'000, kBlock = 50, kBlocks = 440;
  static std::mutex mutex;
  static int next = 0, left = 0;
  const std::lock_guard lock(mutex);
  for (int attempt = 0; attempt < kBlock * kBlocks; ++attempt) {
    if (left == 0) {
      next = kFirst + kBlock * static_cast<int>(std::random_device()() % kBlocks);
      if (BindTo(SOCK_DGRAM, next) < 0) continue;
      left = kBlock;
    }
    --left;
    const int port = next++;
    const int fd = BindTo(SOCK_STREAM, port);
    if (fd < 0) continue;
    close(fd);
    return port;
  }
  throw TestFailure("no free port");
}

PlainHttpAnswer HttpGet(int port, const std::string& path) {
  PlainHttpAnswer answer;
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  timeval patience{10, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string text;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    // HTTP/1.0: the response has no chunks, and the server closes the connection after it.
    const std::string request = "GET " + path + " HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n";
    if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
      char buffer[65536];
      ssize_t got;
      while ((got = recv(fd, buffer, sizeof buffer, 0)) > 0) text.append(buffer, static_cast<std::size_t>(got));
    }
  }
  close(fd);
  const auto end = text.find("\r\n\r\n");
  if (end == std::string::npos) return answer;
  answer.status = std::atoi(text.c_str() + text.find(' ') + 1);
  answer.body = text.substr(end + 4);
  return answer;
}

}  // namespace yad::testing
