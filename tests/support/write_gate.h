// Passes the writes of one client through a FaultProxy one at a time, counts them, and kills the client after a chosen
// write.
#ifndef TESTS_SUPPORT_WRITE_GATE_H_
#define TESTS_SUPPORT_WRITE_GATE_H_

#include <sys/types.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/fault_proxy.h"

namespace yad::testing {

// A hook for FaultProxy. Writes of Events and Leases always pass, and do not count. Thread-safe.
class WriteGate {
 public:
  // The hook of a FaultProxy.
  Fault operator()(const ProxiedRequest& request);

  // Blocks all further writes until Arm, so that the process can start first.
  void Hold();
  // Passes writes on, and counts the successful ones. After write number `at` (0: never) has taken effect, kills the
  // process before it gets the answer. Then no write passes until Reopen.
  void Arm(pid_t victim, int at);
  bool killed() const;
  // Cancels the kill. Returns the number of counted writes.
  int Disarm();
  // Lets writes pass again after a kill, for the next process.
  void Reopen();

  // Returns all writes that took effect, as "PATCH /apis/…/web/status 200". Marks the last one of the killed process.
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
