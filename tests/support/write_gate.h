// Lets the writes of one client through a FaultProxy one at a time, counts them, and kills the client after one of
// them.
#ifndef TESTS_SUPPORT_WRITE_GATE_H_
#define TESTS_SUPPORT_WRITE_GATE_H_

#include <sys/types.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/fault_proxy.h"

namespace yad::testing {

// Events and Leases are let through, and never counted. Thread-safe.
class WriteGate {
 public:
  // For FaultProxy.
  Fault operator()(const ProxiedRequest& request);

  // Nothing more is let through until Arm: so that who is to be killed can be started first.
  void Hold();
  // Counts from here on. Right after write number `at` has taken effect, and before its answer is passed on, the
  // process gets SIGKILL; once it is dead, its connection is closed, and nothing that it has sent besides is forwarded.
  // 0: never.
  void Arm(pid_t victim, int at);
  bool killed() const;
  // Nobody is killed from here on. Returns how many writes were counted.
  int Disarm();
  // After a kill: the next process may write.
  void Reopen();

  // All that took effect so far, as "PATCH /apis/…/web/status 200", with a mark at the one that was the last.
  std::vector<std::string> writes() const;

 private:
  bool Answered(const std::string& line, int status);

  mutable std::mutex mutex_;
  std::condition_variable free_;
  bool busy_ = false;  // a write is under way
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
