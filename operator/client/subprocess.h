// Runs a program and takes its output.
#ifndef OPERATOR_CLIENT_SUBPROCESS_H_
#define OPERATOR_CLIENT_SUBPROCESS_H_

#include <chrono>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/error.h"

namespace yad {

struct Subprocess {
  std::string command;  // Looked up on PATH where it has no slash. No shell is involved.
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  // Beside and above this process' own.
  std::chrono::milliseconds timeout{60'000};
};

struct SubprocessResult {
  int exit_code = 0;       // 128 + signal where one ended it
  std::string output;      // of standard output
  std::string error_tail;  // the end of standard error
};

// Standard input is empty. Past the time-out, or when `stop` fires, the program and its children are killed.
// kNotFound: there is no such program; kTransport: it did not end in time; kCancelled: `stop` fired; kConfig: it cannot
// be run.
Result<SubprocessResult> RunSubprocess(const Subprocess& program, const std::stop_token& stop = {});

}  // namespace yad

#endif  // OPERATOR_CLIENT_SUBPROCESS_H_
