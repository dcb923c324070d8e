// Passes the writes of one client through a FaultProxy one at a time, counts them, and kills the client after one of
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

// Events and Leases pass, and are never counted. Thread-safe.
class WriteGate {
 public:
  // The hook of a FaultProxy.
  Fault operator()(const ProxiedRequest& request);

  // Holds back all further writes until Arm, so that the victim can start first.
  void Hold();
  // Starts the count of writes, and passes them on. Kills the process (SIGKILL) when write number `at` has taken
  // effect, and before the answer is passed on; 0: never. When the process is dead, closes the connection of that
  // write, and forwards no other write.
  void Arm(pid_t victim, int at);
  bool killed() const;
  // Cancels the kill. Returns the number of counted writes.
  int Disarm();
  // Lets the next process write after a kill.
  void Reopen();

  // Returns all writes that took effect, as "PATCH /apis/…/web/status 200", with a mark at the last one of the killed
  // process.
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
