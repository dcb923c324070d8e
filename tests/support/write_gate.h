// Lets the writes of one client pass a FaultProxy one at a time, counts them, and kills the client right after the
// write that the test has chosen.
#ifndef TESTS_SUPPORT_WRITE_GATE_H_
#define TESTS_SUPPORT_WRITE_GATE_H_

#include <sys/types.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/fault_proxy.h"

namespace yad::testing {

// Writes of Events and Leases always pass, and do not count. Thread-safe.
class WriteGate {
 public:
  // The hook of a FaultProxy.
  Fault operator()(const ProxiedRequest& request);

  // Blocks all further writes until Arm, so that the process can start first.
  void Hold();
  // Passes writes on, and counts the successful ones. After write number `at` has taken effect, kills the process with
  // SIGKILL before it gets the answer. No other write passes until Reopen. If `at` is 0, the process is not killed.
  void Arm(pid_t victim, int at);
  bool killed() const;
  // Cancels the kill. Returns the number of counted writes.
  int Disarm();
  // Lets writes pass again after a kill, for the next process.
  void Reopen();

  // Returns all writes that took effect, as "PATCH /apis/…/web/status 200", with a mark at the last one of the killed
  // process.
  std::vector<std::string> writes() const;

 private:
  bool Answered(const std::string& line, int status);

  mutable std::mutex mutex_;
  std::condition_variable free_;
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
