// Runs a program and captures its output.
#ifndef OPERATOR_CLIENT_AUTH_SUBPROCESS_H_
#define OPERATOR_CLIENT_AUTH_SUBPROCESS_H_

#include <chrono>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/error.h"

namespace yad {

struct Subprocess {
  std::string command;  // searched on PATH if it has no slash; no shell is involved
  std::vector<std::string> args;
  // Variables to add to this process's environment, or to replace in it.
  std::vector<std::pair<std::string, std::string>> env;
  std::chrono::milliseconds timeout{60'000};
};

struct SubprocessResult {
  int exit_code = 0;       // 128 + signal if a signal terminated the program
  std::string output;      // standard output
  std::string error_tail;  // the end of standard error
};

// Runs the program with empty standard input, and waits until it exits. Kills the program and its children after the
// timeout, or when `stop` fires. Fails
// - with kNotFound if the program does not exist, and with kConfig if it can't be run;
// - with kTransport if it does not exit in time or writes too much;
// - with kCancelled if `stop` fires.
Result<SubprocessResult> RunSubprocess(const Subprocess& program, const std::stop_token& stop = {});

}  // namespace yad

#endif  // OPERATOR_CLIENT_AUTH_SUBPROCESS_H_
