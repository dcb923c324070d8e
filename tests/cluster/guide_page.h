// A page of docs/guide as commands with their expected answers.
#ifndef TESTS_CLUSTER_GUIDE_PAGE_H_
#define TESTS_CLUSTER_GUIDE_PAGE_H_

#include <string>
#include <vector>

namespace yad::testing {

struct GuideCommand {
  int line = 0;                     // of the page, from 1
  std::string text;                 // for a shell; may have many lines
  std::vector<std::string> answer;  // "..." stands for any text, and as a line of its own for any lines
  bool fails = false;               // the page shows it because it is rejected

  // Returns whether the command only reads. The test may repeat such a command until its answer matches.
  bool Looks() const;
};

// Returns all commands of the blocks that begin with "```console"; each command of a block "```console fails" must
// fail. A command begins with "$ " and ends where a shell ends it: after lines with a backslash, and after a here
// document (<<EOF). The lines up to the next command are its answer. Throws TestFailure, with the line, for anything
// else.
std::vector<GuideCommand> CommandsOf(const std::string& page);

// Returns "", or the difference from the page. Columns may be wider or narrower.
std::string WhyNotTheAnswer(const std::vector<std::string>& answer, const std::string& output);

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_GUIDE_PAGE_H_
