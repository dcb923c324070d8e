// Counts the writes that a client sends through a FaultProxy, and kills the client after a chosen write.
#ifndef TESTS_SUPPORT_WRITE_GATE_H_
#define TESTS_SUPPORT_WRITE_GATE_H_

#include <sys/types.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/fault_proxy.h"

namespace yad::testing {

// Passes one write at a time. Writes of Events and Leases always pass and do not count. Thread-safe.
class WriteGate {
 public:
  // The hook of a FaultProxy.
  Fault operator()(const ProxiedRequest& request);

  // Blocks all writes until Arm, so that the process can start first.
  void Hold();
  // Passes writes, and counts the successful ones. Kills the process `victim` when write number `at` has taken effect
  // and before `victim` receives the response (0: never). After the kill, no write passes until Reopen.
  void Arm(pid_t victim, int at);
  bool killed() const;
  // Cancels the kill, after a write in progress has finished. Returns the number of counted writes.
  int Disarm();
  // Passes the writes of the next process after a kill.
  void Reopen();

  // Returns all writes that took effect, including one in progress, such as "PATCH /apis/…/web/status 200". Marks the
  // write after which the process was killed.
  std::vector<std::string> writes() const;

 private:
  bool Answered(const std::string& line, int status);
  void AwaitResponse(std::unique_lock<std::mutex>& lock) const;

  mutable std::mutex mutex_;
  mutable std::condition_variable free_;
  bool busy_ = false;  // a write is in progress
  bool held_ = false;
  bool armed_ = false;
  bool killed_ = false;
  pid_t victim_ = -1;
  int at_ = 0;
  int count_ = 0;
  std::vector<std::string> writes_;
};

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_WRITE_GATE_H_
