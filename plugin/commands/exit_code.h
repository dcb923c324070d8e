// The exit codes of the program, for scripts. `kubectl yad --help` and docs/kubectl-yad.md also list them.
#ifndef PLUGIN_COMMANDS_EXIT_CODE_H_
#define PLUGIN_COMMANDS_EXIT_CODE_H_

namespace yad {

enum ExitCode {
  kDone = 0,
  kNo = 1,        // status: the rollout has stopped; diff: there are differences
  kUsage = 2,     // the command line is wrong
  kFailed = 3,    // not found, rejected, no response, unreadable files, unwritable output ...
  kTimedOut = 4,  // status --timeout
};

}  // namespace yad

#endif  // PLUGIN_COMMANDS_EXIT_CODE_H_
