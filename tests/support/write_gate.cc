#include "tests/support/write_gate.h"

#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "operator/api/object.h"

namespace yad::testing {
namespace {

bool IsCounted(const ProxiedRequest& request) {
  return request.IsWrite() && request.path.find("/events.k8s.io/") == std::string::npos &&
         request.path.find("/coordination.k8s.io/") == std::string::npos;
}

std::string Describe(const ProxiedRequest& request) {
  std::string text = request.method + " " + request.path;
  if (request.method == "POST") {
    text += "/" + StringAt(Json::parse(request.body, nullptr, false), {"metadata", "name"});
  }
  return text;
}

// Sends SIGKILL, and waits until the process has exited. Does not reap it, so that Process can read the exit code.
void KillAndWait(pid_t pid) {
  siginfo_t info{};
  if (kill(pid, SIGKILL) == 0) waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
}

}  // namespace

Fault WriteGate::operator()(const ProxiedRequest& request) {
  Fault fault;
  if (!IsCounted(request)) return fault;
  std::unique_lock lock(mutex_);
  free_.wait(lock, [this] { return (!busy_ && !held_) || killed_; });
  if (killed_) {
    fault.drop = true;
    return fault;
  }
  busy_ = true;
  fault.pass_on = [this, line = Describe(request)](int status) { return Answered(line, status); };
  return fault;
}

bool WriteGate::Answered(const std::string& line, int status) {
  std::lock_guard lock(mutex_);
  busy_ = false;
  free_.notify_all();
  if (status < 200 || status > 299) return true;  // the write changed nothing
  writes_.push_back(line + " " + std::to_string(status));
  if (!armed_ || ++count_ != at_) return true;
  KillAndWait(victim_);
  writes_.back() += "   <- killed after this";
  killed_ = true;
  armed_ = false;
  return false;
}

void WriteGate::Hold() {
  std::lock_guard lock(mutex_);
  held_ = true;
}

void WriteGate::Arm(pid_t victim, int at) {
  std::lock_guard lock(mutex_);
  held_ = false;
  free_.notify_all();
  armed_ = true;
  victim_ = victim;
  at_ = at;
  count_ = 0;
}

bool WriteGate::killed() const {
  std::lock_guard lock(mutex_);
  return killed_;
}

// A test may see the effect of a write before the gate has recorded the response.
void WriteGate::AwaitResponse(std::unique_lock<std::mutex>& lock) const {
  free_.wait_for(lock, std::chrono::seconds(10), [this] { return !busy_; });
}

int WriteGate::Disarm() {
  std::unique_lock lock(mutex_);
  AwaitResponse(lock);
  armed_ = false;
  return count_;
}

void WriteGate::Reopen() {
  std::lock_guard lock(mutex_);
  killed_ = false;
}

std::vector<std::string> WriteGate::writes() const {
  std::unique_lock lock(mutex_);
  AwaitResponse(lock);
  return writes_;
}

}  // namespace yad::testing
